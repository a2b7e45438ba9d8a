import type { SessionJson } from '../../http/schemas/session.ts'
import { AppError } from '../../model/app-error.ts'
import type { CommandContext } from '../context.ts'
import { reread } from './follow.ts'

export interface AskingWatch {
  /** The session may have changed. */
  look(): void
  stop(): void
}

/**
 * Shows each plan of a session that waits, and asks about it: a yes approves exactly what is shown. The question ends
 * if the plan changes or is decided elsewhere.
 */
export function askWhenReady(context: CommandContext, session: SessionJson): AskingWatch {
  const { terminal, signal } = context
  let asking: AbortController | null = null
  /** The hash of the plan that was shown last. */
  let shown: string | null = null
  let isLooking = false
  let isChanged = false

  async function look(): Promise<void> {
    const present = await reread(context, session)
    const hash = present.state === 'plan_ready' && !present.queue ? present.plan_sha256 : null
    if (hash === shown) return
    asking?.abort()
    asking = null
    shown = hash
    if (hash === null) return
    const own = new AbortController()
    asking = own
    void ask(present, own.signal)
  }

  async function ask(present: SessionJson, own: AbortSignal): Promise<void> {
    const { askToApprove } = await import('../commands/approve.ts')
    try {
      const here = { ...context, signal: AbortSignal.any([signal, own]) }
      const approved = await askToApprove(here, present)
      if (approved !== null) return
      const next = `casefile approve ${present.case_id.slice(0, 8)} ${present.number}`
      terminal.warn(`not approved; nothing was run. Next: ${next}`)
    } catch (error) {
      if (!own.aborted && !signal.aborted) warn(error)
    }
  }

  function warn(error: unknown): void {
    if (!(error instanceof AppError)) throw error
    terminal.warn(error.message)
  }

  async function lookAgain(): Promise<void> {
    isChanged = true
    if (isLooking) return
    isLooking = true
    try {
      while (isChanged) {
        isChanged = false
        await look()
      }
    } catch (error) {
      // the next change looks again; the command itself reports a service that stays away
      if (!signal.aborted) warn(error)
    } finally {
      isLooking = false
    }
  }

  return { look: () => void lookAgain(), stop: () => asking?.abort() }
}
