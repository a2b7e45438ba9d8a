import type { HistoryEntry } from '../../model/history.ts'
import type { ActName } from '../../model/history-act.ts'
import { entryOf } from '../../model/history-derived.ts'
import type { Session } from '../../model/session.ts'
import type { ProofRow } from '../proof/data.ts'

/** One act, or a note. */
export interface ActItem {
  /** The position of the entry in the history, from 1: its anchor is `#history-<number>`. 0 for none. */
  number: number
  entry: HistoryEntry
  /** The proof that it is about. */
  proof: ProofRow | null
  /** It answers the question right before it, which need not be repeated. */
  isReply: boolean
}

/** A session with its acts, where the first of them was. */
export interface SessionItem {
  number: number
  /** Null if its file is gone. */
  session: Session | null
  acts: ActItem[]
}

export type TimelineItem = ActItem | SessionItem

interface TimelineParts {
  /** Oldest first. */
  history: readonly HistoryEntry[]
  /** Oldest first. */
  sessions: readonly Session[]
  proofs: readonly ProofRow[]
}

/**
 * The history of a case for its page, oldest first. Each session is one item, also one that the history does not mention.
 * In histories of older versions, a change of state that only follows from the act before it is left out.
 */
export function timelineItems({ history, sessions, proofs }: TimelineParts): TimelineItem[] {
  const items: TimelineItem[] = []
  const bySession = new Map<number, SessionItem>()
  let before: HistoryEntry | undefined
  history.forEach((entry, index) => {
    if (before && follows(entry, before)) return
    const { act } = entry
    const item: ActItem = {
      number: index + 1,
      entry,
      proof: act && 'proof' in act ? (proofs.find(hasId(act.proof)) ?? null) : null,
      isReply: entry.kind === 'answer' && before?.kind === 'question',
    }
    before = entry
    if (act === null || !('session' in act) || 'proof' in act) {
      items.push(item)
      return
    }
    const number = act.session
    const known = bySession.get(number)
    if (known) known.acts.push(item)
    else {
      const session = sessions.find((each) => each.number === number) ?? null
      const made = { number, session, acts: [item] }
      bySession.set(number, made)
      items.push(made)
    }
  })
  for (const session of sessions) if (!bySession.has(session.number)) insert(items, session)
  return items
}

export function isSession(item: TimelineItem): item is SessionItem {
  return 'acts' in item
}

const hasId =
  (beginning: string) =>
  ({ proof }: ProofRow) =>
    proof.id.startsWith(beginning)

/** Acts that move the case to another state. */
const MOVERS: readonly ActName[] = [
  'session_started',
  'plan_ready',
  'plan_approved',
  'queued',
  'queue_left',
  'approval_withdrawn',
  'work_begun',
  'run_ended',
  'answered',
]
/** The service writes both in one go. */
const SAME_MOMENT_MS = 1_000

function follows({ act, text, at }: HistoryEntry, before: HistoryEntry): boolean {
  if (act?.name !== 'state_changed' || text !== null || at === null) return false
  if (at.endsWith(':00.000Z')) return false
  if (!before.act || !MOVERS.includes(before.act.name) || before.at === null) return false
  return Math.abs(Date.parse(at) - Date.parse(before.at)) <= SAME_MOMENT_MS
}

/** For a session whose file came by git or by hand. */
function insert(items: TimelineItem[], session: Session): void {
  const { started_at, number, type, provider } = session
  const after = items.findIndex((item) => (timeOf(item) ?? '') > started_at)
  const act = { name: 'session_started', session: number, type, provider } as const
  const entry = entryOf(started_at, null, { act })
  const acts = [{ number: 0, entry, proof: null, isReply: false }]
  items.splice(after === -1 ? items.length : after, 0, { number, session, acts })
}

function timeOf(item: TimelineItem): string | null {
  return (isSession(item) ? item.acts[0]! : item).entry.at
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
