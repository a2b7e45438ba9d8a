import type { CaseState } from './case-state.ts'
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
  /** ISO 8601; null for a note without a time. */
  at: string | null
  /** Null for a note without a name, or if unknown. */
  who: string | null
  /** The text of its act, or the note. */
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

/** Returns the newest state change of entries in order. */
export function lastStateChange(
  entries: readonly HistoryEntry[],
): { from: CaseState; to: CaseState } | null {
  for (const { act } of entries.toReversed()) if (act?.name === 'state_changed') return act
  return null
}
