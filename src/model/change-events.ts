/** The events of a change. */

import type { ChangeSource, Changes } from './changes.ts'
import type { ChangeName, EventFields } from './events.ts'
import { HISTORY_FILE } from './history.ts'
import type { Problem } from './problem.ts'

/** A change of a case or the workspace, before it has a time. */
export type ChangeEvent<Names extends ChangeName = ChangeName> = {
  [Name in Names]: { type: Name; payload: EventFields<Name> }
}[Names]

export type CaseEvent =
  | ChangeEvent
  /** The audit lines of this session after number `after`. */
  | { session_id: string; after: number }

/**
 * Returns the events of a change, in the order in which they are sent. `wrote` names the memory files that a request
 * has just written: each gets its event even if it was restored or deleted before it was read.
 */
export function eventsOf(
  changes: Changes,
  source: ChangeSource,
  wrote: readonly string[] = [],
): CaseEvent[] {
  const { caseId: case_id, before, after } = changes
  const problems = problemEvents(case_id, changes)
  const memoryUpdated = (filename: string): ChangeEvent => {
    return { type: 'memory_updated', payload: { case_id, filename } }
  }
  if (!after) {
    const gone: CaseEvent[] = before?.state ? [{ type: 'case_deleted', payload: { case_id } }] : []
    return [...wrote.map(memoryUpdated), ...problems, ...gone]
  }
  const events: CaseEvent[] = []
  if (after.state && !before?.state) events.push({ type: 'case_created', payload: { case_id } })
  if (changes.state) {
    const { from: old_state, to: new_state } = changes.state
    events.push({ type: 'case_state_changed', payload: { case_id, old_state, new_state } })
  }
  if (changes.fields.length > 0) events.push({ type: 'case_updated', payload: { case_id } })
  for (const { id: proof_id, type: proof_type, verified, done } of changes.proofs) {
    const named = { case_id, proof_id, proof_type }
    if (done === 'attached') events.push({ type: 'proof_created', payload: named })
    if (done !== 'attached' || verified)
      events.push({ type: 'proof_updated', payload: { ...named, verified } })
  }
  for (const filename of new Set([...changes.notes, ...wrote])) {
    // a history line of the service describes an act that has its own event; a new case comes with its history
    const isOwn = filename === HISTORY_FILE && (source === 'service' || !before)
    if (!isOwn || wrote.includes(filename)) events.push(memoryUpdated(filename))
  }
  // audit lines from another machine or a person cause no events here
  if (source !== 'editor') events.push(...changes.lines)
  return [...events, ...problems, ...attentionEvents(changes, source)]
}

/** One event per cause. What a session of another machine waits for was published there. */
function attentionEvents(
  { caseId: case_id, before, after }: Changes,
  source: ChangeSource,
): ChangeEvent<'attention_needed'>[] {
  if (!after?.waiting || !after.state) return []
  const { key, cause, ...what } = after.waiting
  if (source === 'editor' && what.session_id !== null) return []
  if (before?.causes[key] === cause) return []
  return [{ type: 'attention_needed', payload: { case_id, title: after.case.title, ...what } }]
}

export function problemEvents(
  case_id: string | null,
  { found, cleared }: Pick<Changes, 'found' | 'cleared'>,
): ChangeEvent<'problem_found' | 'problem_cleared'>[] {
  const eventOf =
    <T extends 'problem_found' | 'problem_cleared'>(type: T) =>
    ({ code, file, line, message }: Problem) => ({
      type,
      payload: {
        case_id,
        code,
        file,
        line,
        message,
      },
    })
  return [...found.map(eventOf('problem_found')), ...cleared.map(eventOf('problem_cleared'))]
}
