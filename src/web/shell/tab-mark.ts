import type { Attention, AttentionKind } from '../../model/attention.ts'
import type { Session } from '../../model/session.ts'
import { lineInQueue } from '../../model/trail.ts'

/** What a tab says before the title of its page, so that it need not be opened to see it. */
export interface TabMark {
  kind: keyof typeof MARKS
  text: string
}

export const MARKS = { waits: '●', running: '▶', failed: '✗' } as const

const OF_CASE: Partial<Record<AttentionKind, TabMark>> = {
  plan: { kind: 'waits', text: 'plan ready' },
  question: { kind: 'waits', text: 'question' },
  blocked: { kind: 'waits', text: 'blocked' },
  problem: { kind: 'waits', text: 'problem' },
  failed: { kind: 'failed', text: 'failed' },
  running: { kind: 'running', text: 'running' },
  proof: { kind: 'waits', text: 'to verify' },
}

export function markOfCase(attention: Attention | null): TabMark | null {
  return (attention && OF_CASE[attention.kind]) ?? null
}

/** With the steps of its plan, in their order. */
export function markOfSession(
  { state, trail }: Pick<Session, 'state' | 'trail'>,
  rows: readonly { state: string; plan: unknown }[],
  hasEnded: boolean,
): TabMark | null {
  switch (state) {
    case 'created':
    case 'planning':
      return { kind: 'running', text: 'planning' }
    case 'plan_ready':
      return { kind: 'waits', text: 'plan ready' }
    case 'approved':
    case 'executing': {
      if (lineInQueue(trail)) return { kind: 'running', text: 'in line' }
      const steps = rows.filter(({ plan }) => plan !== null)
      const begun = steps.filter((step) => step.state !== 'will_run').length
      return { kind: 'running', text: begun === 0 ? 'running' : `${begun}/${steps.length}` }
    }
    case 'failed':
      return { kind: 'failed', text: 'failed' }
    case 'complete':
      return hasEnded ? null : { kind: 'waits', text: 'to verify' }
    default:
      return null
  }
}
