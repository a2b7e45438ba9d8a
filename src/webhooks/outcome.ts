/**
 * Turns a receiver's answer, or the failure to get one, into the outcome of an attempt, with an error message for
 * people.
 */

import { AppError } from '../model/app-error.ts'
import type { Attempt } from '../model/delivery.ts'
import type { Answer } from './exchange.ts'

export type Outcome = Pick<Attempt, 'status' | 'error' | 'retry_after_ms'>

const SHOWN_CHARACTERS = 200

/** Returns the outcome of an answer. Only 2xx is a success. */
export function parseOutcome(answer: Answer, url: URL): Outcome {
  const { status, headers } = answer
  if (status >= 200 && status < 300) return { status, error: null, retry_after_ms: null }
  const error =
    status >= 300 && status < 400 ? describeRedirect(answer, url) : describeAnswer(answer)
  return { status, error, retry_after_ms: parseRetryAfter(headers['retry-after'], Date.now()) }
}

/** Shows only the origin of a redirect's target, as the rest of a URL often contains secrets. */
function describeRedirect({ status, headers: { location } }: Answer, url: URL): string {
  const to =
    location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : null
  const where = to === null ? '' : ` to ${to.origin === 'null' ? to.protocol : to.origin}`
  return `answered ${status}, a redirect${where}; redirects are not followed`
}

function describeAnswer({ status, headers, beginning }: Answer): string {
  const type = headers['content-type'] ?? 'text/plain'
  const isText = /^text\/|[/+](json|xml)\b/i.test(type) && !headers['content-encoding']
  const text = isText ? oneLine(beginning) : ''
  return text === '' ? `answered ${status}` : `answered ${status}: ${text}`
}

function oneLine(bytes: Buffer): string {
  // streaming mode drops a character that is cut in two at the end
  const text = new TextDecoder().decode(bytes, { stream: true })
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim()
  return [...line].slice(0, SHOWN_CHARACTERS).join('')
}

/** Parses seconds or an HTTP date (RFC 9110 §10.2.3); null for anything else. */
function parseRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Checked first because Date.parse accepts nearly any text with a number in it. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/**
 * Describes why there was no answer, without addresses or other details of this machine. Rethrows an error that
 * neither the network nor the receiver can have caused.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof AppError) return error.message
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code !== 'string') throw error
  const words = WORDS[code]
  if (words !== undefined) return words
  if (code.startsWith('HPE_')) return `the answer is not valid HTTP (${code})`
  if (TLS_CODE.test(code)) return `TLS failed (${code})`
  return `the request failed (${code})`
}

const CLOSED = 'the connection was closed before an answer came'
const UNREACHABLE = 'the host cannot be reached'
const UNSENDABLE = 'a header cannot be sent'

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: CLOSED,
  EPIPE: CLOSED,
  ENOTFOUND: 'host name not found',
  ENODATA: 'host name not found',
  EAI_AGAIN: 'the DNS lookup failed for now',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  TOO_MANY_INTERIM_ANSWERS: 'too many interim answers (1xx)',
  ERR_INVALID_CHAR: UNSENDABLE,
  ERR_INVALID_HTTP_TOKEN: UNSENDABLE,
  ERR_HTTP_INVALID_HEADER_VALUE: UNSENDABLE,
}

/** Error codes of OpenSSL and node for certificate and handshake problems. */
const TLS_CODE = /CERT|TLS|SSL|SIGNATURE|EPROTO|HOSTNAME|PURPOSE/
