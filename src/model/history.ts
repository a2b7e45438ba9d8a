import { type CaseState, isSessionType, type SessionMilestone, stateAfter } from './case-state.ts'
import { CHANNELS, type Channel } from './channels.ts'
import type { HistoryAct, HistoryKind } from './history-act.ts'

/** The memory file with the history of a case: one line for each act, oldest first. */
export const HISTORY_FILE = 'history.md'

/** Who makes a change. */
export interface Actor {
  who: string
  from: Channel
}

/** Reads who approved a plan, and where, from its audit line. Older lines have only `approved_via`. */
export function approverIn(fields: Readonly<Record<string, unknown>>): {
  by: string | null
  via: Channel | null
} {
  const { by, via = fields.approved_via } = fields
  return {
    by: typeof by === 'string' ? by : null,
    via: CHANNELS.find((place) => place === via) ?? null,
  }
}

/** The service itself, without a request. */
export const SERVICE_ACTOR: Actor = { who: 'casefile', from: 'api' }

/** A history entry before it is written. */
export interface Act {
  act: HistoryAct
  text?: string | undefined
  /** The actor of the change, if not given. */
  who?: string
  /** ISO 8601; the current time if not given. */
  at?: string
}

export interface TimedAct extends Act {
  at: string
}

/** A history entry as read from the file. */
export interface HistoryEntry {
  /** ISO 8601, to the minute; null for a note without a time. Lines of older versions have milliseconds. */
  at: string | null
  /** Null for a note without a name, or if unknown. */
  who: string | null
  /** The sentence of its act without the text, or the note. */
  what: string
  text: string | null
  kind: HistoryKind
  /** What it says, as a value; null for a note. */
  act: HistoryAct | null
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

/**
 * Returns the state of the case after entries in order; null if no line sets one. The lines of a session move the case as
 * the session did.
 */
export function stateAfterEntries(entries: readonly HistoryEntry[]): CaseState | null {
  let state: CaseState | null = null
  const types = new Map<number, string>()
  entries.forEach(({ act, session }, index) => {
    if (act?.name === 'state_changed' || act?.name === 'answered') state = act.to ?? state
    if (act?.name === 'session_started') types.set(act.session, act.type)
    const milestone = act && milestoneOf(act)
    const isQueued = act?.name === 'plan_approved' && entries[index + 1]?.act?.name === 'queued'
    const type = types.get(session ?? 0)
    if (state && milestone && !isQueued && type && isSessionType(type))
      state = stateAfter(milestone, type, state)
  })
  return state
}

function milestoneOf(act: HistoryAct): SessionMilestone | null {
  if (act.name === 'session_started') return 'created'
  if (act.name === 'plan_approved' || act.name === 'work_begun') return 'approved'
  return act.name === 'run_ended' && act.state === 'complete' ? 'completed' : null
}

/** Times in the history are exact to the minute. */
export function compareMinutes(one: string, other: string): number {
  const [a, b] = [one.slice(0, MINUTE), other.slice(0, MINUTE)]
  return a < b ? -1 : a > b ? 1 : 0
}

const MINUTE = 'yyyy-mm-ddThh:mm'.length

/** Whether an entry says what was done at a time; its line may have details that other files do not. */
export function isEntryOf(entry: HistoryEntry, act: HistoryAct, time: string): boolean {
  if (entry.at === null || compareMinutes(entry.at, time) !== 0 || !entry.act) return false
  return subjectOf(entry.act) === subjectOf(act)
}

function subjectOf(act: HistoryAct): string {
  const { session, proof, hash, state, fields } = act as unknown as Record<string, unknown>
  const name = act.name === 'proof_accepted' ? 'proof_verified' : act.name
  return JSON.stringify(proof ? [name, proof] : [name, session, hash, state, fields])
}
