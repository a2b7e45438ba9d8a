import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { ServiceContext } from '../context.ts'
import { PROTECTIVE_HEADERS } from '../protective-headers.ts'
import type { StreamRegistry } from './stream-registry.ts'

const PING_MS = 15_000
const MAX_UNSENT = 1024 * 1024
const STALL_MS = 2000
/** How long a replay waits for the client to read. */
const DRAIN_MS = 10_000
/** How long an ended stream waits for the client to read the rest. */
const LINGER_MS = 30_000

const HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  ...PROTECTIVE_HEADERS,
}

export interface StreamEvent {
  event: string
  data: string
  id?: string | number
}

export interface EventStream {
  /** The route returns it. Middleware must not set headers on it: they have been sent. */
  readonly response: Response
  readonly isOpen: boolean
  /** Sends them at once. False if the client is gone, or was dropped just now because it does not read. */
  send(...events: StreamEvent[]): boolean
  /** Same as `send`, for events that `encodeEvent` has encoded. */
  sendBytes(bytes: Uint8Array): boolean
  /**
   * Resolves when the client has read what was sent; to false if it is gone, or was dropped because it read nothing
   * for long. Await it between the parts of a long replay: otherwise a client that reads well is dropped too.
   */
  drained(): Promise<boolean>
  end(): void
  /** Closes the connection of a client that does not keep up. */
  drop(): void
}

export interface EventStreamOptions {
  /** Called exactly once when the stream ends, and never before `openEventStream` has returned. */
  onClose?: () => void
  registry?: StreamRegistry
  pingMs?: number
  maxUnsentBytes?: number
  stallMs?: number
  drainMs?: number
}

/**
 * Opens a stream of server-sent events on node's response: Hono's stream swallows errors and does not report how much
 * the client has not read. A client that does not read is disconnected. A HEAD request gets the headers and a closed
 * stream.
 */
export function openEventStream(c: ServiceContext, options: EventStreamOptions = {}): EventStream {
  const res = c.env?.outgoing
  if (res === undefined) throw new Error('an event stream needs the node server')
  const { onClose, registry, pingMs = PING_MS } = options
  const { maxUnsentBytes = MAX_UNSENT, stallMs = STALL_MS, drainMs = DRAIN_MS } = options
  const backlog = createBackpressure(res, { maxUnsentBytes, stallMs })
  const isHead = c.req.method === 'HEAD'
  let isOpen = true
  let linger: NodeJS.Timeout | undefined
  const ping = setInterval(() => stream.send(pingEvent()), pingMs).unref()

  const stream: EventStream = {
    response: isHead ? c.body(null, 200, HEADERS) : RESPONSE_ALREADY_SENT,
    get isOpen() {
      return isOpen
    },
    send: (...events) => stream.sendBytes(Buffer.from(events.map(encodeEvent).join(''))),
    sendBytes(bytes) {
      if (!isOpen) return false
      if (backlog.isStalled()) {
        stream.drop()
        return false
      }
      backlog.sent(bytes.length)
      res.write(bytes)
      return true
    },
    drained() {
      if (!isOpen || !res.writableNeedDrain) return Promise.resolve(isOpen)
      return new Promise((resolve) => {
        const timeout = setTimeout(() => {
          stream.drop()
          finish()
        }, drainMs)
        const finish = () => {
          clearTimeout(timeout)
          res.off('drain', finish).off('close', finish)
          resolve(isOpen)
        }
        res.on('drain', finish).on('close', finish)
      })
    },
    end() {
      if (!isOpen) return
      close()
      linger = setTimeout(() => res.destroy(), LINGER_MS).unref()
      res.end()
    },
    drop() {
      if (!isOpen) return
      close()
      res.destroy()
    },
  }

  const close = () => {
    if (!isOpen) return
    isOpen = false
    clearInterval(ping)
    registry?.delete(stream)
    if (onClose !== undefined) queueMicrotask(onClose)
  }

  if (isHead || res.destroyed || res.closed) {
    close()
    return stream
  }
  res.on('close', () => {
    clearTimeout(linger)
    close()
  })
  // the client may disconnect during a write; 'close' follows
  res.on('error', close)
  res.writeHead(200, HEADERS)
  res.write('retry: 3000\n\n')
  registry?.add(stream)
  return stream
}

type ResumePoint = { kind: 'none' } | { kind: 'after'; id: number } | { kind: 'unknown' }

/**
 * Where the client wants to resume: `Last-Event-ID`, or `?after=` if it cannot set a header. `find` gives the number of
 * an id, null for an unknown one.
 */
export function readResumePoint(
  c: ServiceContext,
  find: (id: string) => number | null = wholeNumber,
): ResumePoint {
  const text = c.req.header('last-event-id') || c.req.query('after')
  if (text === undefined || text === '') return { kind: 'none' }
  const id = find(text)
  return id === null ? { kind: 'unknown' } : { kind: 'after', id }
}

function wholeNumber(text: string): number | null {
  const id = Number(text)
  return /^(?:0|[1-9]\d*)$/.test(text) && Number.isSafeInteger(id) ? id : null
}

/** An event in the wire format. */
export function encodeEvent({ event, data, id }: StreamEvent): string {
  for (const field of [event, String(id ?? '')]) {
    if (/[\r\n\0]/.test(field)) throw new TypeError(`not a field of an event: ${quoted(field)}`)
  }
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 60))
}

/** A ping has an envelope too, so that a client can parse the data of every event. */
function pingEvent(): StreamEvent {
  const envelope = { event_type: 'ping', timestamp: new Date().toISOString(), payload: {} }
  return { event: 'ping', data: JSON.stringify(envelope) }
}

interface BackpressureLimits {
  /** With more than this unsent, the client must show that it reads. */
  maxUnsentBytes: number
  /** If it takes nothing for so long, it does not read. */
  stallMs: number
}

/** A client that reads slowly may lag behind by this many times `maxUnsentBytes`. */
const MAX_LAG = 8

/** Distinguishes a client that does not read from one that lags behind a burst. Ask `isStalled` before each write. */
function createBackpressure(
  res: ServerResponse,
  { maxUnsentBytes, stallMs }: BackpressureLimits,
): { isStalled(): boolean; sent(bytes: number): void } {
  let sentBytes = 0
  let readBytes = 0
  let readAt = performance.now()

  function isStalled(): boolean {
    const now = performance.now()
    // node holds back the writes of one tick; without this a burst would look like a stalled client
    if (res.writableLength > maxUnsentBytes) {
      while (res.socket !== null && res.socket.writableCorked > 0) res.socket.uncork()
    }
    const unsent = res.writableLength
    if (unsent <= maxUnsentBytes || sentBytes - unsent > readBytes) {
      readBytes = Math.max(readBytes, sentBytes - unsent)
      readAt = now
    }
    return unsent > MAX_LAG * maxUnsentBytes || now - readAt > stallMs
  }

  return {
    isStalled,
    sent(bytes) {
      sentBytes += bytes
    },
  }
}
