/** The files of a case as last read, before frozen values are applied. */

import { isDeepStrictEqual } from 'node:util'
import type { FileStamp } from '../files/safe-read.ts'
import type { Case } from '../model/case.ts'
import type { ChangeSource } from '../model/changes.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import { isSealed, type Session } from '../model/session.ts'
import type { NoteFile } from './notes.ts'
import type { RecordFile } from './record-file.ts'

/** One case as last read. */
export interface CaseEntry {
  id: string
  file: RecordFile<Case>
  sessions: Map<number, RecordFile<Session | null>>
  proofs: Map<string, RecordFile<Proof | null>>
  /** By file name. */
  notes: Map<string, NoteFile>
  /** Stamps of its folders by name, `.` for the case folder. A new or deleted file changes the stamp. */
  folders: Map<string, FileStamp | null>
  /** Whether its files disappeared while a session ran and were written again. */
  vanished: boolean
  /** The target of the link latest.md; empty without a link. */
  latest: string
  /** Problems of its folders and names: links, copies, missing permissions. */
  problems: Problem[]
}

/** Whether a session of the case may run, so that its files are restored if they disappear. */
export function hasOpenSession(entry: CaseEntry | undefined): boolean {
  return [...(entry?.sessions.values() ?? [])].some(({ value }) => value && !isSealed(value))
}

/** A possible change of a case. Every change of its files is reported as one of these. */
export interface CaseChange {
  caseId: string
  source: ChangeSource
  /** Memory files that a request has just written. */
  wrote?: readonly string[] | undefined
  /** Only lines were added to an audit trail. They are on the disk, so that their events need no sync of their own. */
  isOfTrail?: boolean
}

/** Whether only stamps are newer. By value, as a case may have been loaded from the database since. */
export function isSameCase(a: CaseEntry, b: CaseEntry): boolean {
  return (
    a.file.mtimeMs === b.file.mtimeMs &&
    isSame(a.file, b.file) &&
    areSame(a.sessions, b.sessions) &&
    areSame(a.proofs, b.proofs) &&
    areSame(a.notes, b.notes) &&
    isDeepStrictEqual(a.problems, b.problems)
  )
}

type Content = Pick<RecordFile<unknown>, 'hash' | 'problems'> & { value?: unknown }

function areSame<K>(a: Map<K, Content>, b: Map<K, Content>): boolean {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [key, read] of a) if (!isSame(read, b.get(key))) return false
  return true
}

function isSame(a: Content, b: Content | undefined): boolean {
  const contentOf = (read?: Content) => [read?.hash, read?.problems, read?.value]
  return a === b || isDeepStrictEqual(contentOf(a), contentOf(b))
}
