/** How a command finds the service that is running. */

import { socketAddress } from '../../platform/local-socket.ts'
import { mustBeOfThisUser } from './foreign-owner.ts'
import { keysOf } from './owner-keys.ts'
import { type OwnerAnswer, parseAnswer } from './owner-record.ts'
import { askSocket } from './owner-socket.ts'

export type OwnerState =
  | { held: false }
  | { held: true; answer: OwnerAnswer | null; address: string }

/**
 * Returns who owns a memory root on this machine; a null answer is an owner that does not reply (`findSilentOwner`).
 * Throws if the process is another user's.
 */
export async function askOwner(memoryRoot: string): Promise<OwnerState> {
  for (const key of await keysOf(memoryRoot)) {
    const address = socketAddress(key)
    const probe = await askSocket(address)
    if (!probe.held) continue
    const answer = parseAnswer(probe.text)
    await mustBeOfThisUser(address, answer)
    return { held: true, answer, address }
  }
  return { held: false }
}
