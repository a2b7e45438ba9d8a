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
  /** Nothing announces a plan that a person has seen elsewhere. */
  async function announce(payload: EventFields<'attention_needed'>): Promise<void> {
    const { case_id, title, kind, session_id, text } = payload
    const path = `/cases/${case_id}/sessions/${session_id}/approval?soon_seen=true`
    const seen = () => client.request('GET', path).then(({ body }) => body.seen)
    const isSeen = kind === 'plan' && (await seen().catch(() => false))
    if (own.signal.aborted) return
    heard.add(session_id)
    if (!json && !isSeen) notify(`${basename(workspace.root)}: ${title}: ${text}`)
  }
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
        void announce(payload as EventFields<'attention_needed'>)
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
