import { basename } from 'node:path'
import type { EventFields } from '../../model/events.ts'
import type { CommandContext } from '../context.ts'
import { createAttentionSignal } from '../output/attention-signal.ts'

export interface AttentionOptions {
  /** Default: all cases. */
  caseId?: string
  bell: boolean
  /** Something may wait that did not before: an event says so, or the service is back. */
  onChange?: () => void
  onGone?: () => void
  onBack?: () => void
}

export interface AttentionWatch {
  /** Rejects if the service stays away for too long. */
  ended: Promise<void>
  /** Whether something of this session has begun to wait since the watch began. */
  hasHeardOf(sessionId: string): boolean
  stop(): void
}

/** Signals in the terminal whatever begins to wait for a person, until it is stopped. */
export function watchAttention(
  { client, terminal, json, signal, workspace }: CommandContext,
  { caseId, bell, onChange, onGone, onBack }: AttentionOptions,
): AttentionWatch {
  const notify = createAttentionSignal(terminal, { env: process.env, bell })
  const own = new AbortController()
  const since = Date.now()
  const heard = new Set<string | null>()
  const query = new URLSearchParams({ after: 'now', output: 'no' })
  if (caseId !== undefined) query.set('case', caseId)

  async function watch(): Promise<void> {
    const events = client.stream(`/events?${query}`, {
      pauses: true,
      signal: own.signal,
      ...(onGone && { onGone }),
      ...(onBack && { onBack }),
    })
    for await (const { type, time, payload } of events) {
      if (type === 'attention_needed') {
        // after a resync the whole log comes again
        if (Date.parse(time) < since) continue
        const { title, text, session_id } = payload as EventFields<'attention_needed'>
        heard.add(session_id)
        if (!json) notify(`${basename(workspace.root)}: ${title}: ${text}`)
      }
      if (CHANGES.has(type)) onChange?.()
    }
  }

  const ended = watch().catch((error: unknown) => {
    if (!own.signal.aborted && !signal.aborted) throw error
  })
  ended.catch(() => {}) // a caller need not wait for it
  return {
    ended,
    hasHeardOf: (sessionId) => heard.has(sessionId),
    stop: () => own.abort(),
  }
}

/** Events after which a plan may wait; the service may also have restarted, or events may be missing. */
const CHANGES: ReadonlySet<string> = new Set([
  'attention_needed',
  'session_state_changed',
  'plan_edited',
  'resync',
  'open',
  'ping',
])
