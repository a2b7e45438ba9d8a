/**
 * Folders in which the disk rejected a write, or has not confirmed a change that is made. `/health` names each until a
 * write there works again.
 */

import { dirname, join } from 'node:path'
import { codeOf, hasCode } from './errno.ts'
import { discardNow, writeNewFile } from './new-file.ts'
import { pinFolder } from './pinned-folder.ts'
import { isWithin } from './real-path.ts'
import { tempName } from './temp-files.ts'

/** Their error codes. */
const failing = new Map<string, string>()

export function noteFailing(folder: string, error: unknown): void {
  failing.set(folder, codeOf(error))
}

/**
 * Runs the sync of a folder after a change in it, which is in the files whatever the disk says now: a failure is
 * reported, and does not reject.
 */
export async function confirmChange(folder: string, sync: () => Promise<void>): Promise<void> {
  try {
    await sync()
  } catch (error) {
    if (codeOf(error) === '') throw error
    noteFailing(folder, error)
  }
}

/** Tries those below `root` again, and returns where writing still fails, with the error code. */
export async function failingFolders(root: string): Promise<[folder: string, code: string][]> {
  for (const folder of [...failing.keys()].filter((each) => isWithin(root, each))) {
    const found = await tryWrite(folder)
    failing.delete(folder) // not before, as another check may run meanwhile
    if (found) noteFailing(...found)
  }
  return [...failing].filter(([folder]) => isWithin(root, folder))
}

const PROBE_BYTES = 4096

/** Writes and syncs a file, also for the changes that were not confirmed. Returns where that fails; else null. */
async function tryWrite(folder: string): Promise<[folder: string, error: unknown] | null> {
  try {
    const pinned = pinFolder(folder)
    try {
      const path = tempName(join(pinned.path, 'probe'))
      await writeNewFile(path, Buffer.alloc(PROBE_BYTES), { mode: 0o600 })
      discardNow(path)
      await pinned.sync()
    } finally {
      pinned.close()
    }
    return null
  } catch (error) {
    if (codeOf(error) === '') throw error
    // it was removed, or could not be made
    if (hasCode(error, 'ENOENT', 'ENOTDIR') && folder !== dirname(folder)) {
      return tryWrite(dirname(folder))
    }
    return [folder, error]
  }
}
