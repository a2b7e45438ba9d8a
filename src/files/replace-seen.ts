/**
 * Replaces a file only if it still has the bytes that the caller saw. A save between that check and
 * the rename is not lost: the replaced file goes to the late saves (`workspace/late-saves/`), which
 * check it again. If the system cannot exchange two names, a save by rename in the last
 * microseconds can be lost.
 */

import { closeSync, linkSync, lstatSync, renameSync, type Stats } from 'node:fs'
import { type Exchange, systemExchange } from '../platform/exchange.ts'
import { isSameFile, type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { codeOf, hasCode } from './errno.ts'
import { discardNow, type NewFile } from './new-file.ts'
import { stampNow } from './read-now.ts'

/**
 * A file that a write replaced, if only for a moment; an editor that has it open may still write into it. Identified
 * by another name or, if it cannot get one, by an open descriptor.
 */
export type ReplacedFile = string | number

/** The stamp of a replaced file, to detect whether anybody has written into it. */
export interface Stamped {
  stats: Stats
  ctimeMs: number
}

/** Watches a replaced file for late saves. */
export interface ReplacedFileTracker {
  /** A free path for it, so that a crash does not lose it. */
  link: string
  /**
   * `base` is the content its editors started from, by default the one the write was based on. `stats` were taken
   * before that content was read, so that later writes show. `ctimeMs` was read after it got its other name, which
   * changes it, so that a write which restores the mtime shows too.
   */
  keep(displaced: ReplacedFile, known?: { base?: Buffer | undefined } & Partial<Stamped>): void
}

interface Replacement {
  path: string
  /** Opened before it is placed, so that its inode number stays reserved. */
  ours: NewFile
  seen: OpenFile
  tracker: ReplacedFileTracker
  /** Descriptors to close at the end. */
  open: Set<number>
}

interface ReplaceOptions {
  exchange?: Exchange | null
  /** The open file that was read at the path; else it is opened. */
  seen?: OpenFile
}

/**
 * Renames `ours` to `path` if that still contains `expect`; otherwise does nothing and returns false. The tracker
 * gets the old file, for late saves of an editor. All of this is synchronous, to minimize the time between check and
 * rename. Closes the descriptors it is given, except those passed to the tracker.
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

/** The file with its current stamp; null if another file has its name. */
function stillAt(path: string, { fd, stats: before }: OpenFile): OpenFile | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats && isSameFile(before, stats) ? { fd, stats } : null
}

/** Gives the file its second name before it loses the first, so that a crash never leaves it without one. */
function displace(replacement: Replacement, exchange: Exchange | null): boolean {
  const { path, seen, tracker } = replacement
  const isLinked = named(() => linkSync(path, tracker.link))
  let isDone = false
  try {
    if (isLinked && !isSameFile(lstatSync(tracker.link), seen.stats)) return false
    isDone = (exchange && byExchange(replacement, exchange)) ?? byRename(replacement)
  } finally {
    if (isLinked && !isDone) discardNow(tracker.link)
  }
  if (isDone && isLinked) tracker.keep(tracker.link, stampedBy(seen.stats, tracker.link))
  else if (isDone) keepOpen(replacement, seen.fd)
  return isDone
}

/** Undefined also if the disk fails: the new file is in place by then, and the old one will be read. */
function stampedBy(stats: Stats, link: string): Stamped | undefined {
  const now = stampNow(link)
  return now ? { stats, ctimeMs: now.ctimeMs } : undefined
}

/**
 * Swaps the two files, so that no save is lost: another file that has taken the name gets it back. Null if the file
 * system does not support it.
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
      discardNow(temp)
      isDone = true
    }
  } finally {
    if (!isDone) exchangeBack(replacement, exchange)
  }
  return isDone
}

/** Whether the error means that this file system or container does not support the swap. */
function isUnsupported(error: unknown): boolean {
  return hasCode(error, 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EPERM')
}

/**
 * Undoes the swap. If somebody has saved over the new file since, that save is the newest and stays. For a moment the
 * new file was visible: readers may save changes based on it, and an editor may have opened it. So the tracker gets
 * both files.
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
    renameSync(temp, path) // the new file was removed since
  }
}

function keepOpen({ tracker, open }: Replacement, fd: number, base?: Buffer): void {
  open.delete(fd)
  tracker.keep(fd, { base })
}

/**
 * Fallback without an atomic swap: loses a save by rename within some microseconds between check and rename, as Node
 * has no conditional rename.
 */
function byRename({ ours, path, seen }: Replacement): boolean {
  if (!isSameFile(lstatSync(path, { throwIfNoEntry: false }), seen.stats)) return false
  renameSync(ours.path, path)
  return true
}

/** False if no second name is possible: another disk, no hard links, no permission, no space. */
function named(give: () => void): boolean {
  try {
    give()
    return true
  } catch (error) {
    if (codeOf(error) !== '') return false
    throw error
  }
}
