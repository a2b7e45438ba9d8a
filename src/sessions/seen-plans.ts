import { setTimeout as delay } from 'node:timers/promises'
import type { ConsoleAddress } from '../model/console-address.ts'
import type { Session } from '../model/session.ts'

/** A page that has the focus shows a new plan, and says so, within this time. */
const SHOWN_MS = 1_000
const LOOK_MS = 25
const MAX_KEPT = 500

/** The plans that a person has seen, which nothing announces again. In memory only; it approves nothing. */
export interface SeenPlans {
  add(session: Session, plan_sha256: string): void
  isSeen(session: Session, plan_sha256: string | null): boolean
  /** The same. While a console is in use, waits a moment for a page that is about to show it. */
  isSoonSeen(session: Session, plan_sha256: string | null): Promise<boolean>
}

export function createConsoleUse(): { consoleAddress: ConsoleAddress; seenPlans: SeenPlans } {
  const consoleAddress: ConsoleAddress = { url: null }
  const seen = new Map<string, string>()

  const isSeen: SeenPlans['isSeen'] = ({ id }, plan_sha256) => seen.get(id) === plan_sha256

  const seenPlans: SeenPlans = {
    add({ id }, plan_sha256) {
      seen.delete(id)
      seen.set(id, plan_sha256)
      if (seen.size > MAX_KEPT) seen.delete(seen.keys().next().value!)
    },
    isSeen,
    async isSoonSeen(session, plan_sha256) {
      const end = Date.now() + (consoleAddress.url === null ? 0 : SHOWN_MS)
      for (;;) {
        if (isSeen(session, plan_sha256)) return true
        if (Date.now() >= end) return false
        await delay(LOOK_MS)
      }
    },
  }
  return { consoleAddress, seenPlans }
}
