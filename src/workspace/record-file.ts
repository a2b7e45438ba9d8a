/** A record file (case.md, a session, a proof) as last read. */

import type { FileStamp } from '../files/safe-read.ts'
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
  return Date.now() - ctimeMs > TICK_MS
}
