/**
 * Replaces a file only if it still has the bytes that the caller saw. A save between that check and
 * the rename is not lost: the replaced file goes to the late saves (`workspace/late-saves/`), which
 * check it again. If the system cannot exchange two names, a save by rename in the last
 * microseconds can be lost.
 */

import { closeSync, linkSync, lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs'
import { isSameFile, type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { type Exchange, isUnsupported, systemExchange } from './exchange.ts'
import type { NewFile } from './new-file.ts'
import { stampNow } from './read-now.ts'

/**
 * A file that lost its name to the new one, even briefly; an editor that has it open may still
 * write into it. It is identified by its second name, or by an open descriptor if it cannot be
 * linked.
 */
export type ReplacedFile = string | number

/** The stamp of a replaced file, for detecting later writes into it. */
export interface Stamped {
  stats: Stats
  ctimeMs: number
}

/** Tracks replaced files. */
export interface ReplacedFileTracker {
  /** A free name for the replaced file, so that a crash does not lose it. */
  link: string
  /**
   * `base`: the text that editors of the file started from, as far as known; by default the text
   * before our write. `stats`: read before the content check, so that any later write differs.
   * `ctimeMs`: read after linking, which changes it, so that a write that restores the mtime still
   * shows.
   */
  keep(displaced: ReplacedFile, known?: { base?: Buffer | undefined } & Partial<Stamped>): void
}

interface Replacement {
  path: string
  /** Opened before it is placed, so that its inode number cannot be reused. */
  ours: NewFile
  seen: OpenFile
  tracker: ReplacedFileTracker
  /** The descriptors to close at the end. */
  open: Set<number>
}

interface ReplaceOptions {
  exchange?: Exchange | null
  /** The open file that the caller read at the path; by default the path is opened. */
  seen?: OpenFile
}

/**
 * Renames `ours` to `path` if the file there still contains `expect`; otherwise returns false and
 * changes nothing. The tracker gets the old file, because an editor may still write into it. All
 * steps are synchronous, to keep the time between check and rename short. Closes all given files,
 * except those that the tracker gets.
 */
export function replaceSeen(
  ours: NewFile,
  path: string,
  expect: Uint8Array,
  tracker?: ReplacedFileTracker,
  { exchange = systemExchange(), seen: opened }: ReplaceOptions = {},
): boolean {
  const open = new Set(opened ? [ours.fd, opened.fd] : [ours.fd])
  try {
    const seen = opened ? stillAt(path, opened) : openRegular(path, open)
    if (!seen || !readDescriptor(seen, expect.length)?.equals(expect)) return false
    if (!tracker) {
      renameSync(ours.path, path)
      return true
    }
    return displace({ path, ours, seen, tracker, open }, exchange)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/** The open file with its present stats; null if another file has its name. */
function stillAt(path: string, { fd, stats: before }: OpenFile): OpenFile | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats && isSameFile(before, stats) ? { fd, stats } : null
}

/**
 * Links the old file to its second name before it loses the first, so that a crash never leaves it
 * without a name.
 */
function displace(replacement: Replacement, exchange: Exchange | null): boolean {
  const { path, seen, tracker } = replacement
  const isLinked = named(() => linkSync(path, tracker.link))
  let isDone = false
  try {
    if (isLinked && !isSameFile(lstatSync(tracker.link), seen.stats)) return false
    isDone = (exchange && byExchange(replacement, exchange)) ?? byRename(replacement)
  } finally {
    if (isLinked && !isDone) unlinkSync(tracker.link)
  }
  if (isDone && isLinked) tracker.keep(tracker.link, stampedBy(seen.stats, tracker.link))
  else if (isDone) keepOpen(replacement, seen.fd)
  return isDone
}

/** Also undefined if the disk fails: our file is already in place, and the late saves read the old one. */
function stampedBy(stats: Stats, link: string): Stamped | undefined {
  const now = stampNow(link)
  return now ? { stats, ctimeMs: now.ctimeMs } : undefined
}

/**
 * Loses no save: another file that took the name gets it back. Null if the file system cannot
 * exchange names.
 */
function byExchange(replacement: Replacement, exchange: Exchange): boolean | null {
  const { path, seen } = replacement
  const temp = replacement.ours.path
  try {
    exchange(temp, path)
  } catch (error) {
    if (isUnsupported(error)) return null
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  let isDone = false
  try {
    if (isSameFile(lstatSync(temp), seen.stats)) {
      unlinkSync(temp)
      isDone = true
    }
  } finally {
    if (!isDone) exchangeBack(replacement, exchange)
  }
  return isDone
}

/**
 * Gives the name back to the file that ours displaced, or to a newer save over ours. Our file had
 * the name for a moment: a person who read it may save an edit of it over the restored file, and a
 * program that opened it may still write into it. So the tracker gets both files.
 */
function exchangeBack(replacement: Replacement, exchange: Exchange): void {
  const { path, ours, open } = replacement
  const temp = ours.path
  const bytes = Buffer.from(ours.bytes)
  let placed = ours.stats
  for (let base: Buffer | undefined; ; base = bytes) {
    let displaced: { stats: Stats; fd?: number }
    try {
      displaced = openRegular(temp, open) ?? { stats: lstatSync(temp) }
    } finally {
      giveBack(temp, path, exchange)
    }
    if (displaced.fd !== undefined) keepOpen(replacement, displaced.fd, base)
    const left = lstatSync(temp, { throwIfNoEntry: false })
    if (!left || isSameFile(left, placed)) break
    placed = displaced.stats
  }
  keepOpen(replacement, ours.fd, bytes)
}

function giveBack(temp: string, path: string, exchange: Exchange): void {
  try {
    exchange(temp, path)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    renameSync(temp, path) // the placed file was removed meanwhile
  }
}

function keepOpen({ tracker, open }: Replacement, fd: number, base?: Buffer): void {
  open.delete(fd)
  tracker.keep(fd, { base })
}

/**
 * Trap: loses a save by rename between the last check and our rename, some microseconds. Node has
 * no conditional rename.
 */
function byRename({ ours, path, seen }: Replacement): boolean {
  if (!isSameFile(lstatSync(path, { throwIfNoEntry: false }), seen.stats)) return false
  renameSync(ours.path, path)
  return true
}

/** The errors of linking that allow a fallback: another disk, no links, no permission, no room. */
const NO_NAME = ['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EROFS', 'ENOENT']

function named(give: () => void): boolean {
  try {
    give()
    return true
  } catch (error) {
    if (hasCode(error, ...NO_NAME, ...NO_ROOM)) return false
    throw error
  }
}
