import { plainText } from '../files/plain-text.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentNote } from '../runners/contract.ts'
import type { Redactor } from './redaction.ts'

/** A trail is for people, and is read whole: an agent that calls tools without end must not swell it. */
const MAX_NOTES = 400
/** Counted apart: what was refused must not be lost behind a long list of calls. */
const MAX_DENIED = 100
const MAX_RETRIES = 100
const MAX_TEXT = 300
const MAX_ENTRIES = 40
/** An agent has one conversation, and a new one where it cannot go on with an earlier one. */
const MAX_SESSIONS = 4

export interface BoundedNotes {
  /** The trail's lines for a note: one, or none where there were too many already. */
  lines(note: AgentNote): NewTrailLine[]
  /** What there was besides, in one line. */
  rest(): NewTrailLine[]
}

/** An agent's notes as lines of a trail: short texts, no secrets, and not too many. */
export function boundedNotes(redactor: Pick<Redactor, 'text'>): BoundedNotes {
  let listed = 0
  let denied = 0
  let sessions = 0
  let retries = 0
  const unlisted: Record<string, number> = {}

  function bounded(value: unknown): unknown {
    if (typeof value === 'string') return shortened(redactor.text(plainText(value)))
    if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(bounded)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, bounded(item)]),
    )
  }

  /** What a run used is one line, and always counts. */
  function isTooMuch(event: AgentNote['event']): boolean {
    if (event === 'agent_usage') return false
    if (event === 'agent_session') return ++sessions > MAX_SESSIONS
    if (event === 'denied') return ++denied > MAX_DENIED
    return event === 'agent_retry' ? ++retries > MAX_RETRIES : ++listed > MAX_NOTES
  }

  return {
    lines({ event, fields }) {
      if (isTooMuch(event)) {
        unlisted[event] = (unlisted[event] ?? 0) + 1
        return []
      }
      return [{ event, fields: bounded(fields) as Record<string, unknown> }]
    },
    rest() {
      const counts = { ...unlisted }
      for (const event of Object.keys(unlisted)) delete unlisted[event]
      if (Object.keys(counts).length === 0) return []
      return [{ event: 'notes_unlisted', fields: counts }]
    },
  }
}

function shortened(text: string): string {
  if (text.length <= MAX_TEXT) return text
  return `${text.slice(0, MAX_TEXT).toWellFormed()}…`
}
