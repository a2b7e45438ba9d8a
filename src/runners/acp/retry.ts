import type { AgentRetry } from '../../model/agent-retry.ts'
import { type Foreign, objectOf, textOf } from '../agents/foreign.ts'
import { claudeRetry } from '../streams/claude.ts'
import { codexRetry } from '../streams/codex.ts'

/** Claude's own message, which claude-agent-acp passes on where it is asked to. */
export const CLAUDE_RETRY = { type: 'system', subtype: 'api_retry' }

/** That the agent asks its model again, as codex-acp says it; null for every other update. */
export function retryIn(update: Foreign): AgentRetry | null {
  const error = objectOf(objectOf(objectOf(update._meta).codex).error)
  if (error.willRetry !== true) return null
  return codexRetry(textOf(error.message) ?? '', textOf(error.additionalDetails) ?? '') ?? {}
}

/** The same in a message of Claude's own. */
export function retryInClaude(message: Foreign): AgentRetry | null {
  return message.subtype === CLAUDE_RETRY.subtype ? claudeRetry(message) : null
}
