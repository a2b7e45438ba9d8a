import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { removeStubborn } from '../../files/remove-stubborn.ts'
import { storageError } from '../../files/storage-error.ts'

/** A folder that the programs of one run may see, with their prompt. */
export interface RunFolder {
  /** With symbolic links resolved. */
  path: string
  /** Creates a folder in it. */
  inner(name: string): Promise<string>
  /** Removes it. If that fails, the next start tries again and logs a failure. */
  close(): Promise<void>
}

/**
 * Creates an empty folder, accessible to this user only, after removing one left by an earlier run of that name.
 * Its path begins with the name.
 */
export async function openRunFolder(scratch: string, name: string): Promise<RunFolder> {
  await makeFolder(scratch, 0o700)
  const path = await newFolder(join(await realpath(scratch), name))
  return {
    path,
    async inner(name) {
      const folder = join(path, name)
      try {
        await mkdir(folder, { mode: 0o700 })
      } catch (error) {
        throw storageError(error, folder)
      }
      return folder
    },
    async close() {
      await removeStubborn(path)
    },
  }
}

async function newFolder(path: string): Promise<string> {
  await removeStubborn(path)
  try {
    await mkdir(path, { mode: 0o700 })
    return path
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw storageError(error, path)
    // a folder that cannot be removed keeps its name
    return mkdtemp(`${path}-`)
  }
}
