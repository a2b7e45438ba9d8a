/** Stamps of the files that git does not track, to see whether a planning agent changed one. */

import type { BigIntStats, Dirent } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { codeOf, hasCode, isBarred } from '../files/errno.ts'
import { UNREADABLE } from './plan-contents.ts'
import { joined, placeOf, walkFolders } from './plan-walk.ts'

export const MOST_STAMPS = 50_000

/** Files by their stats, contents unread. */
export interface Stamps {
  /** By path as the walk names it; that of a folder ends with a slash, and its value is the mode alone. */
  byPath: Map<string, string>
  /** The folders that were listed: a later comparison ignores others. */
  folders: Set<string>
  /** How many entries there are beyond `most`. */
  uncounted: number
  /** Whether a `.gitignore` is a FIFO or the like: git would wait for it for ever. */
  blocksGit: boolean
}

export interface StampsOptions {
  /** Files that are compared by their content. */
  isKnown(path: string): boolean
  /** Paths that do not count, nor does what is below them. */
  leaveOut: ReadonlySet<string>
  /** Of the look to compare with. */
  before?: Stamps
  /** How many entries are looked at, and then to the end of a folder. */
  most?: number
  signal?: AbortSignal
}

/**
 * What is in a working folder besides the files that git has listed: ignored files, empty folders, the
 * insides of other repositories. The folders nearest to the top are looked at first, and the time
 * stamps are those that no program can set back (ctime). Of a `.git` that is not the top's, the parts
 * that git itself rewrites are left out.
 */
export async function stampsBelow(top: string, options: StampsOptions): Promise<Stamps> {
  const stamps: Stamps = { byPath: new Map(), folders: new Set(), uncounted: 0, blocksGit: false }
  const { before, most = MOST_STAMPS } = options
  let taken = 0
  const look = async (folder: string, entries: Dirent[] | null) => {
    if (entries === null) {
      const key = `${folder || '.'}/`
      stamps.folders.add(folder)
      stamps.byPath.set(key, `${stamps.byPath.get(key) ?? ''} ${UNREADABLE}`)
      return []
    }
    const counted = entries.filter((entry) => counts(folder, entry, options))
    const paths = counted.map((entry) => joined(folder, entry.name))
    const folders = paths.filter((_, at) => counted[at]?.isDirectory())
    if (taken >= most && !before?.folders.has(folder)) {
      stamps.uncounted += paths.length
      return folders
    }
    stamps.blocksGit ||= counted.some((entry) => entry.name === '.gitignore' && isOdd(entry))
    taken += paths.length
    stamps.folders.add(folder)
    await Promise.all(paths.map((path) => stampAt(top, path, stamps)))
    return folders.filter((path) => isToCompare(path, before))
  }
  await walkFolders(top, look, options.signal)
  return stamps
}

/** New folders too, but not those that were beyond the limit; a new repository stands for all of it. */
function isToCompare(folder: string, before: Stamps | undefined): boolean {
  if (!before || before.folders.has(folder)) return true
  return !before.byPath.has(`${folder}/`) && !IN_GIT.test(folder)
}

const IN_GIT = /(?:^|\/)\.git$/
const REWRITTEN = /^(?:index|objects|logs|.*\.lock)$/

function counts(folder: string, entry: Dirent, { isKnown, leaveOut }: StampsOptions): boolean {
  const path = joined(folder, entry.name)
  if (leaveOut.has(path)) return false
  if (IN_GIT.test(folder) && REWRITTEN.test(entry.name)) return false
  return entry.isDirectory() || isOdd(entry) || !isKnown(path)
}

function isOdd(entry: Dirent): boolean {
  return !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink()
}

async function stampAt(top: string, path: string, { byPath }: Stamps): Promise<void> {
  try {
    const stats = await lstat(placeOf(top, path), { bigint: true })
    if (stats.isDirectory()) byPath.set(`${path}/`, stats.mode.toString(8))
    else byPath.set(path, stampOf(stats))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return
    if (!isBarred(error)) throw error
    byPath.set(path, codeOf(error))
  }
}

function stampOf({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(' ')
}
