/** The calls that `casefile agent test` sends through the installed hooks. */

import { randomUUID } from 'node:crypto'
import type { HookEvent } from './hook-event.ts'

const PREFIX = 'casefile-hooks-test-'

/** The name of a conversation that only a test has. */
export function testSession(): string {
  return PREFIX + randomUUID()
}

/**
 * Whether an event comes from a test. Such a call is judged as one of a case without an approved plan, and leaves no
 * trace: the mark can get a call denied, never allowed.
 */
export function isHookTest({ agentSession }: Pick<HookEvent, 'agentSession'>): boolean {
  return agentSession.startsWith(PREFIX)
}
