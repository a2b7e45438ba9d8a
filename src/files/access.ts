/** What this process may do with a path. */

import { access, constants } from 'node:fs/promises'

/** Whether it can write there now. */
export function isWritable(path: string): Promise<boolean> {
  return may(path, constants.W_OK)
}

/** Whether it can look up names in a folder. */
export function isPassable(folder: string): Promise<boolean> {
  return may(folder, constants.X_OK)
}

async function may(path: string, mode: number): Promise<boolean> {
  try {
    await access(path, mode)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    return false
  }
}
