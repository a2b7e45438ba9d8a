import { outputEnvelope, type SessionOutput, trailEnvelope } from '../../events/envelope.ts'
import type { Session } from '../../model/session.ts'
import { hasEnded } from '../../model/session-state.ts'
import { nextTrailNumber } from '../../model/trail.ts'
import type { WithTail } from '../../workspace/step-tail.ts'
import type { EventStream, StreamEvent } from './event-stream.ts'

/** Output that waits for the end of the replay. A client with more of it is too slow. */
const MAX_WAITING_CHARACTERS = 1024 * 1024

type FeedItem = { session: Session } | { output: SessionOutput } | 'gone'

/** Of a session only the number of its last entry: the newest session has all entries before it. */
type Waiting = { upTo: number } | { output: SessionOutput } | 'gone'

/** Sends items in order: each audit log entry after number `after` once. The events of an entry are sent together, and the
 * last one has its number as id, so that a client resumes between entries. A long replay waits for the client. */
export function createEventQueue(
  stream: Pick<EventStream, 'isOpen' | 'send' | 'drained' | 'end' | 'drop'>,
  after: number,
  withTail: WithTail,
): (item: FeedItem) => void {
  const waiting: Waiting[] = []
  let newest: Session | null = null
  let waitingCharacters = 0
  let sent = after
  let busy = false
  let replaying = true

  async function sendTrail(upTo: number): Promise<void> {
    const session = newest! // may have later entries, which are further back in the queue
    const { trail } = session
    let events: StreamEvent[] = []
    for (const [index, line] of trail.entries()) {
      const { number, event } = line
      if (number <= sent || number > upTo || !stream.isOpen) continue
      const data = JSON.stringify(trailEnvelope(session, withTail(session, line)))
      const isLast = trail[index + 1]?.number !== number
      events.push({ event, data, ...(isLast ? { id: number } : {}) })
      if (!isLast) continue
      sent = number
      stream.send(...events)
      events = []
      if (replaying) await stream.drained()
    }
    replaying = false
    // only entries about its proof and seal may follow
    if (lastNumber(session) <= upTo && hasEnded(session.state)) stream.end()
  }

  async function work(): Promise<void> {
    busy = true
    for (let item = waiting.shift(); item !== undefined && stream.isOpen; item = waiting.shift()) {
      if (item === 'gone') stream.end()
      else if ('upTo' in item) await sendTrail(item.upTo)
      else {
        waitingCharacters -= item.output.text.length
        stream.send({ event: 'session_output', data: JSON.stringify(outputEnvelope(item.output)) })
      }
    }
    busy = false
  }

  function wait(item: FeedItem): void {
    if (item === 'gone') waiting.push(item)
    else if ('output' in item) {
      waitingCharacters += item.output.text.length
      waiting.push(item)
    } else {
      newest = item.session
      const last = waiting.at(-1)
      if (typeof last === 'object' && 'upTo' in last) last.upTo = lastNumber(newest)
      else waiting.push({ upTo: lastNumber(newest) })
    }
  }

  return (item) => {
    wait(item)
    if (waitingCharacters > MAX_WAITING_CHARACTERS) stream.drop()
    else if (!busy) void work()
  }
}

function lastNumber({ trail }: Session): number {
  return nextTrailNumber(trail) - 1
}
