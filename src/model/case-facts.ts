import type { CaseState } from './case-state.ts'
import type { ChangeName, EventFields } from './events.ts'
import { HISTORY_FILE } from './history.ts'
import type { Problem } from './problem.ts'
import type { Causes } from './waiting.ts'

/**
 * What was last published of a case. Comparing two of these decides which events a change causes. It is small, as it
 * is stored for each case.
 */
export interface CaseFacts {
  /** The shown state; null if the file could never be read. */
  state: CaseState | null
  /** A hash of the other fields, the description and the checklist. */
  fields: string
  /** By proof id. */
  proofs: Record<string, ProofFacts>
  /** By session id: the number of the last trail line. */
  sessions: Record<string, number>
  /** By file name. */
  notes: Record<string, NoteFacts>
  problems: Problem[]
  /** What was published as waiting for people. Old records do not have it. */
  causes?: Causes
}

export interface ProofFacts {
  type: string
  verified: boolean
  /** Hash of the file's bytes. */
  hash: string
}

export interface NoteFacts {
  hash: string
}

/**
 * Who made a change: a request; a person or a program that edits files, such as git; or anyone while no service ran.
 */
export type ChangeSource = 'service' | 'editor' | 'offline'

/** A change of a case or the workspace, before it has a time. */
export type ChangeEvent<Names extends ChangeName = ChangeName> = {
  [Name in Names]: { type: Name; payload: EventFields<Name> }
}[Names]

export type CaseEvent =
  | ChangeEvent
  /** The audit lines of this session after number `after`. */
  | { session_id: string; after: number }

/**
 * Returns the events of a change, in the order in which they are sent. `before` is null for a new case, `after` for a
 * deleted one. `wrote` names the memory files that a request has just written: each gets its event even if it was
 * restored or deleted before it was read. `isOwnHistory` is true if only the service has added lines to history.md.
 */
export function caseEvents(
  case_id: string,
  before: CaseFacts | null,
  after: CaseFacts | null,
  source: ChangeSource,
  { wrote = [], isOwnHistory = false }: { wrote?: readonly string[]; isOwnHistory?: boolean } = {},
): CaseEvent[] {
  if (!after) {
    const cleared = problemEvents(case_id, before?.problems ?? [], [])
    const gone: CaseEvent[] = before?.state ? [{ type: 'case_deleted', payload: { case_id } }] : []
    return [...wrote.map((name) => memoryUpdated(case_id, name)), ...cleared, ...gone]
  }
  const events: CaseEvent[] = []
  const was = before?.state ?? null
  if (after.state && !was) events.push({ type: 'case_created', payload: { case_id } })
  if (after.state && was && after.state !== was) {
    const payload = { case_id, old_state: was, new_state: after.state }
    events.push({ type: 'case_state_changed', payload })
  }
  if (was && after.fields !== before?.fields) {
    events.push({ type: 'case_updated', payload: { case_id } })
  }
  for (const [proof_id, is] of Object.entries(after.proofs)) {
    const old = before?.proofs[proof_id]
    const named = { case_id, proof_id, proof_type: is.type }
    if (!old) events.push({ type: 'proof_created', payload: named })
    if (old ? !same(old, is) : is.verified) {
      events.push({ type: 'proof_updated', payload: { ...named, verified: is.verified } })
    }
  }
  for (const [proof_id, { type }] of missing(before?.proofs, after.proofs)) {
    const payload = { case_id, proof_id, proof_type: type, verified: false }
    events.push({ type: 'proof_updated', payload })
  }
  for (const filename of changedNotes(before?.notes ?? {}, after.notes, wrote)) {
    // a history line of the service describes an act that has its own event
    const isOwn = filename === HISTORY_FILE && (source === 'service' || isOwnHistory)
    if (isOwn && !wrote.includes(filename)) continue
    events.push(memoryUpdated(case_id, filename))
  }
  // audit lines from another machine or a person cause no events here
  if (source === 'service' || source === 'offline') {
    for (const [session_id, last] of Object.entries(after.sessions)) {
      const published = before?.sessions[session_id] ?? 0
      if (last > published) events.push({ session_id, after: published })
    }
  }
  return [...events, ...problemEvents(case_id, before?.problems ?? [], after.problems)]
}

function memoryUpdated(case_id: string, filename: string): ChangeEvent {
  return { type: 'memory_updated', payload: { case_id, filename } }
}

/** Returns the memory files that were written, changed or removed, each once. */
function changedNotes(
  before: CaseFacts['notes'],
  after: CaseFacts['notes'],
  wrote: readonly string[],
): Set<string> {
  const changed = Object.entries(after).filter(([name, { hash }]) => {
    return !Object.hasOwn(before, name) || before[name]?.hash !== hash
  })
  const removed = missing(before, after)
  return new Set([...[...changed, ...removed].map(([name]) => name), ...wrote])
}

/**
 * Returns one event for each problem that appeared or disappeared. A problem that only moved to another line is the
 * same.
 */
export function problemEvents(
  case_id: string | null,
  before: readonly Problem[],
  after: readonly Problem[],
): ChangeEvent<'problem_found' | 'problem_cleared'>[] {
  const payload = ({ code, file, line, message }: Problem) => ({
    case_id,
    code,
    file,
    line,
    message,
  })
  const [old, now] = [keyProblems(before), keyProblems(after)]
  return [
    ...missing(now, old).map(([, problem]) => ({
      type: 'problem_found' as const,
      payload: payload(problem),
    })),
    ...missing(old, now).map(([, problem]) => ({
      type: 'problem_cleared' as const,
      payload: payload(problem),
    })),
  ]
}

function keyProblems(problems: readonly Problem[]): Record<string, Problem> {
  return Object.fromEntries(
    problems.map((problem) => {
      const { code, file, message } = problem
      // the message of this problem changes with every proof
      return [code === 'proof_gate' ? code : `${code} ${file} ${message}`, problem]
    }),
  )
}

/** Returns the entries of `from` whose keys are not in `other`. */
function missing<T>(
  from: Record<string, T> | undefined,
  other: Record<string, unknown>,
): [string, T][] {
  return Object.entries(from ?? {}).filter(([key]) => !Object.hasOwn(other, key))
}

function same(a: ProofFacts, b: ProofFacts): boolean {
  return a.type === b.type && a.verified === b.verified && a.hash === b.hash
}
