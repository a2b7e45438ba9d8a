import { AppError } from './app-error.ts'
import type { Case, CaseEdit } from './case.ts'
import type { IgnoredChange } from './frozen-values.ts'
import { type Gate, proofGate, reportedState } from './gate.ts'
import type { Act, HistoryEntry } from './history.ts'
import type { Problem } from './problem.ts'
import { byCreation, type Counted, type Proof } from './proof.ts'
import type { Session, SessionEdit, SessionTexts, WrittenTexts } from './session.ts'

/** Everything known about a case: the input of every decision. */
export interface CaseContents {
  case: Case
  sessions: Session[]
  proofs: Proof[]
  problems: Problem[]
  /** Edits by file that are ignored. The values above are those that count. */
  ignored: IgnoredChange[]
  /** The sections of one session, if the decision requested them. */
  texts?: SessionTexts
  /** The entries of history.md, oldest first, if the decision requested them. */
  history?: HistoryEntry[]
}

/** A change of one file of a case. */
export type FileEdit =
  /** `acts`: history entries, if they do not follow from the fields */
  | { file: 'case'; edit: CaseEdit; acts?: Act[] }
  | { file: 'session'; number: number; edit: SessionEdit }
  /** `texts`: of a session that is created with its plan */
  | { file: 'new-session'; session: Session; texts?: WrittenTexts }
  /** `picture`: the bytes of its picture; `summary`: what it is, in one line for people */
  | {
      file: 'new-proof'
      proof: Proof
      content: string
      picture: Uint8Array | null
      summary?: string
    }
  | { file: 'proof'; id: string; counted: Counted; verification: Verification | null }

/** `accepted` is the reason for accepting the proof; null if it was only verified. */
export interface Verification {
  verified_at: string
  verified_by: string
  meets: string[]
  accepted: string | null
}

/** A change that a decision makes. Edits are written in order. */
export type Edit =
  | FileEdit
  /** Sets the state that counts while case.md keeps another, ignored one. */
  | { file: 'ignored-state'; state: Case['state'] }

/** A decision: returns the edits for a case, or throws an AppError. It must be pure, as it may run twice. */
export type Decide = (contents: CaseContents) => Edit[]

export function gateOf(contents: CaseContents): Gate {
  return proofGate(contents.case.checklist, contents.proofs, contents.sessions)
}

export function shownState(contents: CaseContents): Case['state'] {
  const { state } = contents.case
  return state === 'RESOLVED' ? reportedState(state, gateOf(contents)) : state // other states do not depend on the gate
}

/** Returns the session with this id. Throws `not_found`. */
export function sessionOf(contents: CaseContents, id: string): Session {
  const session = contents.sessions.find((each) => each.id === id)
  if (session) return session
  throw new AppError('not_found', `Case ${contents.case.id} has no session ${id}.`)
}

export function proofOf(contents: CaseContents, id: string): Proof {
  const proof = contents.proofs.find((each) => each.id === id)
  if (proof) return proof
  throw new AppError('not_found', `Case ${contents.case.id} has no proof ${id}.`)
}

/** Returns the item that was created last. */
export function newest<T extends { created_at: string; id: string }>(
  items: readonly T[],
): T | undefined {
  return [...items].sort(byCreation).at(-1)
}
