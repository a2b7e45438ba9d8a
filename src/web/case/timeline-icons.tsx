import type { TimelineItem } from './timeline.ts'

/** Strokes in a square of 16. */
const PATHS = {
  created: 'M8 3v10M3 8h10',
  state: 'M3 8h9M8.5 4.5 12 8l-3.5 3.5',
  resolved: 'M3.5 8.5 6.5 11.5 12.5 5',
  question: 'M5.7 6a2.3 2.3 0 1 1 3.4 2c-.8.5-1.1.9-1.1 1.8M8 12.2v.3',
  answer: 'M3 4h10v6.5H8L5.2 13v-2.5H3z',
  session: 'M5.5 3.7v8.6L12.3 8z',
  plan: 'M4 2.5h5.5l2.5 2.6v8.4H4zM6.3 7h3.5M6.3 9.8h3.5',
  sent_back: 'M6.5 4 3 7.5 6.5 11M3.3 7.5H10a3 3 0 0 1 3 3v1.5',
  approved: 'M3.5 8.5 6.5 11.5 12.5 5',
  queue: 'M3 5h6M3 8h6M3 11h6M11.5 4v8M10 10.5l1.5 1.5 1.5-1.5',
  worktree: 'M5 3v10M5 9.5c4 0 6-1.5 6-5.5M9 6l2-2 2 2',
  complete: 'M3.5 8.5 6.5 11.5 12.5 5',
  failed: 'M4.5 4.5l7 7M11.5 4.5l-7 7',
  stopped: 'M5 5h6v6H5z',
  proof: 'M8 2.3 13 4v4.2c0 2.8-2.2 4.6-5 5.6-2.8-1-5-2.8-5-5.6V4zM5.8 8l1.6 1.6 2.9-3.2',
  edit: 'M3 13l.7-2.8 7-7 2.1 2.1-7 7z',
  deleted: 'M3.5 4.5h9M6.5 4.3V2.8h3v1.5M5 4.5l.6 8.7h4.8l.6-8.7',
  note: 'M3 4h10v6.5H8L5.2 13v-2.5H3z',
} as const

type IconName = keyof typeof PATHS
type Tone = 'good' | 'warn' | 'bad' | 'active' | 'muted'

/** The shapes, once per page; `TimelineIcon` shows one of them. */
export function TimelineIcons() {
  return (
    <svg class="icon-shapes" aria-hidden="true">
      {Object.entries(PATHS).map(([name, path]) => (
        <symbol id={`timeline-${name}`} viewBox="0 0 16 16">
          <path d={path} />
        </symbol>
      ))}
    </svg>
  )
}

export function TimelineIcon({ item }: { item: TimelineItem }) {
  const { name, tone } = iconOf(item)
  return (
    <span class="timeline-icon" data-tone={tone}>
      <svg class="icon" aria-hidden="true">
        <use href={`#timeline-${name}`} />
      </svg>
    </span>
  )
}

function iconOf({ entry: { kind, what }, change, proof }: TimelineItem): {
  name: IconName
  tone: Tone
} {
  switch (kind) {
    case 'created':
    case 'imported':
      return { name: 'created', tone: 'muted' }
    case 'state':
      return change?.to === 'RESOLVED'
        ? { name: 'resolved', tone: 'good' }
        : { name: 'state', tone: change?.to === 'BLOCKED' ? 'bad' : 'muted' }
    case 'question':
      return { name: 'question', tone: 'warn' }
    case 'session':
      return { name: 'session', tone: 'active' }
    case 'sent_back':
      return { name: 'sent_back', tone: 'warn' }
    case 'approved':
      return { name: 'approved', tone: 'good' }
    case 'worktree':
      return { name: 'worktree', tone: what.endsWith(' discarded') ? 'muted' : 'good' }
    case 'run_ended':
      if (what.endsWith(' failed')) return { name: 'failed', tone: 'bad' }
      if (what.endsWith(' abandoned')) return { name: 'stopped', tone: 'muted' }
      return { name: 'complete', tone: 'good' }
    case 'proof':
      return { name: 'proof', tone: proof?.verified ? 'good' : proof?.objection ? 'bad' : 'muted' }
    case 'comment':
      return { name: 'note', tone: 'muted' }
    default:
      return { name: kind, tone: 'muted' }
  }
}
