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
  const hash = createHash('sha256').update(rest).digest('hex').slice(0, 16)
  return `${await inodeKey(ancestor)}-${hash}`
}

export async function inodeKey(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${dev}-${ino}`
}
