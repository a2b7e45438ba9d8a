import type { TrailLine } from './trail.ts'
import { NO_COUNTS, readUsage, type UsageCounts, usageTotal } from './usage.ts'

/** One run of an agent in a session: planning, planning again after a revision, or work. */
export interface RunUsage extends UsageCounts {
  mode: 'plan' | 'work'
  /** When the run began. */
  started_at: string
  /** Several models are joined by commas, the one with most tokens first. */
  model: string | null
}

/** Returns the agent runs in an audit trail, oldest first. A run without reported usage has nulls. */
export function sessionUsage(trail: readonly TrailLine[]): RunUsage[] {
  const runs: RunUsage[] = []
  let isOpen = false
  for (const { event, time, fields } of trail) {
    if (event !== 'agent_started' && event !== 'agent_usage') continue
    if (event === 'agent_started' || !isOpen) {
      const mode = fields.mode === 'work' ? 'work' : 'plan'
      runs.push({ mode, started_at: time, model: null, ...NO_COUNTS })
    }
    isOpen = event === 'agent_started'
    if (event === 'agent_usage') Object.assign(runs.at(-1)!, readUsage(fields))
  }
  return runs
}

/** Returns the usage so far of the conversation that the audit trail had last. */
export function conversationUsage(trail: readonly TrailLine[]): UsageCounts {
  const byConversation = new Map<unknown, UsageCounts>()
  let conversation: unknown = null
  for (const { event, fields } of trail) {
    if (event === 'agent_session') conversation = fields.agent_session
    if (event !== 'agent_usage') continue
    const before = byConversation.get(conversation) ?? NO_COUNTS
    byConversation.set(conversation, usageTotal([before, readUsage(fields)]))
  }
  return byConversation.get(conversation) ?? NO_COUNTS
}

/**
 * Returns what a run added to a counter that an agent keeps over its whole conversation. If the counter is smaller
 * than before, the agent started again from zero.
 */
export function addedSince(before: number | null, now: number | null): number | null {
  if (now === null || before === null || now < before) return now
  return now - before
}

/** Names the run at this index: `Plan`, `Plan again` or `Work`. */
export function runName(runs: readonly RunUsage[], index: number): string {
  if (runs[index]?.mode === 'work') return 'Work'
  return runs.slice(0, index).some(({ mode }) => mode === 'plan') ? 'Plan again' : 'Plan'
}
