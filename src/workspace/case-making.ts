/** Makes the memory root, the folders of cases, and new cases, which get their name when they are complete. */

import { lstatSync, mkdirSync, realpathSync, renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { createDurable, makeFolder, syncFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { isFolderNow } from '../files/folder-names.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { writeNewFile } from '../files/new-file.ts'
import { storageError } from '../files/storage-error.ts'
import { trashName } from '../files/temp-files.ts'
import { CASE_FILE } from '../markdown/case-file.ts'
import { AppError } from '../model/app-error.ts'
import { HISTORY_FILE } from '../model/history.ts'
import { type Layout, MEMORY_ROOT_FILES } from './layout.ts'

/** Cases are made at the same time, and the root that they share once. */
const making = createKeyedMutex()

/**
 * Makes the memory root if it is not there; true when it was made. Its git files come before `cases`,
 * so that where they were not all written the next call does it. Refuses with `unreadable_file`
 * where `cases` leads elsewhere.
 */
export function makeMemoryRoot(layout: Layout): Promise<boolean> {
  return making.run(layout.memoryRoot, async () => {
    const there = isThere(layout.memoryRoot)
    if (!isThere(layout.cases)) {
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

/** Where it cannot be looked at, making it says why. */
function isThere(path: string): boolean {
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
    // a person's own, or that of a start that was cut short
    if (!(error instanceof AppError && error.code === 'already_exists')) throw error
  }
}

function mustBeInPlace(cases: string): void {
  if (isFolderNow(cases) && realpathSync.native(cases) === cases) return
  throw new AppError(
    'unreadable_file',
    `The folder ${basename(cases)} of the memory root is no folder, or reached by a symbolic link, which is not followed. Put the folder itself in its place.`,
  )
}

/**
 * Makes a folder inside a case's, such as `sessions`. A link in its place would lead writes out of
 * the case, so it is refused.
 */
export async function makeInnerFolder(folder: string): Promise<void> {
  await makeFolder(folder)
  if (isFolderNow(folder)) return
  throw new AppError(
    'unreadable_file',
    `${basename(folder)} in the case's folder is a symbolic link, which is not followed. Put a folder in its place.`,
  )
}

/** The texts of a new case. */
export interface NewCaseFiles {
  text: string
  history: string
}

/** Makes a case's folder with its case.md and history.md in one step: after a crash it is there whole or not at all. */
export async function createCaseFolder(
  layout: Layout,
  id: string,
  files: NewCaseFiles,
): Promise<void> {
  const folder = layout.caseFolder(id)
  const hidden = trashName(folder) // removed with the trash at the next start, should we be killed here
  try {
    mkdirSync(hidden)
    await fillFolder(hidden, files)
    renameSync(hidden, folder)
    await syncFolder(layout.cases)
  } catch (error) {
    await rm(hidden, { recursive: true, force: true })
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) {
      throw new AppError('already_exists', `There is a case ${id} already.`, { cause: error })
    }
    throw storageError(error, folder)
  }
}

/** No program looks into a hidden folder, so what is half-written needs no other name. */
async function fillFolder(hidden: string, { text, history }: NewCaseFiles): Promise<void> {
  const written = await Promise.allSettled([
    writeNewFile(join(hidden, CASE_FILE), Buffer.from(text), {}),
    writeNewFile(join(hidden, HISTORY_FILE), Buffer.from(history), {}),
    syncFolder(hidden), // both have their names by now
  ])
  for (const each of written) if (each.status === 'rejected') throw each.reason
}
