import { type ReceivedEvent, STREAM_PAUSES } from '../../client/session-stream.ts'
import { isOver, type SessionState } from '../../model/session-state.ts'

export interface WaitForStateDeps<S> {
  /** The session as it is now. */
  read(): Promise<S>
  /** The states to wait for; without them the end of its work, which also ends the stream. */
  until?: readonly string[] | undefined
  /** Whether all events up to the state should be printed first; else it ends as soon as the state can be seen. */
  isPrinting: boolean
}

/**
 * Called after each event of a session's stream; gives the session once it is in a state that is waited for, else
 * null. Events of a replay report old states, so only the session itself is trusted, and no event is relied on: at a
 * pause of the stream (it was opened, or only a ping came) the session is read too.
 */
export function createWaitForState<S extends { state: string }>(
  deps: WaitForStateDeps<S>,
): (event: ReceivedEvent) => Promise<S | null> {
  const { read, until, isPrinting } = deps
  const isReached = (state: string) => until?.includes(state) ?? isOver(state as SessionState)
  /** Whether the last event about the state reported one that is waited for. */
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
    wasReached = true // the events that led there may be on their way: they come before the next ping
    return null
  }
}
