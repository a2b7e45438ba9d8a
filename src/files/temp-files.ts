/** Names temporary files and folders being deleted, and removes them at the start after a crash. */

import { randomBytes } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from './errno.ts'
import { discard } from './new-file.ts'

const TEMP_NAME = /^\.casefile-\d+-[0-9a-f]{12}\.tmp$/
const TRASH_NAME = /^\.casefile-\d+-[0-9a-f]{12}\.trash$/

/** Returns a new hidden name beside `target`, so that a rename stays on one file system. */
export function tempName(target: string): string {
  return join(dirname(target), `${stem()}.tmp`)
}

/** Returns a new hidden name beside `target` for a folder being deleted. */
export function trashName(target: string): string {
  return join(dirname(target), `${stem()}.trash`)
}

/** Whether `tempName` makes such names. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name)
}

/** Whether `trashName` makes such names. */
export function isTrashName(name: string): boolean {
  return TRASH_NAME.test(name)
}

/**
 * Removes temporary files of a killed process directly in these folders; returns their number. Includes symbolic
 * links, as an interrupted update of `latest.md` leaves one. Only the owner of the memory root may call this, and
 * only before it writes.
 */
export async function removeTempFiles(folders: Iterable<string>): Promise<number> {
  const found = await tempFilesIn(folders)
  for (const path of found) await discard(path)
  return found.length
}

/** Returns the temporary files directly in these folders, of live and dead processes. */
export async function tempFilesIn(folders: Iterable<string>): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    for (const name of await leftovers(folder)) found.push(join(folder, name))
  }
  return found
}

async function leftovers(folder: string): Promise<string[]> {
  try {
    if (!(await lstat(folder)).isDirectory()) return []
    const entries = await readdir(folder, { withFileTypes: true })
    return entries
      .filter((entry) => isTempName(entry.name) && (entry.isFile() || entry.isSymbolicLink()))
      .map((entry) => entry.name)
  } catch (error) {
    // the service did not write to a folder that it may not list
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}

function stem(): string {
  return `.casefile-${process.pid}-${uniqueHex()}`
}

/** Returns 12 hex digits, unique across processes. */
export function uniqueHex(): string {
  count = (count + 1) % 0x1000000
  return OF_PROCESS + count.toString(16).padStart(6, '0')
}

const OF_PROCESS = randomBytes(3).toString('hex')
let count = randomBytes(3).readUIntBE(0, 3)
