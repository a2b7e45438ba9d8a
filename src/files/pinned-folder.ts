/**
 * A folder kept open while a file in it is written, so that swapping the folder for a symbolic link cannot lead the
 * write elsewhere.
 */

import { closeSync, constants, openSync, realpathSync } from 'node:fs'
import { basename } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { locateOpenFile, openFilePath } from '../platform/proc.ts'
import { syncDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { isWithin } from './real-path.ts'

export interface PinnedFolder {
  /** A path to this folder even if its name is reused; its plain path where there is none. */
  path: string
  /** Syncs the folder. */
  sync(): Promise<void>
  close(): void
}

/**
 * Keeps a folder open, so that replacing it by a link cannot redirect a write. `within` is a real path that it must
 * equal or be inside of, else it throws `changed_meanwhile`.
 */
export function pinFolder(path: string, within?: string): PinnedFolder {
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const pinned = locateOpenFile(fd)
    if (within !== undefined && !isWithin(within, pinned ?? realpathSync.native(path))) {
      throw movedMeanwhile(path)
    }
    return {
      path: openFilePath(fd) ?? path,
      async sync() {
        try {
          await syncDescriptor(fd)
        } catch (error) {
          // some network file systems do not support fsync of folders
          if (!hasCode(error, 'EINVAL', 'ENOTSUP')) throw error
        }
      },
      close: () => closeSync(fd),
    }
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

export function movedMeanwhile(path: string): AppError {
  return new AppError(
    'changed_meanwhile',
    `${basename(path)} leads out of the case's folder or was moved meanwhile; nothing was written. Check the folder, then repeat the change.`,
  )
}
