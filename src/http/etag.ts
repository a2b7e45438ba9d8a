import { hash } from 'node:crypto'
import { AppError } from '../model/app-error.ts'
import type { ServiceContext } from './context.ts'
import { jsonBody } from './json-body.ts'

const known = new WeakMap<Uint8Array, string>()

/** The strong ETag of a body. Cached per array, so the bytes must not change afterwards. */
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

/** 200 with the value, or 304 for a GET if the client has it. `json` is the body if it is already serialized. */
export function jsonWithETag<T>(
  c: ServiceContext,
  value: T,
  options: { json?: Uint8Array | string } = {},
): Response {
  return bytesWithETag(c, options.json ?? jsonBody(value), 'application/json')
}

/** The same for a body of any type. */
export function bytesWithETag(
  c: ServiceContext,
  body: Uint8Array | string,
  type: string,
  etag = etagOf(body),
): Response {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
  const cached = isRead ? c.req.header('if-none-match') : undefined
  if (cached !== undefined && isCached(cached, etag)) return c.body(null, 304, { etag })
  // faster than c.body, which builds a Headers object
  const headers = { 'content-type': type, etag }
  return new Response(body as Uint8Array<ArrayBuffer> | string, { headers })
}

/** Whether the client has it, by its `If-None-Match`. */
function isCached(field: string, etag: string): boolean {
  return field === etag || names(field, etag, weakly)
}

/**
 * Checks `If-Match` and `If-None-Match` of a write (RFC 9110 §13.1), if the client sent them. `current` is the ETag
 * that a GET would return now; null if there is no resource yet. Throws `precondition_failed`.
 */
export function requireMatch(
  c: ServiceContext,
  current: string | null,
  noun = 'the resource',
): void {
  const expected = c.req.header('if-match')
  if (expected !== undefined && (current === null || !names(expected, current, strongly))) {
    const now =
      current === null
        ? `${noun} does not exist`
        : `${noun} is not what you read; its ETag is now ${current}`
    throw failed(`If-Match failed: ${now}. Read it again, then decide.`, current)
  }
  const unwanted = c.req.header('if-none-match')
  if (unwanted !== undefined && current !== null && names(unwanted, current, weakly)) {
    throw failed('If-None-Match failed: the resource exists, and matches.', current)
  }
}

/** Whether a write has a condition; if not, the ETag need not be computed. */
export function isConditional(c: ServiceContext): boolean {
  return (c.req.header('if-match') ?? c.req.header('if-none-match')) !== undefined
}

/**
 * Checks `If-Match` on a resource as a GET would return it now. Returns a check to call right before the write: it
 * throws if the file, whose present hash is `hash()`, has changed since.
 */
export function matchUntilWritten(
  c: ServiceContext,
  json: unknown,
  { noun, hash: hashNow }: { noun: string; hash: () => string | undefined },
): () => void {
  if (isConditional(c)) requireMatch(c, etagOf(jsonBody(json)))
  const matched = hashNow()
  return () => {
    if (c.req.header('if-match') === undefined || hashNow() === matched) return
    throw new AppError(
      'precondition_failed',
      `The ${noun} has changed. Read it again, then decide.`,
    )
  }
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
