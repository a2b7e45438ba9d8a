/** Returns the names of the sockets that mark the owner of a memory root. */

import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { nearestExisting, realPathOf } from '../../files/real-path.ts'

/** The path in the parent is a key too, for a folder that does not exist yet or was replaced. */
export async function keysOf(memoryRoot: string): Promise<string[]> {
  const real = await realPathOf(memoryRoot)
  const { real: there, rest } = await nearestExisting(real)
  if (rest !== '') return [await placeKey(there, rest)]
  return [await placeKey(dirname(there), basename(there)), await inodeKey(there)]
}

async function placeKey(ancestor: string, rest: string): Promise<string> {
  return `${await inodeKey(ancestor)}-${hashed(rest)}`
}

/**
 * A removed folder's number is soon that of another folder, while its service may still run; the time of its birth is
 * not (0 where the file system knows none).
 */
export async function inodeKey(path: string): Promise<string> {
  const { dev, ino, birthtimeNs } = await stat(path, { bigint: true })
  return hashed(`${dev}-${ino}-${birthtimeNs}`)
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
