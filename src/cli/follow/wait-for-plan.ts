import { allOf } from '../../client/pages.ts'
import type { TriageRowJson } from '../../http/schemas/case.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { AppError } from '../../model/app-error.ts'
import type { CommandContext } from '../context.ts'
import { resolveSession } from '../resolve/find-session.ts'
import { watchAttention } from './attention-watch.ts'

export interface PlanQueueOptions {
  bell: boolean
  /** Called for one plan at a time, the longest waiting first. */
  handle(session: SessionJson): Promise<unknown>
}

/**
 * Hands over each plan that waits for approval, of any case, once; a plan that changes is handed over again. Ends only
 * when it is interrupted, or when the service stays away.
 */
export async function handleWaitingPlans(
  context: CommandContext,
  { bell, handle }: PlanQueueOptions,
): Promise<never> {
  const { terminal, signal } = context
  /** The hash of the plan that was handed over, by session id. */
  const seen = new Map<string, string | null>()
  let wake = () => {}
  let isChanged = true
  const onChange = () => {
    isChanged = true
    wake()
  }
  const watch = watchAttention(context, {
    bell,
    onChange,
    onGone: () => terminal.warn('service unreachable, retrying…'),
    onBack: () => terminal.warn('the service is back'),
  })
  let isSaid = false
  try {
    for (;;) {
      isChanged = false
      const session = await nextPlan(context, seen)
      if (session) {
        seen.set(session.id, session.plan_sha256)
        isSaid = false
        await handleOne(session)
      } else {
        if (!isSaid)
          terminal.say('\nWaiting for the next plan that needs your approval. Ctrl-C ends.')
        isSaid = true
        await nextChange()
      }
      signal.throwIfAborted()
    }
  } finally {
    watch.stop()
  }

  async function nextChange(): Promise<void> {
    if (isChanged) return
    const woken = new Promise<void>((resolve) => {
      wake = resolve
    })
    await Promise.race([woken, watch.ended])
  }

  /** A plan that cannot be approved does not end the command: the next one may. */
  async function handleOne(session: SessionJson): Promise<void> {
    try {
      await handle(session)
    } catch (error) {
      if (!(error instanceof AppError) || signal.aborted) throw error
      if (error.code === 'stopping') seen.delete(session.id) // asked again once the service is back
      terminal.warn(error.message)
    }
  }
}

/** The plan that has waited longest among those that were not seen yet. */
async function nextPlan(
  { client }: Pick<CommandContext, 'client'>,
  seen: ReadonlyMap<string, string | null>,
): Promise<SessionJson | null> {
  const rows = await allOf<TriageRowJson>(client, '/triage?needs=plan')
  const oldestFirst = rows.sort((a, b) => (a.since ?? '').localeCompare(b.since ?? ''))
  for (const { id } of oldestFirst) {
    const session = await resolveSession(client, id, undefined, { waiting: true })
    const isNew = seen.get(session.id) !== session.plan_sha256
    if (session.state === 'plan_ready' && session.plan_sha256 !== null && isNew) return session
  }
  return null
}
