/** Creates the memory root, case folders and new cases. A new case folder gets its final name when it is complete. */

import { lstatSync, mkdirSync, realpathSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { confirmFolder, createDurable, makeFolder, syncFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { isFolderNow } from '../files/folder-names.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { writeNewFile } from '../files/new-file.ts'
import { removeStubborn } from '../files/remove-stubborn.ts'
import { storageError } from '../files/storage-error.ts'
import { trashName } from '../files/temp-files.ts'
import { CASE_FILE } from '../markdown/case-file.ts'
import { AppError } from '../model/app-error.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { type Layout, MEMORY_ROOT_FILES } from './layout.ts'

/** Cases are created in parallel, but their memory root only once. */
const making = createKeyedMutex()

/**
 * Creates the memory root if it does not exist; returns true if it did. The git files are written before `cases`, so
 * that the next call completes an interrupted one. Throws `unreadable_file` if `cases` is a link.
 */
export function makeMemoryRoot(layout: Layout): Promise<boolean> {
  return making.run(layout.memoryRoot, async () => {
    const there = exists(layout.memoryRoot)
    if (!exists(layout.cases)) {
      await makeFolder(layout.memoryRoot)
      for (const [name, content] of Object.entries(MEMORY_ROOT_FILES)) {
        await createUnlessThere(join(layout.memoryRoot, name), content)
      }
      await makeFolder(layout.cases)
    }
    mustBeInPlace(layout.cases)
    return !there
  })
}

/** The paths that `makeMemoryRoot` would create. Throws as it does. */
export function missingInMemoryRoot({ memoryRoot, cases }: Layout): string[] {
  if (exists(cases)) {
    mustBeInPlace(cases)
    return []
  }
  const files = Object.keys(MEMORY_ROOT_FILES).map((name) => join(memoryRoot, name))
  return [...files, cases].filter((path) => !exists(path))
}

/** Returns false without permission: creating it then throws the reason. */
function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (hasCode(error, 'EACCES')) return false
    throw error
  }
}

async function createUnlessThere(path: string, content: string): Promise<void> {
  try {
    await createDurable(path, Buffer.from(content))
  } catch (error) {
    // a file of the user, or of an interrupted start
    if (!(error instanceof AppError && error.code === 'already_exists')) throw error
  }
}

function mustBeInPlace(cases: string): void {
  if (isFolderNow(cases) && realpathSync.native(cases) === cases) return
  throw new AppError(
    'unreadable_file',
    `${cases} is not a folder or is reached by a symbolic link, which is not followed. Replace it with the folder itself.`,
  )
}

/**
 * Creates a folder inside a case folder, such as `sessions`. Throws if it is a link, which could lead writes out of
 * the case.
 */
export async function makeInnerFolder(folder: string): Promise<void> {
  await makeFolder(folder)
  if (isFolderNow(folder)) return
  throw new AppError(
    'unreadable_file',
    `${basename(folder)} in the case's folder is not a folder, or is a symbolic link, which is not followed. Replace it with a folder.`,
  )
}

/** The texts of a new case. */
export interface NewCaseFiles {
  text: string
  history: string
}

/**
 * Creates a case folder with its case.md and history.md in one step: after a crash it exists completely or not at
 * all.
 */
export async function createCaseFolder(
  layout: Layout,
  id: string,
  files: NewCaseFiles,
): Promise<void> {
  const folder = layout.caseFolder(id)
  const hidden = trashName(folder) // if the service is killed here, the next start removes it with the trash
  try {
    mkdirSync(hidden)
    await fillFolder(hidden, files)
    renameSync(hidden, folder)
    await confirmFolder(layout.cases)
  } catch (error) {
    await removeStubborn(hidden)
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) {
      throw new AppError('already_exists', `There is already a case ${id}.`, { cause: error })
    }
    throw storageError(error, folder)
  }
}

/** Writes the files under their final names, as other programs ignore the hidden folder. */
async function fillFolder(hidden: string, { text, history }: NewCaseFiles): Promise<void> {
  const written = await Promise.allSettled([
    writeNewFile(join(hidden, CASE_FILE), Buffer.from(text), {}),
    writeNewFile(join(hidden, HISTORY_FILE), Buffer.from(history), {}),
    syncFolder(hidden), // both have their names by now
  ])
  for (const each of written) if (each.status === 'rejected') throw each.reason
}
