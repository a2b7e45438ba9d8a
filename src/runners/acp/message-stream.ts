import type { Readable, Writable } from 'node:stream'
import { ReadableStream } from 'node:stream/web'
import { setTimeout as delay } from 'node:timers/promises'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { createLines, MAX_LINE_MIB } from '../agents/jsonl.ts'
import { asRecord, parsedJson } from '../agents/unknown-record.ts'
import { RunnerFailure } from '../contract.ts'

/** The limit for reading what an agent said before it stopped reading its input. */
const LAST_WORDS_MS = 1000

export interface MessageStreamDeps {
  stdout: Readable
  stdin: Writable
  /** Every line that is not blank, before it is parsed. */
  onLine(line: string): void
  /** Called in order of arrival, before any later answer is passed on. */
  onNotification(method: string, params: unknown): void
  /** Reading pauses until this resolves. A rejection closes the connection. */
  room(): Promise<void>
}

/**
 * Connects an agent's standard streams to the SDK. The SDK's own reader accepts lines of any kind and length,
 * answers invalid JSON and prints errors to the console; this one leaves such lines to `onLine`.
 */
export function openMessageStream(deps: MessageStreamDeps): Stream {
  const asked = new Set<unknown>()
  const { stdin } = deps
  // the caller of the failed write handles it
  stdin.on('error', () => {})
  return {
    readable: ReadableStream.from(messages(deps, asked)) as Stream['readable'],
    writable: new WritableStream({
      async write(message: AnyMessage) {
        if ('id' in message && 'method' in message) asked.add(message.id)
        if (await written(stdin, `${JSON.stringify(message)}\n`)) return
        await delay(LAST_WORDS_MS)
        throw new RunnerFailure('it no longer reads its input')
      },
    }),
  }
}

async function* messages(deps: MessageStreamDeps, asked: Set<unknown>): AsyncGenerator<AnyMessage> {
  for await (const line of linesOf(deps.stdout)) {
    await deps.room()
    if (line.trim() !== '') deps.onLine(line)
    const message = messageIn(line)
    const { method, params, id } = asRecord(message)
    const isAnswer = message !== null && method === undefined
    if (message !== null && typeof method === 'string' && id === undefined) {
      deps.onNotification(method, params)
      // other lines are only in the raw output
    } else if (message !== null && (!isAnswer || asked.delete(id))) yield message
  }
}

function messageIn(line: string): AnyMessage | null {
  const text = line.trim()
  const message = text.startsWith('{') ? parsedJson(text) : null
  return asRecord(message).jsonrpc === '2.0' ? (message as AnyMessage) : null
}

async function* linesOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const found: string[] = []
  let isTooLong = false
  const lines = createLines({
    line: (text) => found.push(text),
    dropped() {
      isTooLong = true
    },
  })
  for await (const chunk of bytes) {
    lines.write(chunk)
    yield* found.splice(0)
    if (isTooLong) throw new RunnerFailure(`it sent a line of more than ${MAX_LINE_MIB} MiB`)
  }
  lines.end()
  yield* found
}

function written(stdin: Writable, text: string): Promise<boolean> {
  return new Promise((resolve) => stdin.write(text, (error) => resolve(!error)))
}
