/** The files of a case as last read, before baselines are applied. */

import { isDeepStrictEqual } from 'node:util'
import type { FileStamp } from '../files/safe-read.ts'
import type { Case } from '../model/case.ts'
import type { ChangeSource } from '../model/changes.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import { isSealed, type Session } from '../model/session.ts'
import type { NoteFile } from './notes.ts'
import type { RecordFile } from './record.ts'

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

/** A change of a file, by anyone. `before` is null for a new file, `after` for a deleted one. */
export type Change =
  | { kind: 'case'; case_id: string; before: Case | null; after: Case | null }
  | { kind: 'session'; case_id: string; before: Session | null; after: Session | null }
  | { kind: 'proof'; case_id: string; before: Proof | null; after: Proof | null }

/** A possible change of a case. Every change of its files is reported as one of these. */
export interface CaseChange {
  caseId: string
  found: readonly Change[]
  source: ChangeSource
  /** Memory files that a request has just written. */
  wrote?: readonly string[] | undefined
}

/** The files with other bytes, or another value. By value, as a case may have been loaded from the database since. */
export function changedFiles(before: CaseEntry | undefined, after: CaseEntry): Change[] {
  const case_id = after.id
  const changes: Change[] = []
  const compare = <K>(kind: 'case' | 'session' | 'proof', was: Files<K>, is: Files<K>) => {
    for (const key of new Set([...was.keys(), ...is.keys()])) {
      const [one, other] = [was.get(key), is.get(key)]
      if (isSame(one, other)) continue
      const values = { before: one?.value ?? null, after: other?.value ?? null }
      changes.push({ kind, case_id, ...values } as Change)
    }
  }
  compare('case', new Map(before && [['', before.file]]), new Map([['', after.file]]))
  compare('session', before?.sessions ?? new Map(), after.sessions)
  compare('proof', before?.proofs ?? new Map(), after.proofs)
  return changes
}

type Files<K> = Map<K, RecordFile<unknown>>

function isSame(one?: RecordFile<unknown>, other?: RecordFile<unknown>): boolean {
  if (one?.value === other?.value) return true
  return one?.hash === other?.hash && isDeepStrictEqual(one?.value, other?.value)
}
