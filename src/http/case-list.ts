import type { Digest } from '../workspace/case-digest.ts'
import { asOfNow } from './as-of-now.ts'
import { caseFilter, queryOf } from './case-filter.ts'
import type { ServiceContext } from './context.ts'
import { bytesWithETag } from './etag.ts'
import { ListBlocks, type ListBytes } from './list-blocks.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst, page } from './page.ts'

type ListNeeds = Pick<HttpNeeds, 'catalog'>

/** The list as it was at a version of the catalog. */
interface KnownList {
  version: number
  digests: Digest[]
  blocks: ListBlocks
  forgetting: NodeJS.Timeout
}

/** So long after the last request for the list, its bytes make room. */
const IDLE_MS = 30_000

const lists = new WeakMap<ListNeeds, KnownList>()

/** The list of cases, newest first; its order and its bytes are kept until something changes. */
export async function caseList(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const fits = caseFilter(queryOf(c))
  const isPart = c.req.query('limit') !== undefined || c.req.query('cursor') !== undefined
  return asOfNow(service, () => {
    if (fits || isPart) {
      const { digests } = listOf(service)
      const rows = fits ? digests.filter(fits) : digests
      return page(c, rows, { text: ({ json }) => json })
    }
    const { parts, length, etag } = wholeList(service)
    return bytesWithETag(c, Buffer.concat(parts, length), 'application/json', etag)
  })
}

/** What `GET /cases` answers of what is known. */
export function wholeList(service: ListNeeds): ListBytes {
  const { blocks, forgetting } = listOf(service)
  forgetting.refresh()
  return blocks.bytes()
}

function listOf(service: ListNeeds): KnownList {
  const { catalog } = service
  const version = catalog.version()
  let list = lists.get(service)
  if (list?.version === version) return list
  if (!list) {
    const blocks = new ListBlocks()
    const forgetting = setTimeout(() => blocks.forgetBytes(), IDLE_MS).unref()
    list = { version, digests: [], blocks, forgetting }
    lists.set(service, list)
  }
  if (!replaceChanged(list, catalog)) {
    list.digests = inOrderOf(list.digests, catalog)
    list.blocks.set(list.digests)
  }
  list.version = version
  return list
}

/** Most often a few cases have changed and stand where they stood: false where it is not so. */
function replaceChanged(list: KnownList, { changesSince, digest }: HttpNeeds['catalog']): boolean {
  const changed = changesSince(list.version)
  if (changed === null || list.digests.length === 0) return false
  const places = new Map<number, Digest>()
  for (const id of changed) {
    const now = digest(id)
    const at = now && placeOf(now, list.digests)
    if (at === undefined) return false
    places.set(at, now!)
  }
  const digests = [...list.digests] // whoever was given that has it to itself
  for (const [at, now] of places) {
    digests[at] = now
    list.blocks.replace(at, now)
  }
  list.digests = digests
  return true
}

/** Where the digest of the same case stands, if it does not have to move. */
function placeOf(digest: Digest, digests: readonly Digest[]): number | undefined {
  let [from, to] = [0, digests.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (newestFirst(digests[middle]!, digest) < 0) from = middle + 1
    else to = middle
  }
  const found = digests[from]
  return found?.id === digest.id && found.created_at === digest.created_at ? from : undefined
}

/** All digests, those of before in the order of before: to sort what is sorted but for a few takes a tenth of the time. */
function inOrderOf(before: readonly Digest[], catalog: HttpNeeds['catalog']): Digest[] {
  const digests = before
    .map(({ id }) => catalog.digest(id))
    .filter((digest) => digest !== undefined)
  if (digests.length < catalog.size()) {
    const known = new Set(digests.map(({ id }) => id))
    for (const id of catalog.ids()) if (!known.has(id)) digests.push(catalog.digest(id)!)
  }
  return digests.sort(newestFirst)
}
