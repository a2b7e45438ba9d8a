import { constants } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Refusal } from '../model/refusal.ts'
import { createDurable, makeFolder, syncFolder } from './durable-write.ts'
import { hasCode } from './errno.ts'
import { type Layout, MEMORY_ROOT_FILES } from './layout.ts'
import { stampOf } from './safe-read.ts'
import { storageRefusal } from './storage-refusal.ts'
import { trashName } from './temp-files.ts'

const { S_IFMT, S_IFDIR } = constants

/** Makes the memory root with its git files if it is not there; true when it was made. */
export async function makeMemoryRoot(layout: Layout): Promise<boolean> {
  const there = await stampOf(layout.memoryRoot)
  await makeFolder(layout.cases)
  if (there) return false
  for (const [name, content] of Object.entries(MEMORY_ROOT_FILES)) {
    await createDurable(join(layout.memoryRoot, name), Buffer.from(content))
  }
  return true
}

/**
 * Makes a folder inside a case's, such as `sessions`. A link in its place would lead writes out of
 * the case, so it is refused.
 */
export async function makeInnerFolder(folder: string): Promise<void> {
  await makeFolder(folder)
  const stamp = await stampOf(folder)
  if (stamp && (stamp.mode & S_IFMT) === S_IFDIR) return
  throw new Refusal(
    'unreadable_file',
    `${basename(folder)} in the case's folder is a symbolic link, which is not followed. Put a folder in its place.`,
  )
}

/** Makes a case's folder with its case.md in one step: after a crash it is there whole or not at all. */
export async function createCaseFolder(layout: Layout, id: string, text: string): Promise<void> {
  const folder = layout.caseFolder(id)
  const hidden = trashName(folder) // removed with the trash at the next start, should we be killed here
  try {
    await mkdir(hidden)
    await createDurable(join(hidden, 'case.md'), Buffer.from(text))
    await rename(hidden, folder)
    await syncFolder(layout.cases)
  } catch (error) {
    await rm(hidden, { recursive: true, force: true })
    if (hasCode(error, 'ENOTEMPTY', 'EEXIST')) {
      throw new Refusal('already_exists', `There is a case ${id} already.`, { cause: error })
    }
    throw storageRefusal(error, folder)
  }
}
