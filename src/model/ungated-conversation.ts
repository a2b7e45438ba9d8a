import type { Conversation } from './conversation.ts'

/**
 * Whether no hook that can deny a tool call was heard from a conversation that had time for one. Its first prompt may
 * need no tool.
 */
export function isUngated({
  is_gated,
  ended_at,
  last_heard_at,
  prompts,
}: Pick<Conversation, 'is_gated' | 'ended_at' | 'last_heard_at' | 'prompts'>): boolean {
  return !is_gated && ended_at === null && (last_heard_at === null || prompts > 1)
}
