/** The case files as last read, before it is decided what counts of them. */

import type { FileStamp } from '../files/safe-read.ts'
import type { Case } from '../model/case.ts'
import type { ChangeSource } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import type { NoteFile } from './notes.ts'
import type { RecordFile } from './record.ts'

/** One case as it was last read. */
export interface CaseEntry {
  id: string
  file: RecordFile<Case>
  sessions: Map<number, RecordFile<Session | null>>
  proofs: Map<string, RecordFile<Proof | null>>
  /** By file name. */
  notes: Map<string, NoteFile>
  /** Stamps of its folders by name, `.` its own: what came or went in one shows there. */
  folders: Map<string, FileStamp | null>
  /** Its files were gone while a session ran, and were written again. */
  vanished: boolean
  /** An editor put a plain file in place of the link latest.md. */
  strayLatest: boolean
  /** Where the link latest.md leads; empty without one. */
  latest: string
  /** The sessions whose files were deleted by hand: by their ids, the numbers in the names of the files. */
  deleted: Record<string, number>
  /** What is wrong with its folders and names: links, copies, no permission. */
  problems: Problem[]
}

/** A change of a file, by anyone; null means "was not there" or "was deleted". */
export type Change =
  | { kind: 'case'; case_id: string; before: Case | null; after: Case | null }
  | { kind: 'session'; case_id: string; before: Session | null; after: Session | null }
  | { kind: 'proof'; case_id: string; before: Proof | null; after: Proof | null }

/** What was found to differ in a case, or may: every change of the files comes as one of these. */
export interface CaseChange {
  caseId: string
  found: readonly Change[]
  source: ChangeSource
  /** The memory files that a request has just written. */
  wrote?: readonly string[] | undefined
}
