/**
 * Reads one record file (case.md, a session or a proof) of a case. While a save is incomplete or the file is broken,
 * the last readable value is served.
 */

import { type Decoded, decoded, hashOf } from '../files/decoded.ts'
import { readNow, stampNow } from '../files/read-now.ts'
import type { FileStamp } from '../files/safe-read.ts'
import type { Problem } from '../model/problem.ts'
import { isSettled, type RecordFile } from './record-file.ts'
import { endingOf, isComplete, type ReadPass } from './watching/stability.ts'

/** How to read one file: its known record, and either the pass that reads it or the text just written. */
export interface Reading<T> {
  known: RecordFile<T> | undefined
  /** The same as an earlier service read it: its value is served while the file is broken. */
  last?: RecordFile<T> | undefined
  pass: ReadPass | null
  /** Text that the service has just written; it is used instead of the file's content. */
  written?: string
}

/** How to read one kind of record. */
interface RecordReader<T> {
  path: string
  /** Relative to the case's folder, for problems. */
  file: string
  maxBytes: number
  read(text: string, stamp: FileStamp): Promise<Parsed<T>> | Parsed<T>
  /** The value if the file is unreadable and no earlier value is known. */
  fallback(text: string, stamp: FileStamp | null): Promise<T>
  /** Whether the text is needed when the file is broken or gone. */
  keepsText?: boolean
  /** Called with each accepted text. */
  saw?: ((text: string, hash: string) => void) | undefined
}

export type Parsed<T> = { value: T | null; problems: Problem[] }

/**
 * Reads one file into its record. The value is the same object as before while the bytes are the same. For a file
 * that is still being written the known record is returned, or null if there is none.
 */
export async function readRecordFile<T>(
  folder: string,
  { known, last, pass, written }: Reading<T>,
  reader: RecordReader<T>,
): Promise<RecordFile<T> | null> {
  const { path, file, maxBytes } = reader
  const result =
    written === undefined ? decoded(readNow(path, maxBytes, folder), file) : ownWrite(path, written)
  const { stamp, hash } = result
  const mtimeMs = stamp?.mtimeMs ?? known?.mtimeMs ?? 0
  const settled = written === undefined && stamp !== null && isSettled(stamp)
  const ending = result.ok ? endingOf(result.text) : ''
  const place = { stamp: settled ? stamp : null, mtimeMs, hash, ending }
  if (known && isKnown(known, result) && !isTooComplex(known.problems)) {
    pass?.markUnchanged(path)
    return { ...known, ...place }
  }
  const before = known ?? last
  const problem = result.ok ? emptiness(result.text, file) : result.problem
  const parsed: Parsed<T> =
    result.ok && !problem
      ? await reader.read(result.text, result.stamp)
      : { value: null, problems: problem ? [problem] : [] }
  const isWhole = parsed.value !== null && isComplete(ending, before?.ending)
  if (pass && !pass.accept(path, newerOf(path, stamp), isWhole)) {
    return before ? { ...before, stamp: null } : null
  }
  if (result.ok) reader.saw?.(result.text, hash)
  if (parsed.value !== null && result.ok) {
    // a changed audit trail is not a last good version
    const isGood = !parsed.problems.some(({ code }) => code === 'trail_changed')
    return {
      ...place,
      value: parsed.value,
      readable: true,
      problems: parsed.problems,
      text: isGood && reader.keepsText ? result.text : before?.text,
    }
  }
  const value = before ? before.value : await reader.fallback(result.ok ? result.text : '', stamp)
  // no stamp: the next pass parses again, as parsing may have timed out on a busy machine
  if (isTooComplex(parsed.problems)) place.stamp = null
  return {
    ...place,
    value,
    readable: false,
    problems: parsed.problems,
    text: before?.text,
  }
}

function isTooComplex(problems: readonly Problem[]): boolean {
  return problems.some(({ code }) => code === 'too_complex')
}

/**
 * Returns a check for changes since the read: the stamp was taken before reading, so a later change has a newer one.
 */
export function newerOf(path: string, stamp: FileStamp | null): () => FileStamp | null {
  return () => stampNow(path) ?? stamp
}

/** Whether the file has the same bytes as the known record, or is unreadable for the same reason. */
export function isKnown(
  known: Pick<RecordFile<unknown>, 'hash' | 'problems'>,
  { hash, ...read }: Decoded,
): boolean {
  if (hash !== known.hash) return false
  return hash !== '' || (!read.ok && known.problems[0]?.code === read.problem.code)
}

/** Returns a problem for an empty file, since an editor that saves in place empties the file first. */
export function emptiness(text: string, file: string): Problem | null {
  if (/[^\s\ufeff]/.test(text)) return null
  const message = 'the file is empty; its last content is served until it is saved with text'
  return { code: 'unreadable', file, line: null, message }
}

/**
 * Uses the written text instead of the file, so that a person's edit since then is read by the next scan as theirs.
 * No stamp is stored, so that scan reads the file.
 */
function ownWrite(path: string, text: string): Decoded {
  const hash = hashOf(Buffer.from(text))
  return { ok: true, text, hash, stamp: stampNow(path) ?? NO_STAMP }
}

const NO_STAMP: FileStamp = {
  size: -1,
  mtimeMs: 0,
  ctimeMs: 0,
  birthtimeMs: 0,
  ino: 0,
  dev: 0,
  mode: 0,
}
