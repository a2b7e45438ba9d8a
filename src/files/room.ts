/**
 * Checks that the disk has room before a change of several files, such as an approval, begins. If
 * it does not, no file is written and the request fails with `storage_full`.
 */

import { closeSync, openSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { writeDescriptor } from './descriptors.ts'
import { pinFolder } from './pinned-folder.ts'
import { storageError } from './storage-error.ts'
import { tempName } from './temp-files.ts'

/**
 * Throws `storage_full` if the disk of `folder` has no room for `bytes` more, so that a change of several files is
 * not left half done. It checks by writing a file, which it removes.
 */
export async function mustHaveRoom(folder: string, bytes: number, within: string): Promise<void> {
  const pinned = pinFolder(folder, within)
  try {
    const path = tempName(join(pinned.path, 'room'))
    const file = openSync(path, 'wx', 0o600)
    try {
      await writeDescriptor(file, Buffer.alloc(bytes))
    } finally {
      closeSync(file)
      unlinkSync(path)
    }
  } catch (error) {
    throw storageError(error, folder)
  } finally {
    pinned.close()
  }
}
