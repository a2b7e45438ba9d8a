import type { CaseState } from './case-state.ts'
import { HISTORY_FILE } from './history.ts'
import type { Problem } from './problem.ts'

/**
 * What was last published of a case, small enough to be stored for each case: two of these, and nothing
 * else, decide which events a change makes.
 */
export interface CaseFacts {
  /** The shown state; null while its file could never be read. */
  state: CaseState | null
  /** A hash of the other fields, the description and the checklist. */
  fields: string
  /** By proof id. */
  proofs: Record<string, ProofFacts>
  /** By session id: the number of the last trail line. */
  sessions: Record<string, number>
  /** By session id: the number in the name of its file; an older log has none. */
  files?: Record<string, number>
  /** By file name. */
  notes: Record<string, NoteFacts>
  problems: Problem[]
}

export interface ProofFacts {
  type: string
  verified: boolean
  /** Of the file's bytes. */
  hash: string
}

export interface NoteFacts {
  hash: string
}

/** Who made a change: a request, a person or a program that edits files (git is one), or anybody while no service ran. */
export type ChangeSource = 'service' | 'editor' | 'offline'

export type CaseEvent =
  | { type: string; payload: Record<string, unknown> }
  /** The lines of this session's trail behind number `after`. */
  | { session_id: string; after: number }

/**
 * The events of a change, in the order in which they are sent; null is a case that did not exist before, or does not exist any more.
 * `wrote` names the memory files that a request has just written: each has its event, also where the file was
 * put back to what it was, or deleted, before anybody read it. `isOwnHistory`: history.md has other lines than before,
 * and the service wrote them all.
 */
export function caseEvents(
  case_id: string,
  before: CaseFacts | null,
  after: CaseFacts | null,
  source: ChangeSource,
  { wrote = [], isOwnHistory = false }: { wrote?: readonly string[]; isOwnHistory?: boolean } = {},
): CaseEvent[] {
  const event = (type: string, payload: object = {}): CaseEvent => ({
    type,
    payload: { case_id, ...payload },
  })
  if (!after) {
    const written = wrote.map((filename) => event('memory_updated', { filename }))
    const cleared = problemEvents(case_id, before?.problems ?? [], [])
    return [...written, ...cleared, ...(before?.state ? [event('case_deleted')] : [])]
  }
  const events: CaseEvent[] = []
  const was = before?.state ?? null
  if (after.state && !was) events.push(event('case_created'))
  if (after.state && was && after.state !== was) {
    events.push(event('case_state_changed', { old_state: was, new_state: after.state }))
  }
  if (was && after.fields !== before?.fields) events.push(event('case_updated'))
  for (const [proof_id, is] of Object.entries(after.proofs)) {
    const old = before?.proofs[proof_id]
    const named = { proof_id, proof_type: is.type }
    if (!old) events.push(event('proof_created', named))
    if (old ? !same(old, is) : is.verified) {
      events.push(event('proof_updated', { ...named, verified: is.verified }))
    }
  }
  for (const [proof_id, { type }] of missing(before?.proofs, after.proofs)) {
    events.push(event('proof_updated', { proof_id, proof_type: type, verified: false }))
  }
  for (const filename of changedNotes(before?.notes ?? {}, after.notes, wrote)) {
    // a line that the service wrote reports an act that has its event
    const isOwn = filename === HISTORY_FILE && (source === 'service' || isOwnHistory)
    if (isOwn && !wrote.includes(filename)) continue
    events.push(event('memory_updated', { filename }))
  }
  // the lines that another machine or a person brought are no news of this service
  if (source === 'service' || source === 'offline') {
    for (const [session_id, last] of Object.entries(after.sessions)) {
      const published = before?.sessions[session_id] ?? 0
      if (last > published) events.push({ session_id, after: published })
    }
  }
  return [...events, ...problemEvents(case_id, before?.problems ?? [], after.problems)]
}

/** The memory files that were written, changed or removed, each once. */
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

/** One event for each problem that came or went; one that only moved to another line is the same one. */
export function problemEvents(
  case_id: string | null,
  before: readonly Problem[],
  after: readonly Problem[],
): { type: string; payload: Record<string, unknown> }[] {
  const event = (type: string, { code, file, line, message }: Problem) => ({
    type,
    payload: { case_id, code, file, line, message },
  })
  const [old, now] = [byPlace(before), byPlace(after)]
  return [
    ...missing(now, old).map(([, problem]) => event('problem_found', problem)),
    ...missing(old, now).map(([, problem]) => event('problem_cleared', problem)),
  ]
}

function byPlace(problems: readonly Problem[]): Record<string, Problem> {
  return Object.fromEntries(
    problems.map((problem) => {
      const { code, file, message } = problem
      // what the gate still misses changes with every proof
      return [code === 'proof_gate' ? code : `${code} ${file} ${message}`, problem]
    }),
  )
}

/** The entries of `from` that `of` does not have. */
function missing<T>(
  from: Record<string, T> | undefined,
  of: Record<string, unknown>,
): [string, T][] {
  return Object.entries(from ?? {}).filter(([key]) => !Object.hasOwn(of, key))
}

function same(a: ProofFacts, b: ProofFacts): boolean {
  return a.type === b.type && a.verified === b.verified && a.hash === b.hash
}
