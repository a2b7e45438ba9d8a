import { clauseOf } from '../agents/cut-text.ts'
import { listOf, objectOf, textOf } from '../agents/foreign.ts'
import { within } from '../agents/patience.ts'
import { saidError, withoutStack } from '../agents/said-error.ts'
import { RunnerFailure } from '../contract.ts'

/** For the exit of a process whose output has ended. */
const EXIT_MS = 250
const AUTH_REQUIRED = -32000

export interface LinkFacts {
  /** How messages call the agent. */
  title: string
  /** The end of what it wrote to its standard error. */
  tail(): string
  exited: Promise<LinkExit>
}

export interface LinkExit {
  exit: number | null
  signal: string | null
}

/**
 * Why a request was not answered, for the operator. `signal` is that of the connection: aborted once
 * it is closed. What is no fault of the agent (a line of the trail could not be written) stays as it is.
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

/** Whether it closed, in whatever way its pipes tell it. */
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

/** Its message, its code and its detail, none of them twice. */
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

/** What a login needs, as the agent itself describes it. */
export function loginHint(authMethods: unknown): string {
  const ways = listOf(authMethods).flatMap((way) => {
    const { name, description } = objectOf(way)
    const words = [textOf(name), textOf(description)].filter((text) => text)
    return words.length > 0 ? [clauseOf(words.join(': '))] : []
  })
  return ways.length > 0 ? `; it needs one of: ${ways.join('; ')}` : ''
}
