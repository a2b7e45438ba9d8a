import { hash } from 'node:crypto'
import { AppError } from '../model/app-error.ts'
import type { ServiceContext } from './context.ts'
import { jsonBody } from './json-body.ts'

const known = new WeakMap<Uint8Array, string>()

/**
 * The strong ETag of a response's bytes, or of those that a text is in UTF-8. Remembered per array: bytes
 * given here must not change.
 */
export function etagOf(body: Uint8Array | string): string {
  if (typeof body === 'string') return quotedHash(body)
  let etag = known.get(body)
  if (etag === undefined) {
    etag = quotedHash(body)
    known.set(body, etag)
  }
  return etag
}

function quotedHash(body: Uint8Array | string): string {
  return `"${hash('sha256', body, 'hex').slice(0, 32)}"`
}

/** 200 with the value, or to a GET 304 when the client has it. `json` is the whole body where it is at hand. */
export function jsonWithETag<T>(
  c: ServiceContext,
  value: T,
  options: { json?: Uint8Array | string } = {},
): Response {
  return bytesWithETag(c, options.json ?? jsonBody(value), 'application/json')
}

/** The same for bytes of any type, or a text, which goes out in one piece with the head. */
export function bytesWithETag(
  c: ServiceContext,
  body: Uint8Array | string,
  type: string,
  etag = etagOf(body),
): Response {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
  const held = isRead ? c.req.header('if-none-match') : undefined
  if (held !== undefined && isHeld(held, etag)) return c.body(null, 304, { etag })
  // not c.body, which would make the headers an object of their own kind, at a cost
  const headers = { 'content-type': type, etag }
  return new Response(body as Uint8Array<ArrayBuffer> | string, { headers })
}

/** Whether an `If-None-Match` says that the client has it. */
function isHeld(field: string, etag: string): boolean {
  return field === etag || names(field, etag, weakly)
}

/**
 * Holds a write to `If-Match` and `If-None-Match` (RFC 9110 §13.1), where the client sent them.
 * `current` is the ETag that a GET would answer now, null when there is nothing yet. Refuses with
 * `precondition_failed`.
 */
export function requireMatch(c: ServiceContext, current: string | null): void {
  const expected = c.req.header('if-match')
  if (expected !== undefined && (current === null || !names(expected, current, strongly))) {
    const now = current === null ? 'there is nothing here now' : `the ETag is now ${current}`
    throw failed(`If-Match does not hold: ${now}. Read it again, then decide.`, current)
  }
  const unwanted = c.req.header('if-none-match')
  if (unwanted !== undefined && current !== null && names(unwanted, current, weakly)) {
    throw failed(
      'If-None-Match does not hold: the resource already exists, with this ETag.',
      current,
    )
  }
}

/** Whether a write is held to anything: else nobody needs to know the ETag. */
export function isConditional(c: ServiceContext): boolean {
  return (c.req.header('if-match') ?? c.req.header('if-none-match')) !== undefined
}

function failed(message: string, etag: string | null): AppError {
  return new AppError('precondition_failed', message, { extra: { etag } })
}

function names(field: string, etag: string, equal: typeof weakly): boolean {
  if (field.trim() === '*') return true
  return (field.match(/(?:W\/)?"[^"]*"/g) ?? []).some((tag) => equal(tag, etag))
}

function weakly(a: string, b: string): boolean {
  return a.replace(/^W\//, '') === b.replace(/^W\//, '')
}

function strongly(a: string, b: string): boolean {
  return a === b && !a.startsWith('W/')
}
