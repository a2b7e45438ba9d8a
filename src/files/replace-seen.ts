/**
 * Replaces a file only if it still has the bytes that the caller saw. A save that comes after that last look and
 * before the rename is not lost: the replaced file goes to the late saves (`workspace/late-saves/`), which check it
 * again. Only where the system cannot exchange two names a save by rename can be lost, within some microseconds.
 */

import { closeSync, linkSync, lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs'
import { isSameFile, type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { type Exchange, isUnsupported, systemExchange } from './exchange.ts'
import type { NewFile } from './new-file.ts'
import { stampNow } from './read-now.ts'

/**
 * A file that lost its name to ours, if only for a moment; an editor that has it open may still be
 * writing into it. By another name, or where none can be given by an open descriptor.
 */
export type ReplacedFile = string | number

/** What a displaced file is compared with, to see whether anybody has written into it. */
export interface Stamped {
  stats: Stats
  ctimeMs: number
}

/** Takes over what a replacement displaced. */
export interface ReplacedFileTracker {
  /** A free name for it, so that a crash does not lose it. */
  link: string
  /**
   * `base`: what its editors began with, as far as we know; by default what our write was made on. `stats`: from
   * before it was found to hold that, so that whatever was written since shows in others; `ctimeMs` is from after it
   * got its other name, which changes it: so a write that puts the time of the content back shows too.
   */
  keep(displaced: ReplacedFile, known?: { base?: Buffer | undefined } & Partial<Stamped>): void
}

interface Replacement {
  path: string
  /** Open before it is placed, so that its number stays its own whatever happens to it. */
  ours: NewFile
  seen: OpenFile
  tracker: ReplacedFileTracker
  /** What is to be closed at the end. */
  open: Set<number>
}

interface ReplaceOptions {
  exchange?: Exchange | null
  /** What was read at the path, open still; else it is opened. */
  seen?: OpenFile
}

/**
 * Gives `ours` the name `path` if that still holds `expect`; false, and nothing done, if it does not.
 * The tracker gets the old file, for what an editor may still write into it. All of this is
 * synchronous, to keep the time short between that check and the end. Closes what it is given, but
 * for what the tracker gets.
 */
export function replaceSeen(
  ours: NewFile,
  path: string,
  expect: Uint8Array,
  tracker?: ReplacedFileTracker,
  { exchange = systemExchange(), seen: held }: ReplaceOptions = {},
): boolean {
  const open = new Set(held ? [ours.fd, held.fd] : [ours.fd])
  try {
    const seen = held ? stillAt(path, held) : openRegular(path, open)
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

/** The same with the stamp of now; null where another file has its name. */
function stillAt(path: string, { fd, stats: before }: OpenFile): OpenFile | null {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats && isSameFile(before, stats) ? { fd, stats } : null
}

/** It has its other name before it loses the first, so that no crash finds it with none. */
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

/** Undefined also where the disk fails: ours stands in its place by then, and the other will be read. */
function stampedBy(stats: Stats, link: string): Stamped | undefined {
  const now = stampNow(link)
  return now ? { stats, ctimeMs: now.ctimeMs } : undefined
}

/** Loses nothing: what else has taken the name gets it back. Null where the disk cannot do it. */
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
 * What ours displaced gets the name back; where somebody has saved over ours meanwhile, that save
 * is the newest and gets it. But for a moment ours stood there: who read it may save what they make
 * of it over what came back, and who opened it writes into what we remove. So the tracker gets both.
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
    renameSync(temp, path) // somebody removed what was placed
  }
}

function keepOpen({ tracker, open }: Replacement, fd: number, base?: Buffer): void {
  open.delete(fd)
  tracker.keep(fd, { base })
}

/**
 * Loses a save that takes the name by a rename after the last look, some microseconds before ours:
 * nothing else in Node can replace a file on a condition.
 */
function byRename({ ours, path, seen }: Replacement): boolean {
  if (!isSameFile(lstatSync(path, { throwIfNoEntry: false }), seen.stats)) return false
  renameSync(ours.path, path)
  return true
}

/** What says that no name can be given there: another disk, no such links, no permission, no room. */
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
