import type { AgentRetry } from '../../model/agent-retry.ts'
import { type Foreign, objectOf, textOf } from '../agents/foreign.ts'
import { claudeRetry } from '../streams/claude.ts'

/** `_meta` of session/new for claude-agent-acp: it sends these messages of Claude Code as they are. */
export const CLAUDE_RETRIES = { emitRawSDKMessages: [{ type: 'system', subtype: 'api_retry' }] }

/** That its model is asked again, where an update says so, as codex-acp does; null for every other. */
export function retryIn(update: Foreign): AgentRetry | null {
  const { willRetry, message } = objectOf(objectOf(objectOf(update._meta).codex).error)
  return willRetry === true ? { reason: textOf(message) ?? undefined } : null
}

export function retryInExtension(method: string, params: unknown): AgentRetry | null {
  const message = objectOf(objectOf(params).message)
  if (method !== '_claude/sdkMessage' || message.subtype !== 'api_retry') return null
  return claudeRetry(message)
}

/** Copilot says it as a message. */
export function isRetryNotice(text: string): boolean {
  return /^\s*Info: [^\n]{0,200}\bRetrying\.{3}\s*$/.test(text)
}
