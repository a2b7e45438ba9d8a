import { outputEnvelope, type SessionOutput, trailEnvelope } from '../../events/envelope.ts'
import type { Session } from '../../model/session.ts'
import { isOver } from '../../model/session-state.ts'
import { nextTrailNumber } from '../../model/trail.ts'
import type { EventStream } from './event-stream.ts'

/** What is still to be sent while the replay goes on: more of it than this is a client too slow. */
const MAX_WAITING_CHARACTERS = 1024 * 1024

type FeedItem = { session: Session } | { output: SessionOutput } | 'gone'

/** Of a session only how far its trail had come: the newest one has the lines of all before it. */
type Waiting = { upTo: number } | { output: SessionOutput } | 'gone'

/**
 * Sends what comes in order, a trail line at most once and only behind number `after`; a long replay
 * waits for the client.
 */
export function createEventQueue(
  stream: Pick<EventStream, 'isOpen' | 'send' | 'drained' | 'end' | 'drop'>,
  after: number,
): (item: FeedItem) => void {
  const waiting: Waiting[] = []
  let newest: Session | null = null
  let waitingCharacters = 0
  let sent = after
  let busy = false
  let replaying = true

  async function sendTrail(upTo: number): Promise<void> {
    const session = newest! // its trail may have come further: then more of it is waiting behind
    for (const line of session.trail) {
      if (line.number <= sent || line.number > upTo || !stream.isOpen) continue
      sent = line.number
      const data = JSON.stringify(trailEnvelope(session, line))
      stream.send({ event: line.event, data, id: line.number })
      if (replaying) await stream.drained()
    }
    replaying = false
    // but for its proof and seal nothing more will come
    if (lastNumber(session) <= upTo && isOver(session.state)) stream.end()
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
