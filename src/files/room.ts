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
 * Fails with `storage_full` if the disk of `folder` has no room for `bytes` more, so that a change
 * of several files does not stop halfway. The check writes a file and removes it.
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
