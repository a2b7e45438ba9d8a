import { isUtf8 } from 'node:buffer'
import { Transform } from 'node:stream'
import {
  INVALID_REQUEST,
  isJSONRPCRequest,
  isSpecType,
  type JSONRPCMessage,
  PARSE_ERROR,
} from '@modelcontextprotocol/server'
import { withoutNulls } from './left-out.ts'

type Id = string | number

export interface ErrorMessage {
  jsonrpc: '2.0'
  id: Id | null
  error: { code: number; message: string }
}

export interface LineNeeds {
  /** Of one message; what is longer is thrown away as it comes. */
  mostBytes: number
  /** Answers what is no message: its sender would wait for ever. */
  refuse(error: ErrorMessage): void
  /** Messages that came as one (protocol 2025-03-26): the answers to these requests go out as one, with those. */
  batch(requests: readonly Id[], refused: readonly ErrorMessage[]): void
}

/** The lines of standard input that are messages, each alone; the SDK drops all others without a word. */
export function messageLines({ mostBytes, refuse, batch }: LineNeeds): Transform {
  let parts: Buffer[] = []
  let size = 0

  function add(part: Buffer): void {
    size += part.length
    if (size <= mostBytes) parts.push(part)
    else parts = []
  }

  function finish(out: Transform): void {
    const isTooLong = size > mostBytes
    const bytes = Buffer.concat(parts)
    const text = bytes.toString().replace(/^\ufeff/, '')
    parts = []
    size = 0
    if (isTooLong) refuse(failure(null, PARSE_ERROR, tooLong(mostBytes)))
    else if (!isUtf8(bytes)) refuse(failure(idOf(parsed(text).value), PARSE_ERROR, NOT_UTF8))
    else if (text.trim() !== '') take(text, out)
  }

  function take(text: string, out: Transform): void {
    const { value, error } = parsed(text)
    if (error) refuse(error)
    else if (isMessage(value)) out.push(`${JSON.stringify(value)}\n`)
    else if (!Array.isArray(value) || value.length === 0) refuse(invalid(value))
    else {
      const messages = value.filter(isMessage)
      const refused = value.filter((each) => !isMessage(each)).map(invalid)
      batch(
        messages.filter(isJSONRPCRequest).map(({ id }) => id),
        refused,
      )
      for (const message of messages) out.push(`${JSON.stringify(message)}\n`)
    }
  }

  return new Transform({
    transform(chunk: Buffer, _, done) {
      let begin = 0
      for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, begin)) {
        add(chunk.subarray(begin, end))
        finish(this)
        begin = end + 1
      }
      add(chunk.subarray(begin))
      done()
    },
    /** The last line may be without its end. */
    flush(done) {
      if (size > 0) finish(this)
      done()
    },
  })
}

const LF = 0x0a

const NOT_UTF8 = 'This line is not UTF-8, so its text would be another one. Send it in UTF-8.'

const isMessage = (value: unknown): value is JSONRPCMessage => isSpecType.JSONRPCMessage(value)

function parsed(text: string): { value?: unknown; error?: ErrorMessage } {
  try {
    const value: unknown = JSON.parse(text)
    return { value: Array.isArray(value) ? value.map(withoutNulls) : withoutNulls(value) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { error: failure(null, PARSE_ERROR, `This line is not JSON: ${error.message}`) }
  }
}

function invalid(value: unknown): ErrorMessage {
  return failure(idOf(value), INVALID_REQUEST, 'This is no message of JSON-RPC 2.0, as MCP has it.')
}

function idOf(value: unknown): Id | null {
  const { id = null } = Object(value) as { id?: unknown }
  return typeof id === 'string' || Number.isInteger(id) ? (id as Id) : null
}

function failure(id: Id | null, code: number, message: string): ErrorMessage {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function tooLong(mostBytes: number): string {
  return `A message has at most ${mostBytes} bytes. This one was longer, and thrown away.`
}
