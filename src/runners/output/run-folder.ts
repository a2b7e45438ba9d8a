import { mkdir, mkdtemp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { removeStubborn } from '../../files/remove-stubborn.ts'
import { storageError } from '../../files/storage-error.ts'

/** A folder of ours that the programs of one run may see: their copy of the project, their prompt. */
export interface RunFolder {
  /** Without symbolic links. */
  path: string
  /** A new folder in it. */
  inner(name: string): Promise<string>
  /** Removes it. What cannot be removed stays: the next start tries again, and tells. */
  close(): Promise<void>
}

/**
 * Empty, for this user alone; what a run of the same name has left is removed. Its path begins with the
 * name.
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
    // what cannot be removed keeps the name
    return mkdtemp(`${path}-`)
  }
}
