/** A record file (case.md, a session, a proof) as last read. */

import { hash } from 'node:crypto'
import { decodeUtf8, type FileStamp, type ReadResult } from '../files/safe-read.ts'
import { utf16Name } from '../files/utf-16.ts'
import type { Problem } from '../model/problem.ts'

/** One record file: the value that is served, and the state of the file. */
export interface RecordFile<T> {
  /** Stamp of the file when it was read; null if it changed so recently that it must be read again. */
  stamp: FileStamp | null
  mtimeMs: number
  /** SHA-256 of the bytes; empty if unreadable. */
  hash: string
  /** The end of its text. */
  ending: string
  /** The last good value while the file is broken. */
  value: T
  /** The picture of a proof, as last read. */
  picture?: PictureState
  /** Whether the file contains `value`. A broken file is never overwritten. */
  readable: boolean
  problems: Problem[]
  /** The text of `value`, of a session and of the case.md beside one that runs. Only until it is stored. */
  text?: string | undefined
}

/** `stamp` is null if the picture is missing, or changed so recently that it must be read again. */
export interface PictureState {
  stamp: FileStamp | null
  /** SHA-256 of the bytes; empty if it cannot be read. */
  hash: string
}

export type Decoded =
  | { ok: true; text: string; hash: string; stamp: FileStamp }
  | { ok: false; problem: Problem; hash: string; stamp: FileStamp | null }

const REASONS = {
  missing: ['missing', 'the file does not exist'],
  symbolic_link: [
    'symbolic_link',
    'symbolic links are not followed: replace the link with the file itself',
  ],
  not_a_file: ['unreadable', 'this is not a regular file'],
  too_large: ['too_large', 'the file is larger than the service reads'],
  no_permission: ['unreadable', 'the service has no permission to read the file'],
  io_error: ['unreadable', 'an error of the system prevents reading the file'],
} as const

/** Decodes a file that was read: its text, or the problem that makes it unreadable. */
export function decoded(read: ReadResult, file: string): Decoded {
  if (!read.ok) {
    const [code, message] = REASONS[read.reason]
    const cause = read.reason === 'io_error' ? ` (${read.detail})` : ''
    const problem = { code, file, line: null, message: message + cause }
    return { ok: false, problem, hash: '', stamp: null }
  }
  const hash = hashOf(read.bytes)
  const text = decodeUtf8(read.bytes)
  const isTwoByte = utf16Name(read.bytes) !== null
  if (text.ok && !isTwoByte) return { ok: true, text: text.text, hash, stamp: read.stat }
  const message = isTwoByte
    ? 'this looks like UTF-16: save the file as UTF-8'
    : 'the file is not UTF-8: save it as UTF-8'
  const problem: Problem = { code: 'bad_encoding', file, line: text.ok ? 1 : text.line, message }
  return { ok: false, problem, hash, stamp: read.stat }
}

export function hashOf(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

/** Returns the creation time for a file that does not contain one: the earlier of birth time and mtime. */
export function createdAt(stamp: FileStamp | null): string {
  if (!stamp) return new Date(0).toISOString()
  const birth = stamp.birthtimeMs > 0 ? stamp.birthtimeMs : stamp.mtimeMs
  return new Date(Math.min(birth, stamp.mtimeMs)).toISOString()
}

/** Linux and Windows count times of files in ticks of 4 to 16 ms. A second change within a tick does not change the stamp. */
const TICK_MS = 20

/** Whether a stamp is old enough that every later change gives another stamp. */
export function isSettled({ ctimeMs }: FileStamp): boolean {
  return isSettledAt(ctimeMs)
}

/** Same as `isSettled`, for a time in ms. */
export function isSettledAt(ms: number): boolean {
  return Date.now() - ms > TICK_MS
}
