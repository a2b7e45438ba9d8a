/**
 * Changes a file that the caller has not read yet: reads it, asks for the new bytes, and replaces it durably unless
 * somebody saved it in between.
 */

import { closeSync } from 'node:fs'
import { type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { changedMeanwhile, inPinnedFolder, type Placed } from './durable-write.ts'
import { openNewFile } from './new-file.ts'
import { type Keeper, replaceSeen } from './replace-seen.ts'
import { storageRefusal } from './storage-refusal.ts'

interface ChangeOptions {
  /** Of more nothing is made: the file was changed meanwhile. */
  maxBytes: number
  /** A real path that the file must not leave, not even where its folder is swapped for a link meanwhile. */
  within: string
  /** Gets what the new file displaced, for a save that came too late to be seen. */
  keeperOf(present: Buffer): Keeper
}

interface Changed {
  bytes: Uint8Array
  /** Called while they are being synced; must not throw. */
  meanwhile?: (() => void) | undefined
  /** What must be on the disk before these bytes get their place. */
  first?: Promise<void> | undefined
}

/**
 * Replaces what stands in a file by what `change` makes of it, as `writeDurable` does, but by way of the
 * same open folder and file, and resolves before the last step. Refuses with `changed_meanwhile` where no regular file is, or another than
 * `change` was given; rejects with what that rejects with.
 */
export async function changeDurable(
  path: string,
  { maxBytes, within, keeperOf }: ChangeOptions,
  change: (present: Buffer) => Promise<Changed>,
): Promise<Placed> {
  const open = new Set<number>()
  try {
    return await inPinnedFolder(path, { within }, async (pinned, temp) => {
      const seen = openRegular(pinned, open)
      const present = seen && readDescriptor(seen, maxBytes)
      if (!seen || !present) throw changedMeanwhile(path)
      const { bytes, meanwhile, first } = await change(present)
      if (present.equals(bytes)) return first
      const keeper = keeperOf(present)
      const [made, isFirst] = await Promise.allSettled([
        openNewFile(temp, bytes, { like: seen.stats, meanwhile }),
        first,
      ])
      if (made.status === 'rejected') throw made.reason
      const ours = made.value
      if (isFirst.status === 'rejected') {
        closeSync(ours.fd)
        throw isFirst.reason
      }
      const isDone = replaceSeen(ours, pinned, present, keeper, { seen: given(seen, open) })
      if (!isDone) throw changedMeanwhile(path)
    })
  } catch (error) {
    throw storageRefusal(error, path)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/** Whoever is given it closes it. */
function given(file: OpenFile, open: Set<number>): OpenFile {
  open.delete(file.fd)
  return file
}
