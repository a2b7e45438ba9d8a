import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { codeOf } from '../../files/errno.ts'
import { targetOf } from '../../files/real-path.ts'

/** Resolves a path as an agent names it, including symbolic links in the part that exists; null if that fails. */
export async function resolveNamedPath(path: string, folder: string): Promise<string | null> {
  try {
    const expanded = inHome(path.startsWith('file:') ? fileURLToPath(path) : path)
    return expanded.startsWith('~') ? null : await targetOf(resolve(folder, expanded))
  } catch (error) {
    if (codeOf(error) === '') throw error
    return null
  }
}

function inHome(path: string): string {
  return /^~(?:\/|$)/.test(path) ? join(homedir(), path.slice(1)) : path
}

export function quotePath(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200).toWellFormed()}…` : path
}
