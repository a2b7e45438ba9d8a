/** Reads the mounts of this process, for the sandbox of runs. */

import { readFileSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { hasCode } from './errno.ts'

export interface MountPoint {
  path: string
  /** Options of this mount, as in `mount -o`: `rw`, `nosuid`, … */
  options: string[]
}

/**
 * Returns the mounts of this process, by proc_pid_mountinfo(5); if two have the same path, the upper one. Linux only.
 */
export function mountPoints(): MountPoint[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(Boolean)
  const found = lines.map((line) => {
    const [, , , , path = '', options = ''] = line.split(' ')
    return { path: decoded(path), options: options.split(',') }
  })
  return [...new Map(found.map((mount) => [mount.path, mount])).values()]
}

/** Returns the real paths of existing ones, each once. */
export async function existingPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(realPathIfAny))
  return [...new Set(found.filter((path) => path !== null))]
}

/** The kernel escapes spaces, line ends and backslashes as three octal digits. */
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
