import { setTimeout as delay } from 'node:timers/promises'
import type { Client, LastBytes } from '../../client/client.ts'
import type { ReceivedEvent } from '../../client/session-stream.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { sizeText } from '../../model/amounts.ts'
import { AppError } from '../../model/app-error.ts'
import { hasEnded, type SessionState } from '../../model/session-state.ts'
import { stepArtifacts } from '../../model/trail-steps.ts'
import { createOutputLog, type OutputLog } from '../../rendering/live-log/output-log.ts'
import { sessionPath } from '../resolve/find-session.ts'

/** The most earlier output that is fetched. */
const MOST_BYTES = 64 * 1024
/** After this long without an event the replay is over and the step is running. */
const QUIET_MS = 250
/** The file may lag slightly behind the events. */
const TRIES = 5
const TRY_MS = 50

export interface OutputBackfill {
  /** Call it when output may have been printed without an event. */
  mayMiss(): void
  /** Passes the events on, with each part of the output exactly once in `session_output`. */
  fill(events: AsyncGenerator<ReceivedEvent>): AsyncGenerator<ReceivedEvent>
}

interface OpenStep {
  name: string
  artifact: string
  log: OutputLog
  /** Whether the file may have output that came without an event. */
  isBehind: boolean
  isMidLine: boolean
}

/** Fetches output that a running step printed before it was followed, or while the service was gone. */
export function outputBackfill(client: Client, session: SessionJson): OutputBackfill {
  let open: OpenStep | null = null

  async function* fetchMissing(step: OpenStep, until = 0): AsyncGenerator<ReceivedEvent> {
    const { log, artifact } = step
    const path = `${sessionPath(session)}/artifacts/${encodeURIComponent(artifact)}`
    for (let tries = 1; ; tries++) {
      const last = await lastBytes(client, path)
      if (last === 'gone') return
      step.isBehind = false
      if (typeof last === 'string') {
        yield outputEvent(step, `… ${last}\n`)
        return
      }
      if (last !== null) {
        const { from, bytes } = last
        const start = from > log.end() ? lineStart(bytes) : 0
        if (from + start > log.end()) {
          const size = sizeText(from + start - log.end())
          const what = `… ${size} omitted; full output in artifacts/${artifact}\n`
          yield outputEvent(step, step.isMidLine ? `\n${what}` : what)
          log.skipTo(from + start)
        }
        const text = log.bytes(from, bytes).map((part) => part.text)
        if (text.length > 0) yield outputEvent(step, text.join(''))
      }
      if (log.end() >= until || tries === TRIES) return
      await delay(TRY_MS)
    }
  }

  async function* receiveOutput(
    step: OpenStep,
    event: ReceivedEvent,
  ): AsyncGenerator<ReceivedEvent> {
    const { offset, text } = event.payload
    if (typeof offset !== 'number') {
      yield event // a message of the service itself
      return
    }
    const { log } = step
    const live = { offset, text: String(text), isError: false }
    const take = () => log.piece(live).map((part) => part.text)
    let fresh = take()
    if (log.known() > log.end()) {
      yield* fetchMissing(step, log.known())
      log.skipTo(offset) // output missing from the file will not come
      fresh = [...fresh, ...take()]
    }
    if (fresh.length > 0) yield outputEvent(step, fresh.join(''))
  }

  async function* withMissing(event: ReceivedEvent): AsyncGenerator<ReceivedEvent> {
    const { type, payload } = event
    if (type === 'resync') open = null
    if (open && type === 'session_output' && payload.artifact === open.artifact) {
      yield* receiveOutput(open, event)
      return
    }
    if (open && type === 'step_finished') {
      const size = Number(payload.output_bytes ?? 0)
      const wasSeen = open.log.end() > 0
      if (wasSeen && open.log.end() < size) yield* fetchMissing(open, size)
      open = null
    }
    if (open && type === 'session_state_changed' && hasEnded(payload.new_state as SessionState)) {
      yield* fetchMissing(open) // the step ended with its service
      open = null
    }
    yield event
    if (type === 'step_started') open = openStep(session.number, payload)
  }

  return {
    mayMiss() {
      if (open) open.isBehind = true
    },
    async *fill(events) {
      try {
        for (;;) {
          const next = events.next()
          if (open?.isBehind && (await isQuiet(next))) yield* fetchMissing(open)
          const { done, value } = await next
          if (done) return
          yield* withMissing(value)
        }
      } finally {
        await events.return(undefined)
      }
    },
  }
}

function openStep(number: number, { step, log }: Record<string, unknown>): OpenStep {
  const name = String(step)
  const usual = stepArtifacts(number, { id: name, proof: null }).log
  const artifact = log === undefined ? usual : String(log)
  return { name, artifact, log: createOutputLog(0), isBehind: true, isMidLine: false }
}

/** A part of a step’s output, as an event. */
function outputEvent(step: OpenStep, text: string): ReceivedEvent {
  step.isMidLine = !text.endsWith('\n')
  return { type: 'session_output', id: '', time: '', payload: { step: step.name, text } }
}

async function isQuiet(next: Promise<unknown>): Promise<boolean> {
  const timer = new AbortController()
  const quiet = delay(QUIET_MS, true, { signal: timer.signal })
  try {
    return await Promise.race([quiet, next.then(() => false)])
  } finally {
    timer.abort()
    await quiet.catch(() => {}) // aborted above
  }
}

/**
 * The end of the file, or the reason why it cannot be read; `gone` while the service is gone, for which the stream
 * waits.
 */
async function lastBytes(client: Client, path: string): Promise<LastBytes | string | null> {
  try {
    return await client.lastBytes(path, MOST_BYTES)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.code === 'stopping' ? 'gone' : error.message
  }
}

/** The position of the first whole line, if there is one. */
function lineStart(bytes: Uint8Array): number {
  return bytes.indexOf(0x0a) + 1
}
