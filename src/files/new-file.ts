/**
 * Makes new files under hidden temporary names, and removes them if the write fails.
 * `staged-file.ts` then renames them.
 */

import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  openSync,
  type Stats,
  unlinkSync,
} from 'node:fs'
import { unlink } from 'node:fs/promises'
import { syncDescriptor, writeDescriptor } from './descriptors.ts'
import { codeOf, hasCode } from './errno.ts'

interface NewFileOptions {
  mode?: number | undefined
  like?: Stats | null
  /** Not synced. */
  isVolatile?: boolean
}

/**
 * Creates a file (EEXIST if it exists) and syncs its content but not its folder; on failure it is removed. It gets
 * the owner and mode of `like`; `mode` overrides that and the umask. The file is created synchronously; syncing and
 * large writes run in the thread pool.
 */
export async function writeNewFile(
  path: string,
  bytes: Uint8Array,
  options: NewFileOptions,
): Promise<void> {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, firstMode(options))
  try {
    await writeDescriptor(fd, bytes)
    takeOwnerAndMode(fd, options)
    // never retry a failed fsync: the kernel may have dropped the pages
    if (!options.isVolatile) await syncDescriptor(fd)
    mustHaveSize(fstatSync(fd), bytes.length)
  } catch (error) {
    closeSync(fd)
    await discard(path)
    throw error
  }
  closeSync(fd)
}

/** Removes a temporary name, if possible: a failure must not change the result of what it was for. */
export async function discard(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    mayStay(error)
  }
}

/** Synchronous `discard`. */
export function discardNow(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    mayStay(error)
  }
}

/** If it is missing, it was never created or was renamed. Otherwise the next owner removes it at start. */
function mayStay(error: unknown): void {
  if (codeOf(error) === '') throw error
}

/**
 * The file must never be readable to more users than in the end. So it gets its final mode at creation only if its
 * group does not matter.
 */
function firstMode({ mode, like }: NewFileOptions): number {
  const wanted = mode ?? like?.mode ?? 0o666
  if (!like) return wanted & 0o777
  const isOurs = like.uid === OWN_UID
  return isOurs && ((wanted >> 3) & 0o7) === (wanted & 0o7) ? wanted & 0o777 : 0o600
}

const OWN_UID = process.geteuid?.()

/** Keeps the owner, so that a service run as root does not take over a user's files. */
function takeOwnerAndMode(fd: number, { mode, like }: NewFileOptions): void {
  const wanted = mode ?? like?.mode
  if (wanted === undefined) return
  const { uid, gid, mode: present } = fstatSync(fd)
  const isOthers = like != null && (like.uid !== uid || like.gid !== gid)
  if (isOthers) takeOwner(fd, like)
  if (isOthers || ((present ^ wanted) & 0o7777) !== 0) fchmodSync(fd, wanted & 0o7777)
}

function takeOwner(fd: number, { uid, gid }: Stats): void {
  try {
    fchownSync(fd, uid, gid)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL')) throw error
  }
}

function mustHaveSize({ size }: Stats, expected: number): void {
  if (size === expected) return
  throw Object.assign(new Error(`${size} of ${expected} bytes arrived`), { code: 'EIO' })
}
