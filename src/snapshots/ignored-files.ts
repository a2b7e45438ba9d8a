/** Records stamps of files that git does not track, to detect whether a planning agent changed one. */

import type { BigIntStats, Dirent } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { codeOf, hasCode, isBarred } from '../files/errno.ts'
import { UNREADABLE } from './plan-contents.ts'
import { absolutePath, joinPath, walkFolders } from './plan-walk.ts'

export const MAX_STAMPS = 50_000

/** Stamps of files, without their contents. */
export interface Stamps {
  /** By path, in the form of plan-walk.ts; folder paths end with a slash, and their value is only the mode. */
  byPath: Map<string, string>
  /** The listed folders; a later comparison ignores others. */
  folders: Set<string>
  /** Number of entries without a stamp, because there were more than `most`. */
  uncounted: number
  /** Whether a `.gitignore` is a FIFO or similar, on which git would wait forever. */
  blocksGit: boolean
}

export interface StampsOptions {
  /** Whether a file is compared by its content instead. */
  isKnown(path: string): boolean
  /** Paths to skip, with everything below them. */
  skip: ReadonlySet<string>
  /** The earlier stamps to compare with. */
  before?: Stamps
  /** Maximum number of entries; the last folder is read to its end. */
  most?: number
  signal?: AbortSignal
}

/**
 * Returns what is in a working folder besides the files that git has listed: ignored files, empty folders, the
 * insides of nested repositories. Folders near the top come first. The stamps contain the ctime, which no program can
 * set back. In nested `.git` folders the parts that git rewrites are left out.
 */
export async function stampsBelow(top: string, options: StampsOptions): Promise<Stamps> {
  const stamps: Stamps = { byPath: new Map(), folders: new Set(), uncounted: 0, blocksGit: false }
  const { before, most = MAX_STAMPS } = options
  let stampCount = 0
  const visitFolder = async (folder: string, entries: Dirent[] | null) => {
    if (entries === null) {
      const key = `${folder || '.'}/`
      stamps.folders.add(folder)
      stamps.byPath.set(key, `${stamps.byPath.get(key) ?? ''} ${UNREADABLE}`)
      return []
    }
    const stamped = entries.filter((entry) => isStamped(folder, entry, options))
    const paths = stamped.map((entry) => joinPath(folder, entry.name))
    const folders = paths.filter((_, index) => stamped[index]?.isDirectory())
    if (stampCount >= most && !before?.folders.has(folder)) {
      stamps.uncounted += paths.length
      return folders
    }
    stamps.blocksGit ||= stamped.some(
      (entry) => entry.name === '.gitignore' && isSpecialFile(entry),
    )
    stampCount += paths.length
    stamps.folders.add(folder)
    await Promise.all(paths.map((path) => stampAt(top, path, stamps)))
    return folders.filter((path) => shouldLookInto(path, before))
  }
  await walkFolders(top, visitFolder, options.signal)
  return stamps
}

/**
 * Whether to read a folder. A later comparison reads the folders that were read before, and new ones. It skips folders
 * that were beyond the limit before, and the inside of a new `.git` folder, whose path alone shows the change.
 */
function shouldLookInto(folder: string, before: Stamps | undefined): boolean {
  if (!before || before.folders.has(folder)) return true
  return !before.byPath.has(`${folder}/`) && !IN_GIT.test(folder)
}

const IN_GIT = /(?:^|\/)\.git$/
const REWRITTEN_BY_GIT = /^(?:index|objects|logs|.*\.lock)$/

/** Whether an entry gets a stamp. */
function isStamped(folder: string, entry: Dirent, { isKnown, skip }: StampsOptions): boolean {
  const path = joinPath(folder, entry.name)
  if (skip.has(path)) return false
  if (IN_GIT.test(folder) && REWRITTEN_BY_GIT.test(entry.name)) return false
  return entry.isDirectory() || isSpecialFile(entry) || !isKnown(path)
}

/** Whether it is a FIFO, a socket or a device. */
function isSpecialFile(entry: Dirent): boolean {
  return !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink()
}

async function stampAt(top: string, path: string, { byPath }: Stamps): Promise<void> {
  try {
    const stats = await lstat(absolutePath(top, path), { bigint: true })
    if (stats.isDirectory()) byPath.set(`${path}/`, stats.mode.toString(8))
    else byPath.set(path, stampText(stats))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return
    if (!isBarred(error)) throw error
    byPath.set(path, codeOf(error))
  }
}

function stampText({ ino, size, mtimeNs, ctimeNs, mode }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs, mode].join(' ')
}
