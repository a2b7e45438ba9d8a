import { type FieldError, Refusal } from '../model/refusal.ts'
import type { ServiceContext } from './context.ts'
import { jsonWithETag } from './etag.ts'

const MAX_LIMIT = 1000

export interface Listed {
  created_at: string
  id: string
}

/**
 * Answers a list, which must come in the order of `newestFirst`: whole, or with `?limit=` the page
 * after `?cursor=`. The cursor names the last item given, not a position, so that items which come
 * or go in between neither repeat nor hide others. `bytes` is the JSON of the whole list.
 */
export function page<T extends Listed>(
  c: ServiceContext,
  items: readonly T[],
  options: { bytes?: Uint8Array } = {},
): Response {
  const limit = c.req.query('limit')
  const cursor = c.req.query('cursor')
  if (limit === undefined) {
    if (cursor !== undefined) throw wrong('cursor', 'goes with limit only; add ?limit= too')
    return jsonWithETag(c, items, options)
  }
  const size = /^[1-9]\d{0,3}$/.test(limit) ? Number(limit) : 0
  if (size < 1 || size > MAX_LIMIT) {
    throw wrong('limit', `expected a whole number from 1 to ${MAX_LIMIT}; got ${quoted(limit)}`)
  }
  const start = cursor === undefined ? 0 : startAfter(items, decodeCursor(cursor))
  const shown = items.slice(start, start + size)
  const headers: Record<string, string> = { 'x-total-count': String(items.length) }
  const last = shown.at(-1)
  if (last !== undefined && start + size < items.length) headers.link = nextLink(c, last)
  return c.json(shown, 200, headers)
}

/** Compares for `sort`: by created_at from late to early, then by id. */
export function newestFirst(a: Listed, b: Listed): number {
  if (a.created_at !== b.created_at) return a.created_at > b.created_at ? -1 : 1
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

function startAfter(items: readonly Listed[], last: Listed): number {
  const index = items.findIndex((item) => newestFirst(last, item) < 0)
  return index === -1 ? items.length : index
}

/** A relative reference (RFC 8288): the client knows by which name it reached us. */
function nextLink(c: ServiceContext, last: Listed): string {
  const url = new URL(c.req.url)
  url.searchParams.set('cursor', encodeCursor(last))
  return `<${url.pathname}${url.search}>; rel="next"`
}

function encodeCursor({ created_at, id }: Listed): string {
  return Buffer.from(JSON.stringify([created_at, id])).toString('base64url')
}

function decodeCursor(cursor: string): Listed {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, created_at, id] = /^\["([^"\\]*)","([^"\\]*)"\]$/.exec(text) ?? []
  if (created_at === undefined || id === undefined) {
    const advice = 'take it from the Link header of the page before'
    throw wrong('cursor', `${quoted(cursor)} is no cursor of this list; ${advice}`)
  }
  return { created_at, id }
}

function wrong(path: string, message: string): Refusal {
  const errors: FieldError[] = [{ path, message }]
  return new Refusal('bad_request', `${path}: ${message}.`, { errors })
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
