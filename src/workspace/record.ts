/** A record file (case.md, a session, a proof) as last read. */

import { hash } from 'node:crypto'
import { decodeUtf8, type FileStamp, type ReadResult } from '../files/safe-read.ts'
import { utf16Name } from '../files/utf-16.ts'
import type { Problem } from '../model/problem.ts'

/** What is known of one record file: the value that is served, and how the file is. */
export interface RecordFile<T> {
  /** Of the file when it was read; null when it had changed only a moment before, so that it is read again. */
  stamp: FileStamp | null
  mtimeMs: number
  /** SHA-256 of the bytes; empty when they could not be read. */
  hash: string
  /** The end of its text. */
  ending: string
  /** The last good value while the file is broken. */
  value: T
  /** Whether the file now has `value`; a broken file is never overwritten. */
  readable: boolean
  problems: Problem[]
}

export type Decoded =
  | { ok: true; text: string; hash: string; stamp: FileStamp }
  | { ok: false; problem: Problem; hash: string; stamp: FileStamp | null }

const REASONS = {
  missing: ['missing', 'the file is not there'],
  symbolic_link: ['symbolic_link', 'a symbolic link is not followed: put the file itself here'],
  not_a_file: ['unreadable', 'this is no regular file'],
  too_large: ['too_large', 'the file is larger than the service reads'],
  no_permission: ['unreadable', 'the service has no permission to read the file'],
  io_error: ['unreadable', 'the disk could not read the file'],
} as const

/** The text of a file that was read, or the one problem that keeps it from being text. */
export function decoded(read: ReadResult, file: string): Decoded {
  if (!read.ok) {
    const [code, message] = REASONS[read.reason]
    return { ok: false, problem: { code, file, line: null, message }, hash: '', stamp: null }
  }
  const hash = hashOf(read.bytes)
  const text = decodeUtf8(read.bytes)
  const isTwoByte = utf16Name(read.bytes) !== null
  if (text.ok && !isTwoByte) return { ok: true, text: text.text, hash, stamp: read.stat }
  const message = isTwoByte
    ? 'this looks like UTF-16: save the file as UTF-8'
    : 'these bytes are not UTF-8: save the file in that encoding'
  const problem: Problem = { code: 'bad_encoding', file, line: text.ok ? 1 : text.line, message }
  return { ok: false, problem, hash, stamp: read.stat }
}

export function hashOf(bytes: Uint8Array): string {
  return hash('sha256', bytes)
}

/** When a file that states no time of creation was made: the earlier of its birth and its last change. */
export function createdAt(stamp: FileStamp | null): string {
  if (!stamp) return new Date(0).toISOString()
  const birth = stamp.birthtimeMs > 0 ? stamp.birthtimeMs : stamp.mtimeMs
  return new Date(Math.min(birth, stamp.mtimeMs)).toISOString()
}

/** File systems count time in ticks (4 ms and more): within one, a second change leaves no trace in the stamp. */
const TICK_MS = 50

/** Whether a stamp is old enough to prove anything: after its clock tick every change gives another stamp. */
export function isSettled({ ctimeMs }: FileStamp): boolean {
  return isSettledAt(ctimeMs)
}

/** The same for the time that counts. */
export function isSettledAt(ms: number): boolean {
  return Date.now() - ms > TICK_MS
}
