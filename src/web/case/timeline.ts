import type { HistoryEntry } from '../../model/history.ts'
import type { HistoryAct, HistoryKind } from '../../model/history-act.ts'
import { entryOf } from '../../model/history-derived.ts'
import type { Session } from '../../model/session.ts'
import type { ProofRow } from '../proof/data.ts'

/** An entry of the history as the page of the case shows it. */
export interface TimelineItem {
  /** The position of the entry in the history, from 1: its anchor is `#history-<number>`. */
  number: number
  entry: HistoryEntry
  /** The change of the case's state that came with it. */
  change: StateChange | null
  /** The session that it starts. */
  session: Session | null
  /** The proof that it attaches or verifies. */
  proof: ProofRow | null
  /** It answers the question right before it, which need not be repeated. */
  isReply: boolean
}

interface TimelineParts {
  /** Oldest first. */
  history: readonly HistoryEntry[]
  sessions: readonly Session[]
  proofs: readonly ProofRow[]
}

/**
 * The history of a case for its page, oldest first. A change of state that only follows from the act before it becomes
 * part of that act, and every session is in it, even one that the history does not mention.
 */
export function timelineItems({ history, sessions, proofs }: TimelineParts): TimelineItem[] {
  const items: TimelineItem[] = []
  const unseen = new Map(sessions.map((session) => [session.number, session]))
  history.forEach((entry, index) => {
    const before = items.at(-1)
    if (before && follows(entry, before)) {
      before.change = changeOf(entry)
      return
    }
    const started = entry.kind === 'session' ? unseen.get(entry.session!) : undefined
    if (started) unseen.delete(started.number)
    items.push({
      number: index + 1,
      entry,
      change: changeOf(entry),
      session: started ?? null,
      proof: entry.kind === 'proof' ? proofIn(entry.what, proofs) : null,
      isReply: entry.kind === 'answer' && before?.entry.kind === 'question',
    })
  })
  for (const session of unseen.values()) insert(items, session)
  return items
}

type StateChange = Pick<Extract<HistoryAct, { name: 'state_changed' }>, 'from' | 'to'>

function changeOf({ act }: HistoryEntry): StateChange | null {
  return act?.name === 'state_changed' ? act : null
}

/** Acts that move the case to another state. */
const MOVERS: readonly HistoryKind[] = [
  'session',
  'approved',
  'queue',
  'run_ended',
  'answer',
  'plan',
]
/** The service writes both in one go. */
const SAME_MOMENT_MS = 1_000

function follows({ kind, text, at }: HistoryEntry, { entry, change }: TimelineItem): boolean {
  if (kind !== 'state' || text !== null || change || !MOVERS.includes(entry.kind)) return false
  if (at === null || entry.at === null) return false
  return Math.abs(Date.parse(at) - Date.parse(entry.at)) <= SAME_MOMENT_MS
}

function proofIn(what: string, proofs: readonly ProofRow[]): ProofRow | null {
  const [, id] = /^proof ([0-9a-f]{8}) /.exec(what) ?? []
  if (id === undefined) return null
  return proofs.find(({ proof }) => proof.id.startsWith(id)) ?? null
}

/** For a session whose file came by git or by hand. */
function insert(items: TimelineItem[], session: Session): void {
  const { started_at: at, number, type, provider } = session
  const after = items.findIndex(({ entry }) => entry.at !== null && entry.at > at)
  const act = { name: 'session_started', session: number, type, provider } as const
  const entry = entryOf(at, null, { act })
  const item = { number: 0, entry, change: null, session, proof: null, isReply: false }
  items.splice(after === -1 ? items.length : after, 0, item)
}

/** What the timeline can be narrowed to. */
export const TIMELINE_FILTERS = {
  decisions: {
    label: 'Decisions',
    kinds: ['created', 'imported', 'state', 'question', 'answer', 'sent_back', 'approved', 'note'],
  },
  sessions: {
    label: 'Sessions',
    kinds: ['session', 'plan', 'sent_back', 'approved', 'queue', 'run_ended', 'worktree'],
  },
  proof: {
    label: 'Proof',
    kinds: ['proof'],
  },
} as const satisfies Record<string, { label: string; kinds: readonly HistoryKind[] }>

export type TimelineFilter = keyof typeof TIMELINE_FILTERS

export function isTimelineFilter(text: string | undefined): text is TimelineFilter {
  return text !== undefined && Object.hasOwn(TIMELINE_FILTERS, text)
}

export function filterTimeline(
  items: readonly TimelineItem[],
  filter: TimelineFilter | null,
): readonly TimelineItem[] {
  if (filter === null) return items
  const kinds: readonly HistoryKind[] = TIMELINE_FILTERS[filter].kinds
  return items.filter(({ entry }) => kinds.includes(entry.kind))
}

const FIRST = 5
const LAST = 25
/** More would make the page slow; older ones are in the file. */
const MAX_FOLDED = 300

interface FoldedTimeline {
  first: readonly TimelineItem[]
  /** Behind a click. */
  folded: readonly TimelineItem[]
  /** How many between `first` and `folded` are only in the file. */
  left: number
  last: readonly TimelineItem[]
}

/** The beginning and the end of a long timeline; what is between them is folded. */
export function foldTimeline(items: readonly TimelineItem[]): FoldedTimeline {
  if (items.length <= FIRST + LAST + 10) return { first: items, folded: [], left: 0, last: [] }
  const middle = items.slice(FIRST, -LAST)
  const folded = middle.slice(-MAX_FOLDED)
  return {
    first: items.slice(0, FIRST),
    folded,
    left: middle.length - folded.length,
    last: items.slice(-LAST),
  }
}
