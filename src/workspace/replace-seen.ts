import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  type Stats,
  unlinkSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { hasCode } from './errno.ts'
import { readDescriptor } from './read-descriptor.ts'
import { isTempName } from './temp-files.ts'

/** A file that lost its name to ours; an editor that has it open may still be writing into it. */
export interface Displaced {
  /** A hard link to it, or where none can be made an open descriptor. */
  at: string | number
  /** It took the name by a rename in the last moment: nobody is writing into it any more. */
  isWhole: boolean
}

/** Takes over what a replacement displaced. */
export interface Keeper {
  /** A free name for a hard link to it, so that a crash does not lose it. */
  link: string
  keep(displaced: Displaced): void
}

/**
 * Gives `temp` the name `path` if that still holds `expect`; false, and nothing done, if it does not.
 * No system call compares and renames, so all of this is synchronous, with its last look right before
 * the rename. What is saved between the two is not lost either: what an editor writes into the old
 * file the keeper sees, and a file that takes the name stood beside it before, and was held open.
 */
export function replaceSeen(
  temp: string,
  path: string,
  expect: Uint8Array,
  keeper?: Keeper,
): boolean {
  const open = new Set<number>()
  let link: string | null = null
  let isDone = false
  try {
    const seen = openRegular(path, open)
    if (seen === null || !readDescriptor(seen.fd, expect.length)?.equals(expect)) return false
    if (keeper) link = linked(path, keeper.link)
    if (link !== null && !isSame(lstatSync(link), seen.stats)) return false
    const rivals = lastLook(path, seen.stats, keeper ? open : null)
    if (rivals === null) return false
    renameSync(temp, path)
    isDone = true
    const keep = (at: string | number, isWhole: boolean) => {
      if (typeof at === 'number') open.delete(at)
      keeper?.keep({ at, isWhole })
    }
    if (keeper) keep(link ?? seen.fd, false)
    for (const rival of rivals) if (fstatSync(rival).nlink === 0) keep(rival, true)
    return true
  } finally {
    for (const fd of open) closeSync(fd)
    if (link !== null && !isDone) unlinkSync(link)
  }
}

/** Longer than this the look takes only where the system let another process run meanwhile. */
const SWIFT_MS = 0.05
const LOOKS = 5

/** Null when `path` is another file by now; else what stands beside it, held open in `open`. */
function lastLook(path: string, seen: Stats, open: Set<number> | null): number[] | null {
  let rivals: number[] = []
  for (let look = 1; ; look++) {
    for (const rival of rivals) {
      open?.delete(rival)
      closeSync(rival)
    }
    const names = open ? rivalNames(path) : []
    const began = performance.now()
    rivals = names.flatMap((name) => openRegular(name, open!, HIDDEN)?.fd ?? [])
    if (!isSame(lstatSync(path, { throwIfNoEntry: false }), seen)) return null
    if (performance.now() - began < SWIFT_MS || look === LOOKS) return rivals
  }
}

const MAX_RIVALS = 16

/**
 * Files that may be about to take the name: an editor's new version, under a name of its own. The
 * listing also waits for renames in this folder that the kernel has begun.
 */
function rivalNames(path: string): string[] {
  const [folder, name] = [dirname(path), basename(path)]
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== name && !isTempName(entry.name))
    .map((entry) => entry.name)
    .filter((other) => !other.endsWith('.md') || other.includes(name))
    .slice(0, MAX_RIVALS)
    .map((other) => join(folder, other))
}

/** Of a file that may be a rival: not ours to read, or one too many. */
const HIDDEN = ['EACCES', 'EPERM', 'EMFILE', 'ENFILE']

/** Null where no regular file is, or for one of these codes. */
function openRegular(
  path: string,
  open: Set<number>,
  codes: string[] = [],
): { fd: number; stats: Stats } | null {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    open.add(fd)
    const stats = fstatSync(fd)
    return stats.isFile() ? { fd, stats } : null
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ELOOP', 'ENXIO', 'ENODEV', ...codes)) return null
    throw error
  }
}

/** What says that no hard link can be made here: another disk, no such links, no permission, no room. */
const NO_LINK = ['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']
const NO_ROOM = ['ENOSPC', 'EDQUOT', 'EROFS', 'ENOENT']

function linked(path: string, link: string): string | null {
  try {
    linkSync(path, link)
    return link
  } catch (error) {
    if (hasCode(error, ...NO_LINK, ...NO_ROOM)) return null
    throw error
  }
}

function isSame(a: Stats | undefined, b: Stats): boolean {
  return a?.ino === b.ino && a.dev === b.dev
}
