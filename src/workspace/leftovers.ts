import { join } from 'node:path'
import { UUID } from '../model/words.ts'
import { codeOf } from './disk/errno.ts'
import { removeStubborn } from './disk/remove-stubborn.ts'
import { isTempName, removeTempFiles } from './disk/temp-files.ts'
import { entriesIn, kindsNow } from './folder-names.ts'
import type { Layout } from './layout.ts'
import type { StateFolder } from './state-folder.ts'

/**
 * Removes the temporary files and scratch folders that a killed service left: only for the owner of
 * the memory root, before anything is written. What cannot be removed is told and stays for the next
 * start to try again; no run makes use of it.
 */
export async function clearLeftovers(
  layout: Layout,
  state: StateFolder,
  log: (line: string) => void,
): Promise<void> {
  const folders = [state.runs, state.plans, join(state.root, 'numbers'), join(state.root, 'holds')]
  const removals = [
    () => removeTempFiles(folders),
    async () => removeTempFiles(await foldersWithRecords(layout)),
  ]
  for (const remove of removals) {
    try {
      await remove()
    } catch (error) {
      if (codeOf(error) === '') throw error
      log(`temporary files of an earlier service may be left: ${(error as Error).message}`)
    }
  }
  const why = await removeStubborn(state.scratch)
  if (why === null) return
  log(
    `What agents or programs left in ${state.scratch} cannot all be removed (${why}). Remove it by hand; else the next start tries again.`,
  )
}

/** The folders of a memory root in which files are made, and so may have been left half-made. */
export async function foldersWithRecords(layout: Layout): Promise<string[]> {
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
