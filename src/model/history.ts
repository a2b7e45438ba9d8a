import { type CaseState, isCaseState } from './case-state.ts'

/** The memory file with the history of a case: one line for each act, oldest first. */
export const HISTORY_FILE = 'history.md'

/** Where a request comes from; `api` if it does not say. */
export const CLIENTS = ['console', 'terminal', 'mcp', 'import', 'api'] as const
export type Client = (typeof CLIENTS)[number]

export function isClient(text: string): text is Client {
  return (CLIENTS as readonly string[]).includes(text)
}

/**
 * Where a change comes from. `agent`: a person answered in the dialog of an agent that they run themselves. `standing`: a
 * standing intent.
 */
export const PLACES = [...CLIENTS, 'agent', 'standing'] as const
export type Place = (typeof PLACES)[number]

/** Who makes a change. */
export interface Actor {
  who: string
  from: Place
}

/** Reads who approved a plan, and where, from its audit line. Older lines have only `approved_via`. */
export function approverIn(fields: Readonly<Record<string, unknown>>): {
  by: string | null
  via: Place | null
} {
  const { by, via = fields.approved_via } = fields
  return {
    by: typeof by === 'string' ? by : null,
    via: PLACES.find((place) => place === via) ?? null,
  }
}

/** The service itself, without a request. */
export const SERVICE_ACTOR: Actor = { who: 'casefile', from: 'api' }

/** A history entry before it is written. */
export interface Act {
  what: string
  text?: string | undefined
  /** The actor of the change, if not given. */
  who?: string
  /** ISO 8601; the current time if not given. */
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
  'queue',
  'worktree',
  'run_ended',
  'proof',
  'edit',
  'deleted',
  'note',
] as const

export type HistoryKind = (typeof HISTORY_KINDS)[number]

/** A history entry as read from the file. */
export interface HistoryEntry {
  /** ISO 8601; null for a note without a time. */
  at: string | null
  /** Null for a note without a name, or if unknown. */
  who: string | null
  what: string
  text: string | null
  kind: HistoryKind
  /** The number of the session concerned. */
  session: number | null
  /** Whether Casefile wrote its line on this machine. */
  recorded: boolean
  /**
   * Where the entry comes from: the service on this machine, a commit, only the file (which anyone can edit), or other
   * files of the case. Unknown before the first line that the service wrote here.
   */
  source: HistorySource
}

export const HISTORY_SOURCES = ['service', 'git', 'file', 'unknown', 'derived'] as const
export type HistorySource = (typeof HISTORY_SOURCES)[number]

/** What to say beside the name of an act whose line Casefile did not write here; null if it did. */
export function doubtText({ source, kind }: Pick<HistoryEntry, 'source' | 'kind'>): string | null {
  if (kind === 'note') return null
  return source === 'file' ? '(not recorded by Casefile)' : source === 'git' ? '(by git)' : null
}

const STATE_CHANGE = /^([A-Z_]+) → ([A-Z_]+)(?= |$)/

/** The text of each kind of act; the first match counts. */
const SHAPES: [HistoryKind, RegExp][] = [
  ['created', /^created(?: by hand)?$/],
  ['imported', /^imported$/],
  ['answer', /^answered(?: ".*")?$/],
  ['sent_back', /^session \d+ plan sent back(?: \(\d+ comments?\))?$/],
  ['approved', /^session \d+ approved (?:.* )?\(plan [0-9a-f]{12}\)$/],
  ['plan', /^session \d+ plan (?:ready|edited)\b/],
  ['run_ended', /^session \d+ (?:complete|failed|abandoned)$/],
  [
    'queue',
    /^session \d+ (?:waits in line|begins to work after waiting in line|left the line|approval withdrawn)$/,
  ],
  ['worktree', /^session \d+ (?:applied \(commit [0-9a-f]{12}\)|worktree discarded)$/],
  ['session', /^session \d+ started \(.*\)$/],
  ['deleted', /^(?:session \d+|a session|proof [0-9a-f]{8} \(.*\)) deleted by hand$/],
  ['proof', /^proof [0-9a-f]{8} \(.*\) (?:attached|verified|accepted|changed)\b/],
  ['edit', /^(?:edited|confirmed|added checklist item|session \d+ renumbered from)\b/],
]

/** Returns the kind of an act by its text; null for text that the service does not write. */
export function kindOf(what: string): HistoryKind | null {
  const change = parseStateChange(what)
  if (change) return change.to === 'NEEDS_USER_INPUT' ? 'question' : 'state'
  return SHAPES.find(([, shape]) => shape.test(what))?.[0] ?? null
}

/** The commit that applied the work of a session, as 12 digits; null for any other act. */
export function appliedCommit(what: string): string | null {
  return /^session \d+ applied \(commit ([0-9a-f]{12})\)$/.exec(what)?.[1] ?? null
}

/** Parses the text of a state change; null for any other act. */
export function parseStateChange(what: string): { from: CaseState; to: CaseState } | null {
  const [, from = '', to = ''] = STATE_CHANGE.exec(what) ?? []
  return isCaseState(from) && isCaseState(to) ? { from, to } : null
}

/** Returns the newest state change of entries in order. */
export function lastStateChange(
  entries: readonly HistoryEntry[],
): { from: CaseState; to: CaseState } | null {
  const last = entries.findLast(({ kind }) => kind === 'state' || kind === 'question')
  return last ? parseStateChange(last.what) : null
}

export function sessionIn(what: string): number | null {
  const [, number] = /\bsession (\d{1,6})\b/.exec(what) ?? []
  return number === undefined ? null : Number(number)
}
