/** Detects folders that were moved, removed or replaced while a session ran. */

import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import { hasCode } from './errno.ts'

export interface RememberedFolders {
  /** Returns the folders that were moved, removed or replaced since. */
  replaced(): Promise<string[]>
  close(): Promise<void>
}

/**
 * Remembers the folders at these paths (real path, device, inode), to detect later whether one was replaced. Keeps
 * them open, so that a new folder cannot reuse the inode of a removed one. Paths without a folder are ignored.
 */
export async function rememberFolders(
  paths: Readonly<Record<string, string>>,
): Promise<RememberedFolders> {
  const handles: FileHandle[] = []
  const before = new Map<string, string>()
  const close = async () => {
    for (const handle of handles) await handle.close()
  }
  try {
    for (const [name, path] of Object.entries(paths)) {
      const handle = await unlessBarred(open(path, constants.O_RDONLY | constants.O_DIRECTORY))
      if (handle !== null) handles.push(handle)
      const identity = await identityOf(path)
      if (identity !== null) before.set(name, identity)
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    async replaced() {
      const found: string[] = []
      for (const [name, identity] of before) {
        if ((await identityOf(paths[name]!)) !== identity) found.push(name)
      }
      return found
    },
    close,
  }
}

async function identityOf(path: string): Promise<string | null> {
  const found = await unlessBarred(Promise.all([realpath(path), stat(path, { bigint: true })]))
  if (found === null) return null
  const [real, { dev, ino }] = found
  return `${dev} ${ino} ${real}`
}

/** Null if there is no folder or no permission. */
async function unlessBarred<T>(look: Promise<T>): Promise<T | null> {
  try {
    return await look
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return null
    throw error
  }
}
