import { rmdir, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { confirmFolder } from './durable-write.ts'
import { hasCode } from './errno.ts'
import { storageError } from './storage-error.ts'

/** Removes a file durably; does nothing if it does not exist. */
export async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path)
    await confirmFolder(dirname(path))
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw storageError(error, path)
  }
}

/** Removes a folder if nothing is in it. */
export async function removeEmptyFolder(path: string): Promise<void> {
  try {
    await rmdir(path)
    await confirmFolder(dirname(path))
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY')) throw storageError(error, path)
  }
}
