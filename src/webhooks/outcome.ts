/** What an answer of a receiver means for the delivery, and in which words it is shown. */

import { AppError } from '../model/app-error.ts'
import type { Attempt } from '../model/delivery.ts'
import type { Answer } from './exchange.ts'

export type Outcome = Pick<Attempt, 'status' | 'error' | 'retry_after_ms'>

const SHOWN_CHARACTERS = 200

/** What an answer means for the delivery: only 2xx is a success. */
export function outcomeOf(answer: Answer, url: URL): Outcome {
  const { status, headers } = answer
  if (status >= 200 && status < 300) return { status, error: null, retry_after_ms: null }
  const error = status >= 300 && status < 400 ? redirect(answer, url) : said(answer)
  return { status, error, retry_after_ms: retryAfterMs(headers['retry-after'], Date.now()) }
}

/** Of its target the origin alone: the rest of a URL is often a secret. */
function redirect({ status, headers: { location } }: Answer, url: URL): string {
  const to =
    location !== undefined && URL.canParse(location, url.href) ? new URL(location, url) : null
  const where = to === null ? '' : ` to ${to.origin === 'null' ? to.protocol : to.origin}`
  return `answered ${status}, a redirect${where}; redirects are not followed`
}

function said({ status, headers, beginning }: Answer): string {
  const type = headers['content-type'] ?? 'text/plain'
  const isText = /^text\/|[/+](json|xml)\b/i.test(type) && !headers['content-encoding']
  const text = isText ? oneLine(beginning) : ''
  return text === '' ? `answered ${status}` : `answered ${status}: ${text}`
}

function oneLine(bytes: Buffer): string {
  // As a stream, it leaves out a character that the end cuts in two.
  const text = new TextDecoder().decode(bytes, { stream: true })
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Z}]+/gu, ' ').trim()
  return [...line].slice(0, SHOWN_CHARACTERS).join('')
}

/** Seconds, or a date as HTTP writes it (RFC 9110 §10.2.3); null for anything else. */
function retryAfterMs(value: string | undefined, now: number): number | null {
  if (value === undefined) return null
  if (/^\d+$/.test(value)) return Math.min(Number(value) * 1000, Number.MAX_SAFE_INTEGER)
  const date = HTTP_DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Date.parse alone takes nearly any text with a number in it. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

/**
 * Why there was no answer, in words, without addresses or other details of this machine. An error
 * that neither the network nor the target can have caused is thrown on.
 */
export function failureInWords(error: unknown): string {
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
  ENOTFOUND: 'name not found',
  ENODATA: 'name not found',
  EAI_AGAIN: 'the name could not be looked up just now',
  ETIMEDOUT: 'the connection could not be made in time',
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  HPE_HEADER_OVERFLOW: 'the headers of the answer are too large',
  TOO_MANY_INTERIM_ANSWERS: 'too many interim answers (1xx) came',
  ERR_INVALID_CHAR: UNSENDABLE,
  ERR_INVALID_HTTP_TOKEN: UNSENDABLE,
  ERR_HTTP_INVALID_HEADER_VALUE: UNSENDABLE,
}

/** Names of OpenSSL and of node for what is wrong with a certificate or a handshake. */
const TLS_CODE = /CERT|TLS|SSL|SIGNATURE|EPROTO|HOSTNAME|PURPOSE/
