import { keysOf } from './owner-keys.ts'
import { type OwnerAnswer, parseAnswer } from './owner-record.ts'
import { askSocket, socketAddress } from './owner-socket.ts'

export type OwnerState = { held: false } | { held: true; answer: OwnerAnswer | null }

/** Who owns a memory root on this machine; a null answer is an owner that does not reply. */
export async function askOwner(memoryRoot: string): Promise<OwnerState> {
  for (const key of await keysOf(memoryRoot)) {
    const probe = await askSocket(socketAddress(key))
    if (probe.held) return { held: true, answer: parseAnswer(probe.text) }
  }
  return { held: false }
}
