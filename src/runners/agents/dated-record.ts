/** Reads the file in which an agent records a conversation. */

import { readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../../files/errno.ts'
import { readRegular } from '../../files/safe-read.ts'

/** The text of a record, `too_large`, or null if there is no readable record. */
export type AgentRecord = { text: string } | 'too_large' | null

const MAX_BYTES = 16 * 1024 * 1024
const MAX_FOLDERS = 2000

/**
 * Finds the file in which an agent records a conversation, below folders named by year, month and day, and reads it.
 * The newest day is searched first, since most conversations are new. The agent can write there, so no link below
 * `root` is followed, and the size is limited.
 */
export async function readDatedRecord(
  root: string,
  isRecord: (name: string) => boolean,
): Promise<AgentRecord> {
  const top = await realFolder(root)
  if (top === null) return null
  let left = MAX_FOLDERS
  async function find(folder: string, depth: number): Promise<string | null> {
    if (left-- <= 0) return null
    const entries = await entriesOf(folder)
    if (depth === 0) {
      const file = entries.find((entry) => entry.isFile() && isRecord(entry.name))
      return file ? join(folder, file.name) : null
    }
    const dated = entries.filter((entry) => entry.isDirectory() && /^\d{1,4}$/.test(entry.name))
    const names = dated.map(({ name }) => name).sort((a, b) => Number(b) - Number(a))
    for (const name of names) {
      const found = await find(join(folder, name), depth - 1)
      if (found !== null) return found
    }
    return null
  }
  const path = await find(top, 3)
  if (path === null) return null
  const read = await readRegular(path, { maxBytes: MAX_BYTES, within: top })
  if (!read.ok) return read.reason === 'too_large' ? 'too_large' : null
  // its last line may have been cut, in the middle of a character
  return { text: read.bytes.toString('utf8') }
}

async function realFolder(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return null
    throw error
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}
