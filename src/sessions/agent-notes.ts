import { plainText } from '../files/plain-text.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentNote } from '../runners/contract.ts'
import type { Redactor } from './redaction.ts'

/** An agent that calls tools endlessly must not fill the audit trail, which is read as a whole. */
const MAX_NOTES = 400
/** A separate limit, so that denials are not lost behind a long list of calls. */
const MAX_DENIED = 100
const MAX_RETRIES = 100
const MAX_TEXT = 300
const MAX_ENTRIES = 40
/** A run normally has one agent conversation; another one starts if the agent cannot resume. */
const MAX_SESSIONS = 4

export interface BoundedNotes {
  /** The audit trail's lines for a note: one, or none if the limit was reached. */
  lines(note: AgentNote): NewTrailLine[]
  /** One line that says how many notes were left out. */
  rest(): NewTrailLine[]
}

/** Turns an agent's notes into audit trail lines: shortened, without secrets, and limited in number. */
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

  /** A usage line comes once per run and is always recorded. */
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
      return [{ event, fields: bounded(fields) } as NewTrailLine]
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
