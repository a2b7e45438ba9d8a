/** Stamps and hashes of memory files; a changed hash becomes an event. */

import { dirname } from 'node:path'
import { decoded } from '../files/decoded.ts'
import { readNow, stampNow } from '../files/read-now.ts'
import type { FileStamp } from '../files/safe-read.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import type { Problem } from '../model/problem.ts'
import { MAX_MEMORY_BYTES } from './memory-files.ts'
import { isKnown, newerOf } from './read-record-file.ts'
import { isSettled } from './record-file.ts'
import { endingOf, isComplete, type ReadPass } from './watching/stability.ts'

/** A memory file as last read. Its text is not stored, as only the fact of a change is published. */
export interface NoteFile {
  /** Null if it must be read again. */
  stamp: FileStamp | null
  mtimeMs: number
  hash: string
  /** The end of its text. */
  ending: string
  problems: Problem[]
}

interface NoteReading {
  known: NoteFile | undefined
  pass: ReadPass
  /** Called with an accepted text. */
  saw?: ((text: string, hash: string) => void) | undefined
}

/** Reads one memory file. An unreadable one is reported as a problem but stays writable: a PUT replaces it. */
export function readNote(path: string, file: string, { known, pass, saw }: NoteReading): NoteFile {
  const read = decoded(readNow(path, MAX_MEMORY_BYTES, dirname(path)), file)
  const stamp = read.stamp ?? stampNow(path)
  const mtimeMs = stamp?.mtimeMs ?? 0
  // what is read after an error of the disk counts as whole
  const ending = read.ok ? endingOf(read.text) : ''
  const hash = read.hash
  // without a stamp it is read again, as the disk may have failed for a moment
  const settled = read.stamp && isSettled(read.stamp) ? read.stamp : null
  const place = { stamp: settled, mtimeMs, hash, ending }
  if (known && isKnown(known, read)) {
    pass.markUnchanged(path)
    return { ...known, ...place }
  }
  const isWhole = !read.ok || (read.text !== '' && isComplete(ending, known?.ending))
  if (!pass.accept(path, newerOf(path, stamp), isWhole, true)) {
    // listed, but without a hash, so that it has no event yet
    return known
      ? { ...known, stamp: null }
      : { stamp: null, mtimeMs, hash: '', ending: '\n', problems: [] }
  }
  if (read.ok) saw?.(read.text, hash)
  return { ...place, problems: read.ok ? noteProblems(read.text, file) : [read.problem] }
}

/** Returns the problems of a memory file's text. */
export function noteProblems(text: string, file: string): Problem[] {
  const line = conflictLine(text)
  if (line === null) return []
  const message = 'git left conflict markers here: choose one side, remove the marker lines, save'
  return [{ code: 'merge_conflict', file, line, message }]
}
