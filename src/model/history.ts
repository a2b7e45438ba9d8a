import { type CaseState, isCaseState } from './case-state.ts'

/** The memory file that says what happened to a case: one line for each act, oldest first. */
export const HISTORY_FILE = 'history.md'

/** From where a request came; what does not say is `api`. */
export const PLACES = ['console', 'terminal', 'mcp', 'import', 'api'] as const
export type Place = (typeof PLACES)[number]

export function isPlace(text: string): text is Place {
  return (PLACES as readonly string[]).includes(text)
}

/** Who makes a change. */
export interface Actor {
  who: string
  from: Place
}

/** What the service does without being asked. */
export const SERVICE_ACTOR: Actor = { who: 'casefile', from: 'api' }

/** One line of the history, before it is written. */
export interface Act {
  what: string
  text?: string | undefined
  /** If not given, the one who makes the change. */
  who?: string
  /** ISO 8601; if not given, now. */
  at?: string
}

export interface TimedAct extends Act {
  at: string
}

export const HISTORY_KINDS = [
  'created',
  'imported',
  'state',
  'question',
  'answer',
  'session',
  'plan',
  'sent_back',
  'approved',
  'run_ended',
  'proof',
  'edit',
  'deleted',
  'note',
] as const

export type HistoryKind = (typeof HISTORY_KINDS)[number]

/** One entry of the history as it is read. */
export interface HistoryEntry {
  /** ISO 8601; null for a note that names no time. */
  at: string | null
  /** Null for a note without a name, and if the files do not say. */
  who: string | null
  what: string
  text: string | null
  kind: HistoryKind
  /** The number of the session that is meant. */
  session: number | null
  /** False for what history.md does not say, and other files do. */
  recorded: boolean
}

const STATE_CHANGE = /^([A-Z_]+) → ([A-Z_]+)(?= |$)/

/** What each kind of act looks like; the first that fits counts. */
const SHAPES: [HistoryKind, RegExp][] = [
  ['created', /^created(?: by hand)?$/],
  ['imported', /^imported$/],
  ['answer', /^answered(?: ".*")?$/],
  ['sent_back', /^session \d+ plan sent back$/],
  ['approved', /^session \d+ approved (?:.* )?\(plan [0-9a-f]{12}\)$/],
  ['plan', /^session \d+ plan (?:ready|edited)\b/],
  ['run_ended', /^session \d+ (?:complete|failed|abandoned)$/],
  ['session', /^session \d+ started \(.*\)$/],
  ['deleted', /^(?:session \d+|a session|proof [0-9a-f]{8} \(.*\)) deleted by hand$/],
  ['proof', /^proof [0-9a-f]{8} \(.*\) (?:attached|verified|accepted|changed)\b/],
  ['edit', /^(?:edited|confirmed|added checklist item)\b/],
]

/** The kind of an act by its words; null for words that are none of the service's. */
export function kindOf(what: string): HistoryKind | null {
  const change = stateChange(what)
  if (change) return change.to === 'NEEDS_USER_INPUT' ? 'question' : 'state'
  return SHAPES.find(([, shape]) => shape.test(what))?.[0] ?? null
}

/** The states that a change of state names; null for any other act. */
export function stateChange(what: string): { from: CaseState; to: CaseState } | null {
  const [, from = '', to = ''] = STATE_CHANGE.exec(what) ?? []
  return isCaseState(from) && isCaseState(to) ? { from, to } : null
}

/** The newest change of state in entries that are in order. */
export function lastStateChange(
  entries: readonly HistoryEntry[],
): { from: CaseState; to: CaseState } | null {
  const last = entries.findLast(({ kind }) => kind === 'state' || kind === 'question')
  return last ? stateChange(last.what) : null
}

export function sessionIn(what: string): number | null {
  const [, number] = /\bsession (\d{1,6})\b/.exec(what) ?? []
  return number === undefined ? null : Number(number)
}
