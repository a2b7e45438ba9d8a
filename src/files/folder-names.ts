/** Lists folders: names, kinds of entries, and which are sessions and proofs. */

import { constants, type Dirent, lstatSync, opendirSync, readdirSync } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { basename } from 'node:path'
import { AppError } from '../model/app-error.ts'
import { SESSION_FILE, UUID } from '../model/name-patterns.ts'
import { hasCode, isBarred } from './errno.ts'

/** Whether the path is a folder and not a link to one. */
export async function isFolder(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** Whether a folder exists and may be listed. */
export async function isOpenFolder(path: string): Promise<boolean> {
  try {
    if (!(await isFolder(path))) return false
    await access(path, constants.R_OK | constants.X_OK)
    return true
  } catch (error) {
    if (isBarred(error) || hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

/** Synchronous `isFolder`. */
export function isFolderNow(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * Returns the names in a folder; none if it is missing, not a folder, or a link. Throws `unreadable_file` without
 * permission, as there may be some.
 */
export async function entriesIn(folder: string): Promise<string[]> {
  const kinds = kindsNow(folder)
  if (kinds !== 'hidden') return kinds ? [...kinds.keys()] : []
  throw new AppError(
    'unreadable_file',
    `The service has no permission to read the folder ${basename(folder)}. Give it permission (chmod u+rwx), then try again.`,
  )
}

/** Whether a folder has at least so many entries, without listing all; false if it cannot be listed. */
export function hasMoreThan(count: number, folder: string): boolean {
  try {
    const entries = opendirSync(folder)
    try {
      for (let seen = 0; seen <= count; seen++) if (entries.readSync() === null) return false
      return true
    } finally {
      entries.closeSync()
    }
  } catch (error) {
    if (isBarred(error) || hasCode(error, 'ENOENT', 'ENOTDIR')) return false
    throw error
  }
}

export type EntryKind = 'file' | 'folder' | 'link' | 'other'

/**
 * Returns the entries of a folder by name; null if it is not a folder (or a link to one), `hidden` without
 * permission.
 */
export function kindsNow(folder: string): Map<string, EntryKind> | 'hidden' | null {
  try {
    return isFolderNow(folder) ? kindsIn(folder) : null
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    if (hasCode(error, 'EACCES')) return 'hidden'
    throw error
  }
}

/** Same, for a path that was just seen to be a real folder. */
export function kindsIn(folder: string): Map<string, EntryKind> | 'hidden' | null {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return new Map(entries.map((entry) => [entry.name, kindOf(entry)]))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
    if (hasCode(error, 'EACCES')) return 'hidden'
    throw error
  }
}

function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}

/** Returns the numbers of session files among these names, ascending. */
export function sessionNumbers(names: readonly string[]): number[] {
  const numbers = names.flatMap((name) => SESSION_FILE.exec(name)?.[1] ?? [])
  return numbers.map(Number).sort((a, b) => a - b)
}

/** Returns the ids of proof files among these names. */
export function proofIds(names: readonly string[]): string[] {
  return names
    .filter((name) => name.endsWith('.md') && UUID.test(name.slice(0, -3)))
    .map((name) => name.slice(0, -3))
}
