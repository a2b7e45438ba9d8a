/** The files of a case as last read, before baselines are applied. */

import type { FileStamp } from '../files/safe-read.ts'
import type { Case } from '../model/case.ts'
import type { ChangeSource } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
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
