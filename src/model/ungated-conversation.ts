import type { Conversation } from './conversation.ts'
import type { TrailLine } from './trail.ts'

type Heard = Pick<Conversation, 'agent' | 'is_gated' | 'ended_at' | 'last_heard_at' | 'prompts'>

/**
 * Whether no hook that can deny a tool call was heard of a conversation that had time for one. A first prompt may need
 * no tool. `trail`: of the session that records it.
 */
export function isUngated(
  { agent, is_gated, ended_at, last_heard_at, prompts }: Heard,
  trail: readonly Pick<TrailLine, 'event'>[] = [],
): boolean {
  if (is_gated || ended_at !== null) return false
  const has = (wanted: TrailLine['event']) => trail.some(({ event }) => event === wanted)
  return (
    agent === 'other' ||
    last_heard_at === null ||
    prompts > 1 ||
    has('tool_call') ||
    // a plan that came by MCP
    (prompts === 0 && has('plan_written'))
  )
}
