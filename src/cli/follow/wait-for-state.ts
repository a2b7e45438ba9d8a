import { type ReceivedEvent, STREAM_PAUSES } from '../../client/session-stream.ts'
import { isOver, type SessionState } from '../../model/session-state.ts'

export interface WaitForStateDeps<S> {
  /** The session as it is now. */
  read(): Promise<S>
  /** The states that are waited for; without them, the end of its work, which ends the stream as well. */
  until?: readonly string[] | undefined
  /** Whether all that led there is to be told before: else it is there as soon as it can be seen. */
  isTelling: boolean
}

/**
 * Says after each event of a session's stream whether the session is where it is waited for; null while
 * it is not. A state is believed only when it is read, since a replay tells of states that are over; and
 * what was read and is not there yet is read again at whatever comes next. No event is relied on: at a
 * pause of the stream (it was opened, again too, or only a ping came) the session is read as well.
 */
export function createWaitForState<S extends { state: string }>(
  needs: WaitForStateDeps<S>,
): (event: ReceivedEvent) => Promise<S | null> {
  const { read, until, isTelling } = needs
  const isThere = (state: string) => until?.includes(state) ?? isOver(state as SessionState)
  /** Whether the last state that was told is one that is waited for. */
  let isTold = false
  /** Whether it was there at the last ping, and nothing was told since. */
  let wasThere = false

  return async ({ type, payload }) => {
    const isPause = STREAM_PAUSES.has(type)
    if (!isPause) wasThere = false
    if (until && payload.new_state !== undefined) isTold = isThere(String(payload.new_state))
    const isDue = isTold || type === 'ping' || (isPause && !isTelling)
    if (!isDue) return null
    const present = await read()
    if (!isThere(present.state)) return null
    if (isTold || !isTelling || wasThere) return present
    wasThere = true // what led there may be on its way: it comes before the next ping
    return null
  }
}
