import { clauseOf } from '../agents/cut-text.ts'
import { listOf, objectOf, textOf } from '../agents/foreign.ts'
import { within } from '../agents/patience.ts'
import { saidError, withoutStack } from '../agents/said-error.ts'
import { RunnerFailure } from '../contract.ts'

/** How long to wait for a process to exit after its output has ended. */
const EXIT_MS = 250
const AUTH_REQUIRED = -32000

export interface LinkFacts {
  /** The agent's name in messages. */
  title: string
  /** The end of its standard error. */
  tail(): string
  exited: Promise<LinkExit>
}

export interface LinkExit {
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
  facts: LinkFacts,
): Promise<unknown> {
  const { title } = facts
  const { code } = objectOf(error)
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
  return error instanceof RunnerFailure && objectOf(error.cause).code === AUTH_REQUIRED
}

/** Whether the error means that the connection closed, in any of the forms that pipes report it. */
function isOfStream(reason: unknown): boolean {
  const { code, message } = objectOf(reason)
  return (
    message === 'ACP connection closed' ||
    ['ERR_STREAM_PREMATURE_CLOSE', 'ECONNRESET', 'EPIPE'].includes(String(code))
  )
}

async function endOf(method: string, { title, exited, tail }: LinkFacts): Promise<string> {
  const exit = await within(EXIT_MS, exited)
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
  const { code, message } = objectOf(error)
  const words = saidError(String(message))
  const detail = detailOf(error)
  const said = words.replace(/^Internal error: (?=\S)/i, '')
  if (said !== words) return said
  const number = words.includes(String(code)) ? '' : ` (${code})`
  return `${words}${number}${words.includes(detail) ? '' : `: ${detail}`}`
}

function detailOf(error: unknown): string {
  const { data } = objectOf(error)
  const detail = textOf(data) ?? textOf(objectOf(data).details) ?? textOf(objectOf(data).message)
  return detail ? saidError(detail) : ''
}

/** The ways to log in, as the agent describes them. */
export function loginHint(authMethods: unknown): string {
  const ways = listOf(authMethods).flatMap((way) => {
    const { name, description } = objectOf(way)
    const words = [textOf(name), textOf(description)].filter((text) => text)
    return words.length > 0 ? [clauseOf(words.join(': '))] : []
  })
  return ways.length > 0 ? `; it needs one of: ${ways.join('; ')}` : ''
}
