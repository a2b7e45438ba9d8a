/** The mounts and mount identities that this process sees, for the sandbox of runs. */

import { lstatSync, readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { hasCode } from './errno.ts'

export interface MountPoint {
  path: string
  /** The mount options, as in `mount -o`: `rw`, `nosuid`, … */
  options: string[]
}

/**
 * The mounts that this process sees, by proc_pid_mountinfo(5). If two share a path, the upper one
 * counts. Linux only.
 */
export function mountPoints(): MountPoint[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean)
  const found = lines.map((line) => {
    const [, , , , path = '', options = ''] = line.split(' ')
    return { path: decoded(path), options: options.split(',') }
  })
  return [...new Map(found.map((mount) => [mount.path, mount])).values()]
}

/** The real paths of those that exist, without duplicates. */
export async function existingPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(realPathIfAny))
  return [...new Set(found.filter((path) => path !== null))]
}

/** Device and inode of a path; empty if it does not exist. */
export function identityOf(path: string): string {
  try {
    const { dev, ino } = lstatSync(path, { bigint: true })
    return `${dev} ${ino}`
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return ''
    throw error
  }
}

/** The kernel writes blanks, line ends and backslashes of a name as three octal digits. */
function decoded(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  )
}

async function realPathIfAny(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    throw error
  }
}
