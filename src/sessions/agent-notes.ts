import { plainText } from '../files/plain-text.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { AgentNote } from '../runners/contract.ts'
import { mapTexts, type Redactor } from './redaction.ts'

/** An agent that calls tools endlessly must not fill the audit trail, which is read as a whole. */
const MAX_NOTES = 400
/** A separate limit, so that denials are not lost behind a long list of calls. */
const MAX_DENIED = 100
const MAX_RETRIES = 100
const MAX_TEXT = 300
const MAX_ENTRIES = 40
/** A run normally has one agent conversation; another one starts if the agent cannot resume. */
const MAX_SESSIONS = 4

interface BoundedNotes {
  /** The audit trail's lines for a note: one, or none for the start of a call or if the limit was reached. */
  lines(note: AgentNote): NewTrailLine[]
  /** The lines of calls that have not ended, and one that says how many notes were left out. */
  rest(): NewTrailLine[]
}

/** A call of a tool has one line when it has ended, or when the run has ended before it. */
function createOpenCalls() {
  let open: AgentNote[] = []
  const isOf = (tool: string, title?: string) => (note: AgentNote) =>
    note.event === 'tool_call' &&
    note.fields.tool === tool &&
    (title === undefined || note.fields.title === title)
  return {
    /** Returns false for the start of a call, which waits for its end. */
    hasEnded(note: AgentNote): boolean {
      if (note.event !== 'tool_call') return true
      const { status, tool, title } = note.fields
      if (status === 'pending' || status === 'in_progress') return open.push(note) === 0
      // an agent may say more of a call at its end than at its start
      const started = open.find(isOf(tool, title)) ?? open.find(isOf(tool))
      open = open.filter((each) => each !== started)
      return true
    },
    takeRest: () => open.splice(0),
  }
}

/** Turns an agent's notes into audit trail lines: shortened, without secrets, and limited in number. */
export function boundedNotes(redactor: Pick<Redactor, 'text'>): BoundedNotes {
  let listed = 0
  let denied = 0
  let sessions = 0
  let retries = 0
  const unlisted: Record<string, number> = {}
  const calls = createOpenCalls()

  const bounded = (text: string) => shortened(redactor.text(plainText(text)))

  /** A usage line comes once per run and is always recorded. */
  function isTooMuch(event: AgentNote['event']): boolean {
    if (event === 'agent_usage') return false
    if (event === 'agent_session') return ++sessions > MAX_SESSIONS
    if (event === 'denied' || event === 'asked') return ++denied > MAX_DENIED
    return event === 'agent_retry' ? ++retries > MAX_RETRIES : ++listed > MAX_NOTES
  }

  function linesOf({ event, fields }: AgentNote): NewTrailLine[] {
    if (isTooMuch(event)) {
      unlisted[event] = (unlisted[event] ?? 0) + 1
      return []
    }
    return [{ event, fields: mapTexts(fields, bounded, MAX_ENTRIES) } as NewTrailLine]
  }

  return {
    lines: (note) => (calls.hasEnded(note) ? linesOf(note) : []),
    rest() {
      const lines = calls.takeRest().flatMap(linesOf)
      const counts = { ...unlisted }
      for (const event of Object.keys(unlisted)) delete unlisted[event]
      if (Object.keys(counts).length > 0) lines.push({ event: 'notes_unlisted', fields: counts })
      return lines
    },
  }
}

function shortened(text: string): string {
  if (text.length <= MAX_TEXT) return text
  return `${text.slice(0, MAX_TEXT).toWellFormed()}…`
}
