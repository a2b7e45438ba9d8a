/** A file of a person as text, or the problem that says why there is none. */

import { hash } from 'node:crypto'
import type { Problem } from '../model/problem.ts'
import { decodeUtf8, type FileStamp, type ReadResult } from './safe-read.ts'
import { utf16Name } from './utf-16.ts'

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
