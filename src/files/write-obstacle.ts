import { constants } from 'node:fs'
import { access, lstat, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode } from './errno.ts'

/**
 * Why no file can be created or replaced at `path`, and what to do, as far as its folders show; null if nothing is in
 * the way. They need not exist.
 */
export async function writeObstacle(path: string): Promise<{ why: string; remedy: string } | null> {
  const folder = dirname(path)
  try {
    const stats = await stat(folder)
    if (!stats.isDirectory()) {
      const remedy = stats.isFile() ? 'Move that file away' : 'Choose another folder'
      return { why: `${folder} is not a folder`, remedy }
    }
    await access(folder, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) {
      const why = `there is no permission to write into ${folder}`
      return { why, remedy: 'Give permission (chmod u+rwx)' }
    }
    if (hasCode(error, 'ELOOP') || (hasCode(error, 'ENOENT') && (await isThere(folder)))) {
      return { why: `${folder} is a symbolic link to nothing`, remedy: 'Remove it' }
    }
    if (folder === dirname(folder) || !hasCode(error, 'ENOENT', 'ENOTDIR')) throw error
    return writeObstacle(folder)
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}
