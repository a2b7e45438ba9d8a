/**
 * Reads files that a person, git or an agent may have put there: only regular files, of limited size, within a
 * folder, never through a link. Every asynchronous read of a case's files goes through here.
 */

import { isUtf8 } from 'node:buffer'
import { constants, realpathSync, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { locateOpenFile } from '../platform/proc.ts'
import { codeOf, hasCode } from './errno.ts'

export interface FileStamp {
  size: number
  mtimeMs: number
  ctimeMs: number
  birthtimeMs: number
  ino: number
  dev: number
  mode: number
}

type UnreadableReason =
  | 'missing'
  | 'symbolic_link'
  | 'not_a_file'
  | 'too_large'
  | 'no_permission'
  | 'io_error'

export type ReadResult =
  | { ok: true; bytes: Buffer; stat: FileStamp }
  | { ok: false; reason: UnreadableReason; detail: string }

export type ReadFailure = Extract<ReadResult, { ok: false }>

interface ReadOptions {
  maxBytes: number
  /** A real path. The folder of the file, with links resolved, must equal it or be inside it. */
  within?: string
}

/**
 * Reads a file that anybody may have created: a FIFO does not block it, links are not followed, and huge files are
 * not loaded. The stamp is taken before the bytes are read, so that a change during the read shows as a newer stamp.
 * Disk errors are returned as values; only a mistake of the caller (a NUL in the path) throws.
 */
export async function readRegular(
  path: string | Buffer,
  options: ReadOptions,
): Promise<ReadResult> {
  return withOpened(path, options, (handle) => readOpen(handle, options.maxBytes))
}

/** Opens a file with the checks of `readRegular` while `read` runs; disk errors that it throws become values too. */
export async function withOpened<T>(
  path: string | Buffer,
  options: Pick<ReadOptions, 'within'>,
  read: (handle: FileHandle) => Promise<T>,
): Promise<T | ReadFailure> {
  try {
    const place = await resolvePlace(path, options)
    if (place === null) return ledOut()
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants
    const handle = await open(place, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    try {
      const { within } = options
      if (within !== undefined && !isOpenWithin(handle.fd, String(place), within)) return ledOut()
      return await read(handle)
    } finally {
      await handle.close()
    }
  } catch (error) {
    return toReadFailure(error)
  }
}

/**
 * Returns the stamp of `path` without following links; null if it does not exist or without permission: reading it
 * then reports the reason.
 */
export async function stampOf(path: string): Promise<FileStamp | null> {
  try {
    return toStamp(await lstat(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return null
    throw error
  }
}

/** Whether two stamps belong to the same file with the same content, as far as a stat shows. */
export function sameStamp(a: FileStamp, b: FileStamp): boolean {
  return (
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs &&
    a.ino === b.ino &&
    a.dev === b.dev
  )
}

export type Decoded = { ok: true; text: string } | { ok: false; line: number; offset: number }

/** Decodes UTF-8. A BOM stays as U+FEFF. `line` is 1-based; `offset` is that of the first invalid byte. */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  if (isUtf8(bytes)) {
    const { buffer, byteOffset, byteLength } = bytes
    return { ok: true, text: Buffer.from(buffer, byteOffset, byteLength).toString() }
  }
  let line = 1
  let start = 0
  // UTF-8 sequences never contain a line feed, so lines can be checked separately
  for (;;) {
    const feed = bytes.indexOf(0x0a, start)
    const end = feed === -1 ? bytes.length : feed
    if (!isUtf8(bytes.subarray(start, end))) break
    line += 1
    start = end + 1
  }
  return { ok: false, line, offset: start + validPrefix(bytes.subarray(start)) }
}

function validPrefix(bytes: Uint8Array): number {
  let offset = 0
  while (offset < bytes.length) {
    const lead = bytes[offset]!
    const width = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    if (!isUtf8(bytes.subarray(offset, offset + width))) break
    offset += width
  }
  return offset
}

/**
 * Whether the opened file is inside the folder, whatever links were on the way; where the system does not say where an
 * open file is, whether its path leads there now.
 */
export function isOpenWithin(file: number, path: string, within: string): boolean {
  const place = locateOpenFile(file) ?? realpathNow(path)
  return place.startsWith(within.endsWith(sep) ? within : within + sep)
}

function realpathNow(path: string): string {
  return join(realpathSync(dirname(path)), basename(path))
}

export function ledOut(): ReadFailure {
  return readFailure('symbolic_link', 'a symbolic link on the way leads out of the folder')
}

async function resolvePlace(
  path: string | Buffer,
  options: Pick<ReadOptions, 'within'>,
): Promise<string | Buffer | null> {
  if (options.within === undefined) return path
  const name = String(path)
  const place = join(await realpath(dirname(name)), basename(name))
  const root = options.within.endsWith(sep) ? options.within : options.within + sep
  return place.startsWith(root) ? place : null
}

async function readOpen(handle: FileHandle, maxBytes: number): Promise<ReadResult> {
  const stats = await handle.stat()
  if (!stats.isFile()) return readFailure('not_a_file', 'it is not a regular file')
  if (stats.size > maxBytes) return tooLarge(maxBytes)
  let buffer = Buffer.allocUnsafe(stats.size + 1)
  let length = 0
  for (;;) {
    const { bytesRead } = await handle.read(buffer, length, buffer.length - length, null)
    if (bytesRead === 0) break
    length += bytesRead
    if (length > maxBytes) return tooLarge(maxBytes)
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2)
  }
  return { ok: true, bytes: buffer.subarray(0, length), stat: toStamp(stats) }
}

export function tooLarge(maxBytes: number): ReadFailure {
  return readFailure('too_large', `it has more than ${maxBytes} bytes`)
}

export function readFailure(reason: UnreadableReason, detail: string): ReadFailure {
  return { ok: false, reason, detail }
}

/** Returns disk errors as a value; rethrows other errors. */
export function toReadFailure(error: unknown): ReadFailure {
  return readFailure(reasonOf(error), `${codeOf(error)} when opening or reading it`)
}

function reasonOf(error: unknown): UnreadableReason {
  if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ENAMETOOLONG')) return 'missing'
  if (hasCode(error, 'ELOOP')) return 'symbolic_link'
  if (hasCode(error, 'ENXIO', 'EISDIR', 'ENODEV')) return 'not_a_file'
  if (hasCode(error, 'EACCES', 'EPERM')) return 'no_permission'
  if (error instanceof Error && 'syscall' in error) return 'io_error'
  throw error
}

export function toStamp(stats: Stats): FileStamp {
  const { size, mtimeMs, ctimeMs, birthtimeMs, ino, dev, mode } = stats
  return { size, mtimeMs, ctimeMs, birthtimeMs, ino, dev, mode }
}
