import { join } from 'node:path'
import { createDurable } from '../files/durable-write.ts'
import { entriesIn, isFolder, kindsNow } from '../files/folder-names.ts'
import { isTempName, removeTempFiles, tempFilesIn } from '../files/temp-files.ts'
import { AppError, type ErrorCode } from '../model/app-error.ts'
import { UUID } from '../model/name-patterns.ts'
import { takeOwnership } from '../state/owner/ownership.ts'
import { openStateFolder } from '../state/state-folder.ts'
import {
  ARTIFACT_RULES,
  type Layout,
  MEMORY_ROOT_FILES,
  OLD_ARTIFACT_RULE,
  OLD_ATTRIBUTES,
} from '../workspace/layout.ts'
import { updateRootFile } from '../workspace/root-files.ts'
import type { Fixer } from './fixer.ts'

/** Writes the git files of the memory root that are missing. */
export async function fixGitFiles(fixer: Fixer): Promise<void> {
  const { layout } = fixer.snapshot
  const { memoryRoot } = layout
  if (!(await isFolder(memoryRoot))) return
  for (const [name, content] of Object.entries(MEMORY_ROOT_FILES)) {
    const path = join(memoryRoot, name)
    await fixer.fix(path, async () => {
      const made = createDurable(path, Buffer.from(content)).then(() => 'created it again')
      return made.catch(nullFor('already_exists'))
    })
  }
  await fixer.fix(join(memoryRoot, '.gitignore'), async () =>
    hasPictures(fixer.snapshot) &&
    (await updateRootFile(layout, '.gitignore', OLD_ARTIFACT_RULE, ARTIFACT_RULES))
      ? 'git takes the pictures of proofs now'
      : null,
  )
  const name = '.gitattributes'
  await fixer.fix(join(memoryRoot, name), async () =>
    (await updateRootFile(layout, name, OLD_ATTRIBUTES, MEMORY_ROOT_FILES[name]!))
      ? 'diffs fold artifacts and proof now'
      : null,
  )
}

function hasPictures({ catalog }: Fixer['snapshot']): boolean {
  return [...catalog.ids()].some((id) =>
    [...catalog.entry(id)!.proofs.values()].some(({ value }) => value?.image),
  )
}

/**
 * Removes temporary files of a killed process. Only the owner of the memory root may do so, so this takes ownership
 * for the moment. A service that owns it does the same when it starts.
 */
export async function removeLeftovers(fixer: Fixer): Promise<void> {
  const { layout, stateDir } = fixer.snapshot
  const folders = await foldersWithRecords(layout)
  if ((await tempFilesIn(folders)).length === 0) return
  await fixer.fix(layout.memoryRoot, async () => {
    const { memoryRoot } = layout
    const state = await openStateFolder(stateDir, { memoryRoot })
    const owned = takeOwnership({ memoryRoot, stateDir: state.root })
    const ownership = await owned.catch(nullFor('already_active'))
    if (!ownership) return null
    try {
      const count = await removeTempFiles(folders)
      return count > 0 ? `removed ${count} half-written files of a killed process` : null
    } finally {
      await ownership.release()
    }
  })
}

/** Returns the folders of a memory root that may contain temporary files. */
async function foldersWithRecords(layout: Layout): Promise<string[]> {
  const found = [layout.memoryRoot, layout.cases]
  for (const id of (await entriesIn(layout.cases)).filter((name) => UUID.test(name))) {
    const folder = layout.caseFolder(id)
    const inside = kindsNow(folder)
    if (!inside || inside === 'hidden') continue
    if ([...inside.keys()].some(isTempName)) found.push(folder)
    const folders = [...inside].filter(([, kind]) => kind === 'folder')
    found.push(...folders.map(([name]) => join(folder, name)))
  }
  return found
}

function nullFor(code: ErrorCode): (error: unknown) => null {
  return (error) => {
    if (error instanceof AppError && error.code === code) return null
    throw error
  }
}
