import { AppError } from './app-error.ts'
import type { IgnoredChange } from './baseline.ts'
import type { Case, CaseEdit } from './case.ts'
import { type Gate, proofGate, reportedState } from './gate.ts'
import type { Act, HistoryEntry } from './history.ts'
import type { Problem } from './problem.ts'
import { byCreation, type Counted, type Proof } from './proof.ts'
import type { Session, SessionEdit, SessionTexts } from './session.ts'

/** All that is known of a case when something is decided about it. */
export interface CaseFolder {
  case: Case
  sessions: Session[]
  proofs: Proof[]
  problems: Problem[]
  /** What the files say besides, and what does not count: the values above are those that do. */
  ignored: IgnoredChange[]
  /** The sections of the one session that a decision asked for. */
  texts?: SessionTexts
  /** What history.md says, oldest first, for a decision that asked for it. */
  history?: HistoryEntry[]
}

/** A change of one file of a case. */
export type FileEdit =
  /** `acts`: what the history says of it, where the fields do not tell. */
  | { file: 'case'; edit: CaseEdit; acts?: Act[] }
  | { file: 'session'; number: number; edit: SessionEdit }
  | { file: 'new-session'; session: Session }
  | { file: 'new-proof'; proof: Proof; content: string }
  | { file: 'proof'; id: string; counted: Counted; verification: Verification | null }

/** `accepted` is the reason, null for none. */
export interface Verification {
  verified_at: string
  accepted: string | null
}

/** What a decision changes, in the order in which it must reach the disk. */
export type Edit =
  | FileEdit
  /** The state that counts from now on, where case.md keeps another one that does not. */
  | { file: 'ignored-state'; state: Case['state'] }

/** A decision: what is there in, what changes out, or a AppError thrown. Pure; may run twice. */
export type Decide = (folder: CaseFolder) => Edit[]

export function gateOf(folder: CaseFolder): Gate {
  return proofGate(folder.case.checklist, folder.proofs, folder.sessions)
}

export function shownState(folder: CaseFolder): Case['state'] {
  const { state } = folder.case
  return state === 'RESOLVED' ? reportedState(state, gateOf(folder)) : state // no other asks for the gate
}

/** The session with this id, or a AppError `not_found`. */
export function sessionOf(folder: CaseFolder, id: string): Session {
  const session = folder.sessions.find((each) => each.id === id)
  if (session) return session
  throw new AppError('not_found', `Case ${folder.case.id} has no session ${id}.`)
}

export function proofOf(folder: CaseFolder, id: string): Proof {
  const proof = folder.proofs.find((each) => each.id === id)
  if (proof) return proof
  throw new AppError('not_found', `Case ${folder.case.id} has no proof ${id}.`)
}

/** The newest of what has a time of creation. */
export function newest<T extends { created_at: string; id: string }>(
  items: readonly T[],
): T | undefined {
  return [...items].sort(byCreation).at(-1)
}
