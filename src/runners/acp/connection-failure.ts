import { clauseOf, errorText, withoutStack } from '../agents/agent-text.ts'
import { withTimeout } from '../agents/timeouts.ts'
import { asArray, asRecord, asString } from '../agents/unknown-record.ts'
import { RunnerFailure } from '../contract.ts'

/** How long to wait for a process to exit after its output has ended. */
const EXIT_MS = 250
const AUTH_REQUIRED = -32000

export interface ConnectionFacts {
  /** The agent's name in messages. */
  title: string
  /** The end of its standard error. */
  tail(): string
  exited: Promise<ConnectionExit>
}

export interface ConnectionExit {
  exit: number | null
  signal: string | null
}

/**
 * Turns the error of a request into a `RunnerFailure` for the operator. `signal` is aborted once the connection is
 * closed. Errors that the agent did not cause, such as a failed write to the audit trail, are returned as they are.
 */
export async function failureOf(
  error: unknown,
  method: string,
  signal: AbortSignal,
  facts: ConnectionFacts,
): Promise<unknown> {
  const { title } = facts
  const { code } = asRecord(error)
  if (signal.aborted) {
    const { reason } = signal
    if (reason instanceof RunnerFailure) return new RunnerFailure(`${title}: ${reason.message}`)
    if (isOfStream(reason)) return new RunnerFailure(await endOf(method, facts))
    return reason
  }
  if (typeof code !== 'number') return error
  const what = method === 'session/prompt' ? 'failed' : `refused ${method}`
  return new RunnerFailure(`${title} ${what}: ${saidIn(error)}`, { cause: error })
}

export function isLoginMissing(error: unknown): boolean {
  return error instanceof RunnerFailure && asRecord(error.cause).code === AUTH_REQUIRED
}

/** Whether the error means that the connection closed, in any of the forms that pipes report it. */
function isOfStream(reason: unknown): boolean {
  const { code, message } = asRecord(reason)
  return (
    message === 'ACP connection closed' ||
    ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(String(code))
  )
}

async function endOf(method: string, { title, exited, tail }: ConnectionFacts): Promise<string> {
  const exit = await withTimeout(EXIT_MS, exited)
  const how = !exit
    ? 'closed its output'
    : exit.exit === null
      ? `was ended by ${exit.signal}`
      : `ended with exit code ${exit.exit}`
  const words = clauseOf(withoutStack(tail()).trim().split(/\r?\n/).slice(-5).join(' '), 'end')
  return `${title} ${how} before it answered ${method}${words ? `: ${words}` : ''}`
}

/** The error's message, code and detail, without repetition. */
function saidIn(error: unknown): string {
  const { code, message } = asRecord(error)
  const words = errorText(String(message))
  const detail = detailOf(error)
  const said = words.replace(/^Internal error: (?=\S)/i, '')
  if (said !== words) return said
  const number = words.includes(String(code)) ? '' : ` (${code})`
  return `${words}${number}${words.includes(detail) ? '' : `: ${detail}`}`
}

function detailOf(error: unknown): string {
  const { data } = asRecord(error)
  const detail =
    asString(data) ?? asString(asRecord(data).details) ?? asString(asRecord(data).message)
  return detail ? errorText(detail) : ''
}

/** The ways to log in, as the agent describes them. */
export function loginHint(authMethods: unknown): string {
  const ways = asArray(authMethods).flatMap((way) => {
    const { name, description } = asRecord(way)
    const words = [asString(name), asString(description)].filter((text) => text)
    return words.length > 0 ? [clauseOf(words.join(': '))] : []
  })
  return ways.length > 0 ? `; it needs one of: ${ways.join('; ')}` : ''
}
