import { type ReceivedEvent, STREAM_PAUSES } from '../../client/session-stream.ts'
import { hasEnded, type SessionState } from '../../model/session-state.ts'

export interface WaitForStateDeps<S> {
  /** The session as it is now. */
  read(): Promise<S>
  /** The states to wait for. Default: the end of the session’s work, which also ends the stream. */
  until?: readonly string[] | undefined
  /** Whether to print all events up to the state first; otherwise it ends as soon as the state is seen. */
  isPrinting: boolean
}

/**
 * Call the result for each event of a session’s stream: it returns the session once it is in a state that `until`
 * names, else null. Events of a replay report old states, so it trusts only the session itself. Because an event may
 * be missing, it also reads the session at pauses of the stream (`open`, `ping`).
 */
export function createWaitForState<S extends { state: string }>(
  deps: WaitForStateDeps<S>,
): (event: ReceivedEvent) => Promise<S | null> {
  const { read, until, isPrinting } = deps
  const isReached = (state: string) => until?.includes(state) ?? hasEnded(state as SessionState)
  /** Whether the last event about the state reported one that `until` names. */
  let isReported = false
  /** Whether the state was reached at the last ping, and no event has come since. */
  let wasReached = false

  return async ({ type, payload }) => {
    const isPause = STREAM_PAUSES.has(type)
    if (!isPause) wasReached = false
    if (until && payload.new_state !== undefined) isReported = isReached(String(payload.new_state))
    const isDue = isReported || type === 'ping' || (isPause && !isPrinting)
    if (!isDue) return null
    const present = await read()
    if (!isReached(present.state)) return null
    if (isReported || !isPrinting || wasReached) return present
    wasReached = true // events that led there may be on their way; they come before the next ping
    return null
  }
}
