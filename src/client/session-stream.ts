import { setTimeout as delay } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { AppError } from '../model/app-error.ts'
import { errorFrom } from './problem.ts'
import { ConnectionLost, type HttpResponse, httpRequest, type Send } from './request.ts'

/** An event of a session's stream. */
export interface ReceivedEvent {
  type: string
  /** The number of its line in the trail, on the line's last event; empty for output and `resync`. */
  id: string
  time: string
  payload: Record<string, unknown>
}

/** Types that are not events of the session: the stream connected, for the first time or again, or sent a ping. */
export const STREAM_PAUSES: ReadonlySet<string> = new Set(['open', 'ping'])

/** Any other event without an id belongs to the line of the next id, and comes again if the stream breaks before it. */
const WITHOUT_LINE: ReadonlySet<string> = new Set(['ping', 'resync', 'session_output'])

export interface StreamOptions {
  /** Also yields `open` and `ping`. */
  pauses?: boolean
  /** Connected, for the first time or again. Output that was printed in between was not sent. */
  onOpen?: () => void
  /** The connection was lost, or the service is gone. The stream retries. */
  onGone?: () => void
  /** Connected again. */
  onBack?: () => void
  /** How long the service may be gone before the stream gives up. */
  giveUpMs?: number
  /** The pauses between retries. */
  pausesMs?: readonly number[]
  /** Ends this stream, and nothing else of its client. */
  signal?: AbortSignal
}

/** The address of the service, which may change after a restart. */
export interface ServiceLocation {
  url: string
  /** Sends the requests. Default: over HTTP. */
  send?: Send | undefined
  /** Returns its present address, null while none runs. Default: always `url`. */
  relocate?: () => Promise<string | null>
}

const PAUSES_MS = [100, 250, 500, 1000, 2000]
const GIVE_UP_MS = 10 * 60_000
/** After three missed pings the service is considered hung. */
const SILENCE_MS = 45_000

/**
 * The events of `GET …/stream`: each entry of the audit log once, from the first. A broken stream resumes at the last
 * entry; the service answers 204 when no more will come. After a `resync`, which is also yielded, all entries come
 * again.
 */
export async function* sessionStream(
  path: string,
  where: ServiceLocation,
  signal: AbortSignal,
  options: StreamOptions,
): AsyncGenerator<ReceivedEvent> {
  const { giveUpMs = GIVE_UP_MS, pausesMs = PAUSES_MS, pauses = false } = options
  let url: string | null = where.url
  let last = ''
  let goneSince: number | null = null
  let tries = 0
  for (;;) {
    const response =
      url === null ? null : await open(where.send ?? httpRequest, url + path, last, signal)
    if (response?.status === 204) return response.end()
    if (response) {
      if (goneSince !== null) options.onBack?.()
      goneSince = null
      options.onOpen?.()
      try {
        if (pauses) yield { type: 'open', id: '', time: '', payload: {} }
        const line: ReceivedEvent[] = []
        for await (const event of eventsOf(response)) {
          tries = 0
          if (event.type === 'resync') last = ''
          if (WITHOUT_LINE.has(event.type)) {
            if (pauses || event.type !== 'ping') yield event
            continue
          }
          line.push(event)
          if (event.id === '') continue
          last = event.id
          yield* line.splice(0)
        }
      } finally {
        response.end()
      }
    } else {
      if (goneSince === null) options.onGone?.()
      goneSince ??= performance.now()
      if (performance.now() - goneSince > giveUpMs) throw goneTooLong(path, giveUpMs)
    }
    const pause = pausesMs[Math.min(tries, pausesMs.length - 1)] ?? 0
    if (tries++ > 0 || !response) await delay(pause, undefined, { signal: signal })
    url = where.relocate ? await where.relocate() : where.url
    if (url !== null) where.url = url
  }
}

/** Null while nothing answers. */
async function open(
  send: Send,
  address: string,
  last: string,
  signal: AbortSignal,
): Promise<HttpResponse | null> {
  const headers: Record<string, string> = last === '' ? {} : { 'last-event-id': last }
  let response: HttpResponse
  try {
    response = await send(address, { headers, signal })
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error
    return null
  }
  if (response.status < 300) return response
  const text = await response.text()
  if (response.status === 503) return null
  throw errorFrom('GET', new URL(address).pathname, response.status, parsed(text))
}

/** Yields events until the connection ends, for any reason. */
async function* eventsOf(response: HttpResponse): AsyncGenerator<ReceivedEvent> {
  const came: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (event) => came.push(event) })
  const parts = response.parts()
  for (;;) {
    const part = await readInTime(parts)
    if (part === null) return
    parser.feed(part)
    for (const message of came.splice(0)) yield received(message)
  }
}

async function readInTime(parts: AsyncIterator<string>): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), SILENCE_MS)
  })
  try {
    const part = await Promise.race([parts.next(), silence])
    return part === null || part.done ? null : part.value
  } catch (error) {
    if (error instanceof ConnectionLost) return null // the service died, or dropped the connection
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function received({ event = 'message', id = '', data }: EventSourceMessage): ReceivedEvent {
  const { timestamp, payload } = JSON.parse(data)
  return { type: event, id, time: timestamp, payload }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // something other than Casefile answers there
  }
}

function goneTooLong(path: string, ms: number): AppError {
  return new AppError(
    'stopping',
    `The service has been unreachable for ${Math.round(ms / 60_000)} min, so ${path} is no longer followed. Start the service, then follow it again.`,
  )
}
