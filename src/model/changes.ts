/** What differs between two readings of a case, computed once: events and acts in history.md follow from it. */

import type { Case } from './case.ts'
import { type CaseContents, shownState } from './case-contents.ts'
import type { CaseState } from './case-state.ts'
import type { Problem } from './problem.ts'
import { countsAsVerified } from './proof.ts'
import { nextTrailNumber } from './trail.ts'
import { type Causes, nextCauses, type Waiting, waitingOf } from './waiting.ts'

/** Everything about a case that has events. */
export interface Reading {
  /** The shown state; null if case.md could never be read. */
  state: CaseState | null
  case: Case
  proofs: ReadonlyMap<string, ReadProof>
  /** By session id: the number of the session, and of its last trail line. */
  sessions: ReadonlyMap<string, { number: number; last: number }>
  /** The hash of each memory file, by name. */
  notes: ReadonlyMap<string, string>
  problems: readonly Problem[]
  waiting: Waiting | null
  /** What was published as waiting for people. */
  causes: Causes
}

export interface ReadProof {
  type: string
  verified: boolean
  /** Hash of the file's bytes. */
  hash: string
}

/** Hashes of the files of a case, which are empty while a file cannot be read. */
export interface FileHashes {
  isCaseReadable: boolean
  proof(id: string): string
  /** By name. The same object as long as none has changed. */
  notes: ReadonlyMap<string, string>
}

/** A file that cannot be read now has not changed for all we know: it stays as published. */
export function readingOf(
  contents: CaseContents,
  files: FileHashes,
  before: (Partial<Reading> & Pick<Reading, 'proofs' | 'notes'>) | null,
): Reading {
  const proofs = new Map<string, ReadProof>()
  for (const proof of contents.proofs) {
    const hash = files.proof(proof.id)
    const known = hash === '' ? before?.proofs.get(proof.id) : undefined
    proofs.set(proof.id, known ?? { type: proof.type, verified: countsAsVerified(proof), hash })
  }
  const sessions = new Map<string, { number: number; last: number }>()
  for (const { id, number, trail } of contents.sessions)
    if (!sessions.has(id)) sessions.set(id, { number, last: nextTrailNumber(trail) - 1 })
  const isReadable = files.isCaseReadable
  return {
    state: isReadable ? shownState(contents) : (before?.state ?? null),
    case: isReadable ? contents.case : (before?.case ?? contents.case),
    proofs,
    sessions,
    notes: knownHashes(files.notes, before?.notes),
    problems: contents.problems,
    waiting: waitingOf(contents),
    causes: nextCauses(contents, before?.causes ?? {}),
  }
}

function knownHashes(notes: ReadonlyMap<string, string>, before?: ReadonlyMap<string, string>) {
  if (![...notes.values()].includes('')) return notes
  const known = [...notes].map(([name, hash]) => [name, hash || before?.get(name)] as const)
  return new Map(known.filter((each): each is [string, string] => each[1] !== undefined))
}

/**
 * Who made a change: a request; a person or a program that edits files, such as git; or anyone while no service ran.
 */
export type ChangeSource = 'service' | 'editor' | 'offline'

export interface Changes {
  caseId: string
  /** Null if there was no case. */
  before: Reading | null
  /** Null if there is no case any more. */
  after: Reading | null
  /** A new state of a case that had one. */
  state: { from: CaseState; to: CaseState } | null
  /** The names of fields of case.md that changed; not the state. */
  fields: string[]
  proofs: ProofChange[]
  /** New lines of audit trails: those after a number. */
  lines: { session_id: string; after: number }[]
  goneSessions: { id: string; number: number }[]
  /** Names of memory files that were added, changed or removed. */
  notes: string[]
  found: Problem[]
  cleared: Problem[]
}

export interface ProofChange {
  id: string
  type: string
  verified: boolean
  done: 'attached' | 'verified' | 'changed' | 'deleted'
}

export function changesBetween(
  caseId: string,
  before: Reading | null,
  after: Reading | null,
): Changes {
  const [was, is] = [before?.state ?? null, after?.state ?? null]
  return {
    caseId,
    before,
    after,
    state: was && is && was !== is ? { from: was, to: is } : null,
    fields: was && before && after ? changedFields(before.case, after.case) : [],
    proofs: proofChanges(before?.proofs, after?.proofs),
    lines: [...(after?.sessions ?? [])].flatMap(([session_id, { last }]) => {
      const published = before?.sessions.get(session_id)?.last ?? 0
      return last > published ? [{ session_id, after: published }] : []
    }),
    goneSessions: [...(before?.sessions ?? [])]
      .filter(([id]) => after !== null && !after.sessions.has(id))
      .map(([id, { number }]) => ({ id, number })),
    notes: changedKeys(before?.notes, after?.notes),
    ...problemChanges(before?.problems ?? [], after?.problems ?? []),
  }
}

/** Empty values count as missing, so that a field of a later version is no change. */
function changedFields(before: Case, after: Case): string[] {
  if (before === after) return []
  const given = (of: Case, name: string) => {
    const value = of[name as keyof Case]
    return value === null || value?.length === 0 ? undefined : value
  }
  return [...new Set([...Object.keys(after), ...Object.keys(before)])].filter(
    (name) =>
      name !== 'id' &&
      name !== 'state' &&
      name !== 'created_at' &&
      JSON.stringify(given(before, name)) !== JSON.stringify(given(after, name)),
  )
}

type Proofs = Reading['proofs']

function proofChanges(before: Proofs = new Map(), after: Proofs = new Map()): ProofChange[] {
  const changes: ProofChange[] = []
  for (const [id, { type, verified, hash }] of after) {
    const was = before.get(id)
    if (was?.type === type && was.verified === verified && was.hash === hash) continue
    const done = !was ? 'attached' : verified && !was.verified ? 'verified' : 'changed'
    changes.push({
      id,
      type,
      verified,
      done,
    })
  }
  for (const [id, { type }] of before)
    if (!after.has(id)) changes.push({ id, type, verified: false, done: 'deleted' })
  return changes
}

function changedKeys<V>(
  before: ReadonlyMap<string, V> = new Map(),
  after: ReadonlyMap<string, V> = new Map(),
): string[] {
  if (before === after) return []
  const changed = [...after.keys()].filter((key) => before.get(key) !== after.get(key))
  return [...changed, ...[...before.keys()].filter((key) => !after.has(key))]
}

/** A problem that only moved to another line is the same. */
export function problemChanges(
  before: readonly Problem[],
  after: readonly Problem[],
): { found: Problem[]; cleared: Problem[] } {
  const [old, now] = [before, after].map((problems) => new Map(problems.map((p) => [keyOf(p), p])))
  return {
    found: [...now!].filter(([key]) => !old!.has(key)).map(([, problem]) => problem),
    cleared: [...old!].filter(([key]) => !now!.has(key)).map(([, problem]) => problem),
  }
}

function keyOf({ code, file, message }: Problem): string {
  // the message of this problem changes with every proof
  return code === 'proof_gate' ? code : `${code} ${file} ${message}`
}
