/** Reads a record file again: serves the last readable version while a save is incomplete or the file is broken. */

import { readNow, stampNow } from '../files/read-now.ts'
import type { FileStamp } from '../files/safe-read.ts'
import type { Problem } from '../model/problem.ts'
import { type Decoded, decoded, hashOf, isSettled, type RecordFile } from './record.ts'
import { completenessOf, endingOf, type ReadPass } from './sync/stability.ts'

/** How one file is read: what was known of it, and either the pass that reads it or what was written there. */
export interface Reading<T> {
  known: RecordFile<T> | undefined
  pass: ReadPass | null
  /** What this service has just written there, instead of what the file has now. */
  written?: string
}

/** What is to be known of a kind of record to read one. */
interface Recipe<T> {
  path: string
  /** Relative to the case's folder, for problems. */
  file: string
  maxBytes: number
  read(text: string, stamp: FileStamp): Promise<Parsed<T>> | Parsed<T>
  /** The value for a file that cannot be read and was not known before. */
  fallback(text: string, stamp: FileStamp | null): Promise<T>
  remember?(text: string): void
}

export type Parsed<T> = { value: T | null; problems: Problem[] }

/**
 * Reads one file into its record; its value is the very one that was known when the bytes are the
 * same. A file that is still being written is left as it was known, null where it was not.
 */
export async function readRecord<T>(
  folder: string,
  { known, pass, written }: Reading<T>,
  recipe: Recipe<T>,
): Promise<RecordFile<T> | null> {
  const { path, file, maxBytes } = recipe
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
  const problem = result.ok ? emptiness(result.text, file) : result.problem
  const parsed: Parsed<T> =
    result.ok && !problem
      ? await recipe.read(result.text, result.stamp)
      : { value: null, problems: problem ? [problem] : [] }
  const completeness = parsed.value === null ? 'unreadable' : completenessOf(ending, known?.ending)
  if (pass && !pass.accept(path, newerOf(path, stamp), completeness)) {
    return known ? { ...known, stamp: null } : null
  }
  if (parsed.value !== null && result.ok) {
    // what somebody made of a trail is not what the file said last
    if (!parsed.problems.some(({ code }) => code === 'trail_changed'))
      recipe.remember?.(result.text)
    return { ...place, value: parsed.value, readable: true, problems: parsed.problems }
  }
  const value = known ? known.value : await recipe.fallback(result.ok ? result.text : '', stamp)
  // without a stamp the next pass reads the file again: the machine may have been too busy to parse it
  if (isTooComplex(parsed.problems)) place.stamp = null
  return { ...place, value, readable: false, problems: parsed.problems }
}

function isTooComplex(problems: readonly Problem[]): boolean {
  return problems.some(({ code }) => code === 'too_complex')
}

/** The stamp of a read is of the moment before it: what was changed since has a newer one. */
export function newerOf(path: string, stamp: FileStamp | null): () => FileStamp | null {
  return () => stampNow(path) ?? stamp
}

/** The same bytes; or still the same reason why there are none. */
export function isKnown(
  known: Pick<RecordFile<unknown>, 'hash' | 'problems'>,
  { hash, ...read }: Decoded,
): boolean {
  if (hash !== known.hash) return false
  return hash !== '' || (!read.ok && known.problems[0]?.code === read.problem.code)
}

/** An editor that saves in place empties the file first: an empty file is no change yet. */
export function emptiness(text: string, file: string): Problem | null {
  if (/[^\s\ufeff]/.test(text)) return null
  const message = 'the file is empty; what it said before is served until it says something again'
  return { code: 'unreadable', file, line: null, message }
}

/**
 * What we wrote counts as it was written: what somebody added since is looked at by the next scan,
 * as his change and not as ours. So no stamp is kept, and that scan reads the file.
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
