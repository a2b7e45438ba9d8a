import { yieldIfBusy } from '../files/yielding.ts'
import { AppError, type FieldError } from '../model/app-error.ts'
import type { ServiceContext } from './context.ts'
import { jsonWithETag } from './etag.ts'
import { endLine } from './json-body.ts'

/** The limit of JSON in one response: less than V8's longest string. */
const MAX_CHARACTERS = 64 * 1024 * 1024

interface PageOptions<T> {
  /** Converts an item of the page to JSON values. Default: the item itself. */
  serialize?: (item: T) => Promise<unknown>
  /** The JSON of an item if it is already serialized; undefined if the item is gone. */
  serialized?: (item: T) => string | undefined
  maxCharacters?: number
}

/** The position of an item in its list, which is sorted by `created_at`, newest first, then by `id`. */
export interface SortKey {
  created_at: string
  id: string
}

/** A list that is read page by page, so that a page costs only its own items. */
export interface ListSource<T> {
  count(): Promise<number> | number
  /** At most `limit` items after `last`, in order. Null means: from the beginning, or to the end. */
  after(last: SortKey | null, limit: number | null): Promise<readonly T[]> | readonly T[]
}

/** A request for a list, with its validated query. */
interface ListRequest {
  c: ServiceContext
  query: { limit?: number | undefined; cursor?: string | undefined }
}

/**
 * Responds with a list, which must be in the order of `newestFirst`: the whole list, or with `?limit=` the page after
 * `?cursor=`. The cursor is the last item of the previous page, not an index, so that items added or deleted in between
 * neither repeat nor hide others. `serialize` is called for the items of the page only. Throws `too_large` for over 64 MiB.
 */
export function paginate<T extends SortKey>(
  request: ListRequest,
  items: readonly T[],
  options: PageOptions<T> = {},
): Promise<Response> {
  const source: ListSource<T> = {
    count: () => items.length,
    after(last, limit) {
      const start = last === null ? 0 : startAfter(items, last)
      return items.slice(start, limit === null ? undefined : start + limit)
    },
  }
  return paginateSource(request, source, options)
}

/** Same as `paginate`, for a list that is not in memory. */
export async function paginateSource<T extends SortKey>(
  { c, query: { limit, cursor } }: ListRequest,
  source: ListSource<T>,
  options: PageOptions<T> = {},
): Promise<Response> {
  if (limit === undefined) {
    if (cursor !== undefined) throw queryError('cursor', 'requires limit; add ?limit= too')
    return jsonWithETag(c, null, {
      json: await serializeList(await source.after(null, null), options),
    })
  }
  const items = await source.after(cursor === undefined ? null : decodeCursor(cursor), limit + 1)
  const shown = items.slice(0, limit)
  const headers: Record<string, string> = { 'x-total-count': String(await source.count()) }
  const last = shown.at(-1)
  if (last !== undefined && items.length > limit) {
    headers.link = nextLink(c, last)
  }
  headers['content-type'] = 'application/json'
  return c.body(await serializeList(shown, options), 200, headers)
}

/** Serializes one item after the other, so that a list that is too large is not loaded completely. */
async function serializeList<T>(
  items: readonly T[],
  { serialize = async (item) => item, serialized, maxCharacters = MAX_CHARACTERS }: PageOptions<T>,
): Promise<Uint8Array<ArrayBuffer>> {
  const parts: string[] = []
  let characters = 0
  for (const item of items) {
    const part = serialized ? serialized(item) : JSON.stringify(await serialize(item))
    if (part === undefined) continue
    characters += part.length
    if (characters > maxCharacters) throw tooLarge(parts.length, items.length, maxCharacters)
    parts.push(part)
    await yieldIfBusy()
  }
  return new TextEncoder().encode(endLine(`[${parts.join(',')}]`))
}

function tooLarge(fitting: number, all: number, maxCharacters: number): AppError {
  const limit = maxCharacters / 1024 / 1024
  const advice =
    fitting > 0 ? `Request fewer at a time, such as ?limit=${fitting}` : 'Request it by its id'
  return new AppError(
    'too_large',
    `These ${all} items have over ${limit} MiB of JSON, too much for one response. ${advice}.`,
  )
}

/** Compares two items for `sort`: by created_at, newest first, then by id. */
export function newestFirst(a: SortKey, b: SortKey): number {
  if (a.created_at !== b.created_at) return a.created_at > b.created_at ? -1 : 1
  if (a.id === b.id) return 0
  return a.id < b.id ? -1 : 1
}

/** Returns the index of the first item after `last`, which may have been deleted. */
function startAfter(items: readonly SortKey[], last: SortKey): number {
  const index = items.findIndex((item) => newestFirst(last, item) < 0)
  return index === -1 ? items.length : index
}

/** A relative reference (RFC 8288): the client knows the host. */
function nextLink(c: ServiceContext, last: SortKey): string {
  const url = new URL(c.req.url)
  url.searchParams.set('cursor', encodeCursor(last))
  return `<${url.pathname}${url.search}>; rel="next"`
}

function encodeCursor({ created_at, id }: SortKey): string {
  return Buffer.from(JSON.stringify([created_at, id])).toString('base64url')
}

/** Two JSON strings. */
const CURSOR = /^\["(?:[^"\\\p{Cc}]|\\["\\])*","(?:[^"\\\p{Cc}]|\\["\\])*"\]$/u

function decodeCursor(cursor: string): SortKey {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [created_at, id] = CURSOR.test(text) ? JSON.parse(text) : []
  if (created_at === undefined || id === undefined) {
    const advice = 'take it from the Link header of the previous page'
    throw queryError('cursor', `${quoted(cursor)} is not a cursor of this list; ${advice}`)
  }
  return { created_at, id }
}

function queryError(path: string, message: string): AppError {
  const errors: FieldError[] = [{ path, message }]
  return new AppError('bad_request', `${path}: ${message}.`, { errors })
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)
}
