import type { ApiReader } from './client.ts'

/** The most that a list gives at a time. */
const MOST = 1000

/** The items of a list, page by page as they are used. */
export async function* itemsOf<T>(
  client: ApiReader,
  path: string,
  pageSize = MOST,
): AsyncGenerator<T> {
  let next: string | null = withLimit(path, pageSize)
  while (next !== null) {
    const page = await client.request('GET', next)
    yield* page.body as T[]
    next = page.next
  }
}

/** All items of a list that is small by its nature, such as the sessions of a case. */
export async function allOf<T>(client: ApiReader, path: string): Promise<T[]> {
  const items: T[] = []
  for await (const item of itemsOf<T>(client, path)) items.push(item)
  return items
}

export interface PartOfList<T> {
  items: T[]
  /** How many the whole list has. */
  total: number
}

/** At most `limit` items of a list, after the first `offset`; by default all. */
export async function partOfList<T>(
  client: ApiReader,
  path: string,
  { offset = 0, limit = Number.POSITIVE_INFINITY }: { offset?: number; limit?: number | undefined },
): Promise<PartOfList<T>> {
  const wanted = offset + limit
  const items: T[] = []
  let total = 0
  let next: string | null = withLimit(path, Math.min(wanted, MOST))
  while (next !== null && items.length < wanted) {
    const page = await client.request('GET', next)
    items.push(...(page.body as T[]))
    total = page.total ?? items.length
    next = page.next
  }
  return { items: items.slice(offset, wanted), total }
}

function withLimit(path: string, limit: number): string {
  return `${path}${path.includes('?') ? '&' : '?'}limit=${Math.max(1, limit)}`
}
