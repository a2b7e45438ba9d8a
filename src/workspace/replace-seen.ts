import { closeSync, linkSync, lstatSync, renameSync, type Stats, unlinkSync } from 'node:fs'
import { isSameFile, type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { type Exchange, isUnsupported, systemExchange } from './exchange.ts'

/**
 * A file that lost its name to ours; an editor that has it open may still be writing into it. By
 * another name, or where none can be given by an open descriptor.
 */
export type Displaced = string | number

/** Takes over what a replacement displaced. */
export interface Keeper {
  /** A free name for it, so that a crash does not lose it. */
  link: string
  keep(displaced: Displaced): void
}

interface Replacement {
  temp: string
  path: string
  seen: OpenFile
}

/**
 * Gives `temp` the name `path` if that still holds `expect`; false, and nothing done, if it does not.
 * The keeper gets the old file, for what an editor may still write into it. All of this is
 * synchronous, to keep the time short between that check and the end.
 */
export function replaceSeen(
  temp: string,
  path: string,
  expect: Uint8Array,
  keeper?: Keeper,
  exchange: Exchange | null = systemExchange(),
): boolean {
  const open = new Set<number>()
  try {
    const seen = openRegular(path, open)
    if (seen === null || !readDescriptor(seen.fd, expect.length)?.equals(expect)) return false
    if (!keeper) {
      renameSync(temp, path)
      return true
    }
    const at = displace({ temp, path, seen }, keeper.link, exchange)
    if (at === null) return false
    if (typeof at === 'number') open.delete(at)
    keeper.keep(at)
    return true
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/** It has its other name before it loses the first, so that no crash finds it with none. */
function displace(
  replacement: Replacement,
  link: string,
  exchange: Exchange | null,
): Displaced | null {
  const { path, seen } = replacement
  const isLinked = named(() => linkSync(path, link))
  let isDone = false
  try {
    if (isLinked && !isSameFile(lstatSync(link), seen.stats)) return null
    isDone = (exchange && byExchange(replacement, exchange)) ?? byRename(replacement)
  } finally {
    if (isLinked && !isDone) unlinkSync(link)
  }
  if (!isDone) return null
  return isLinked ? link : seen.fd
}

/** Loses nothing: what else has taken the name gets it back. Null where the disk cannot do it. */
function byExchange({ temp, path, seen }: Replacement, exchange: Exchange): boolean | null {
  const ours = lstatSync(temp)
  try {
    exchange(temp, path)
  } catch (error) {
    if (isUnsupported(error)) return null
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  let isSeen = false
  try {
    isSeen = isSameFile(lstatSync(temp), seen.stats)
    if (isSeen) unlinkSync(temp)
  } catch (error) {
    exchangeBack({ temp, path, placed: ours }, exchange)
    throw error
  }
  if (!isSeen) exchangeBack({ temp, path, placed: ours }, exchange)
  return isSeen
}

/**
 * What `temp` displaced gets the name back; where somebody has saved over `placed` meanwhile, that
 * save is the newest and gets it.
 */
function exchangeBack(
  { temp, path, placed }: { temp: string; path: string; placed: Stats },
  exchange: Exchange,
): void {
  for (let last = placed; ; ) {
    const next = lstatSync(temp)
    try {
      exchange(temp, path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      return void renameSync(temp, path) // somebody removed what was placed
    }
    if (isSameFile(lstatSync(temp), last)) return
    last = next
  }
}

/**
 * Loses a save that takes the name by a rename after the last look, some microseconds before ours:
 * nothing else in Node can replace a file on a condition.
 */
function byRename({ temp, path, seen }: Replacement): boolean {
  if (!isSameFile(lstatSync(path, { throwIfNoEntry: false }), seen.stats)) return false
  renameSync(temp, path)
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
