import type { AgentRetry } from '../../model/agent-retry.ts'
import { asRecord, asString, type UnknownRecord } from '../agents/unknown-record.ts'
import { claudeRetry } from '../streams/claude.ts'
import { codexRetry } from '../streams/codex.ts'

/** Claude's own message, which claude-agent-acp forwards if asked to. */
export const CLAUDE_RETRY = { type: 'system', subtype: 'api_retry' }

/** A retry of a model request, as codex-acp reports it; null for any other update. */
export function retryIn(update: UnknownRecord): AgentRetry | null {
  const error = asRecord(asRecord(asRecord(update._meta).codex).error)
  if (error.willRetry !== true) return null
  return codexRetry(asString(error.message) ?? '', asString(error.additionalDetails) ?? '') ?? {}
}

/** A retry in a message of Claude; null for any other message. */
export function retryInClaude(message: UnknownRecord): AgentRetry | null {
  return message.subtype === CLAUDE_RETRY.subtype ? claudeRetry(message) : null
}
