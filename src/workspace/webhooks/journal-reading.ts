import { basename } from 'node:path'
import { isOfFile, readTwice } from '../../files/safe-read.ts'
import { moveAside, notNow, type RepairNeeds } from '../log/log-repair.ts'

/**
 * The bytes of a file of the webhooks; null where there is none. What is no readable file, a link or
 * a folder for instance, is set aside, and null too. Rejects where the file is not to blame: it may
 * be as good as ever.
 */
export async function readOrSetAside(
  path: string,
  maxBytes: number,
  needs: RepairNeeds,
): Promise<Buffer | null> {
  const read = await readTwice(path, { maxBytes })
  if (read.ok) return read.bytes
  if (read.reason === 'missing') return null
  const name = basename(path)
  if (!isOfFile(read)) throw notNow(`${name} of the webhooks`, read)
  const aside = await moveAside(path, needs)
  needs.log(`${name} of the webhooks cannot be read (${read.detail}): now ${aside}`)
  return null
}
