import { closeSync, fstatSync, linkSync, lstatSync, renameSync, unlinkSync } from 'node:fs'
import { isSameFile, type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { type Exchange, isUnsupported, systemExchange } from './exchange.ts'
import { openRivals } from './rivals.ts'

/** A file that lost its name to ours; an editor that has it open may still be writing into it. */
export interface Displaced {
  /** A name for it, or where none can be given an open descriptor. */
  at: string | number
  /** It took the name by a rename in the last moment: nobody is writing into it any more. */
  isWhole: boolean
}

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
  keeper: Keeper
  /** Descriptors that are closed at the end; what the keeper takes over is no longer among them. */
  open: Set<number>
}

/**
 * Gives `temp` the name `path` if that still holds `expect`; false, and nothing done, if it does not.
 * What is saved between that check and the end goes to the keeper, and so does the old file, for what
 * an editor may still write into it. All of this is synchronous, to keep that time short.
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
    const replacement = { temp, path, seen, keeper, open }
    return (exchange && byExchange(replacement, exchange)) ?? byRename(replacement)
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/** Loses nothing: whatever has the name in that moment gets ours. Null where the disk cannot do it. */
function byExchange(
  { temp, path, seen, keeper, open }: Replacement,
  exchange: Exchange,
): boolean | null {
  try {
    exchange(temp, path)
  } catch (error) {
    if (isUnsupported(error)) return null
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
  const old = lstatSync(temp)
  if (!old.isFile()) {
    exchange(temp, path) // a link or a folder has just come there: it goes back
    return false
  }
  const isWhole = !isSameFile(old, seen.stats)
  if (named(() => renameSync(temp, keeper.link))) keeper.keep({ at: keeper.link, isWhole })
  else {
    const { fd } = (isWhole && openRegular(temp, open)) || seen
    unlinkSync(temp)
    open.delete(fd)
    keeper.keep({ at: fd, isWhole })
  }
  return true
}

/**
 * Next to nothing is lost: a save by a rename between the last look and ours is kept only if it stood
 * beside the file at that look. Under load that leaves a gap of some microseconds.
 */
function byRename({ temp, path, seen, keeper, open }: Replacement): boolean {
  const isLinked = named(() => linkSync(path, keeper.link))
  let rivals: number[] | null = null
  try {
    if (isLinked && !isSameFile(lstatSync(keeper.link), seen.stats)) return false
    const found = openRivals(path, seen.stats, open)
    if (found === null) return false
    renameSync(temp, path)
    rivals = found
  } finally {
    if (isLinked && rivals === null) unlinkSync(keeper.link)
  }
  const late = rivals.filter((rival) => fstatSync(rival).nlink === 0)
  for (const at of isLinked ? late : [seen.fd, ...late]) {
    open.delete(at)
    keeper.keep({ at, isWhole: at !== seen.fd })
  }
  if (isLinked) keeper.keep({ at: keeper.link, isWhole: false })
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
