/**
 * Replaces a file only if it still has the bytes that the caller saw. A save between that check and the rename is not
 * lost: a `ReplacedFileTracker` gets the replaced file, for late saves (`workspace/late-saves/`). If the system cannot
 * exchange two names, a save by rename in the last microseconds can be lost.
 */

import { closeSync, lstatSync, renameSync } from 'node:fs'
import { type Exchange, systemExchange } from '../platform/exchange.ts'
import { isSameFile, type OpenFile, openRegular, readDescriptor } from './descriptors.ts'
import { hasCode } from './errno.ts'
import { discardNow } from './new-file.ts'

/**
 * Gets the descriptor of a replaced file, which no longer has a name, and must close it. An editor that has the file
 * open may still write into it. `isSave`: it is not the file that was checked, but one saved since.
 */
export type ReplacedFileTracker = (fd: number, isSave: boolean) => void

interface ReplaceOptions {
  exchange?: Exchange | null
  /** The open file that was read at the path; else it is opened. */
  seen?: OpenFile
}

/**
 * Renames `temp` to `path` if that still contains `expect`; otherwise does nothing and returns false. All of this is
 * synchronous, to minimize the time between check and rename. Closes `seen`, unless it is passed to the tracker.
 */
export function replaceSeen(
  temp: string,
  path: string,
  expect: Uint8Array,
  tracker?: ReplacedFileTracker,
  { exchange = systemExchange(), seen: opened }: ReplaceOptions = {},
): boolean {
  const open = new Set(opened ? [opened.fd] : [])
  try {
    const seen = opened ?? openRegular(path, open)
    if (!seen || !readDescriptor(seen, expect.length)?.equals(expect)) return false
    if (!isSameFile(lstatSync(path, { throwIfNoEntry: false }), seen.stats)) return false
    const replaced = tracker && exchange ? swap(temp, path, seen, open, exchange) : undefined
    if (replaced === null) return false
    if (replaced === undefined) renameSync(temp, path)
    if (!tracker) return true
    for (const { fd } of new Set([seen, replaced ?? seen])) {
      open.delete(fd)
      tracker(fd, fd !== seen.fd)
    }
    return true
  } finally {
    for (const fd of open) closeSync(fd)
  }
}

/**
 * Exchanges the two names and removes the replaced file, which it returns: `seen`, or a file that was saved by rename
 * since the check. Null if the file was removed since, or something else than a file took its name, which gets it
 * back. Undefined if this file system or container does not support the exchange.
 */
function swap(
  temp: string,
  path: string,
  seen: OpenFile,
  open: Set<number>,
  exchange: Exchange,
): OpenFile | null | undefined {
  try {
    exchange(temp, path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    if (hasCode(error, 'EINVAL', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EXDEV', 'EPERM')) return
    throw error
  }
  let replaced: OpenFile | null = null
  try {
    replaced = isSameFile(lstatSync(temp), seen.stats) ? seen : openRegular(temp, open)
    return replaced
  } finally {
    if (replaced) discardNow(temp)
    else exchange(temp, path)
  }
}
