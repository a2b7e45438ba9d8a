import type { Digest } from '../workspace/case-digest.ts'
import { asOfNow } from './as-of-now.ts'
import { caseFilter, queryOf } from './case-filter.ts'
import type { ServiceContext } from './context.ts'
import { bytesWithETag } from './etag.ts'
import { endLine } from './json-body.ts'
import type { HttpNeeds } from './needs.ts'
import { newestFirst, page } from './page.ts'

type ListNeeds = Pick<HttpNeeds, 'catalog'>

/** The list as it is at one version of the catalog. */
interface KnownList {
  version: number
  cases: readonly Digest[]
  /** Null until somebody asks for the whole list, and after a while without requests. */
  body: Body | null
  /** That of the version before. */
  before: Body | null
  forgetting: NodeJS.Timeout
}

/** The body of a long list is large: it makes room so long after the last request for it. */
const IDLE_MS = 30_000

const lists = new WeakMap<ListNeeds, KnownList>()

/** `GET /cases`, newest first. The order and the body are computed once for each version of the catalog. */
export async function caseList(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const fits = caseFilter(queryOf(c))
  const isPart = c.req.query('limit') !== undefined || c.req.query('cursor') !== undefined
  return asOfNow(service, () => {
    const list = presentList(service)
    if (fits || isPart) {
      const rows = fits ? list.cases.filter(fits) : list.cases
      return page(c, rows, { text: ({ json }) => json })
    }
    list.forgetting.refresh()
    list.body ??= makeBody(list.cases, list.before)
    list.before = null
    return bytesWithETag(c, list.body.bytes, 'application/json')
  })
}

function presentList(service: ListNeeds): KnownList {
  const { catalog } = service
  const version = catalog.version()
  const known = lists.get(service)
  if (known?.version === version) return known
  clearTimeout(known?.forgetting)
  const list: KnownList = {
    version,
    cases: sortedCases(catalog, known?.cases ?? []),
    body: null,
    before: known?.body ?? known?.before ?? null,
    forgetting: setTimeout(() => {
      list.body = null
      list.before = null
    }, IDLE_MS).unref(),
  }
  lists.set(service, list)
  return list
}

/** In the order of the list before, so that there is little to sort. */
function sortedCases(catalog: ListNeeds['catalog'], before: readonly Digest[]): Digest[] {
  const ids = new Set([...before.map(({ id }) => id), ...catalog.ids()])
  const cases = [...ids].map((id) => catalog.digest(id)).filter((each) => each !== undefined)
  return cases.sort(newestFirst)
}

/** The JSON of a whole list, and where in it each case is. */
interface Body {
  bytes: Uint8Array
  rows: ReadonlyMap<Digest, Buffer>
}

const [OPEN, COMMA, CLOSE] = ['[', ',', endLine(']')].map((text) => Buffer.from(text)) as [
  Buffer,
  Buffer,
  Buffer,
]

/** Cases that the body before has are copied: their JSON may have to be read from the disk. */
function makeBody(cases: readonly Digest[], before: Body | null): Body {
  const made = cases.map((each) => before?.rows.get(each) ?? Buffer.from(each.json))
  const pieces = [OPEN]
  for (const [at, row] of made.entries()) {
    if (at > 0) pieces.push(COMMA)
    pieces.push(row)
  }
  pieces.push(CLOSE)
  const bytes = Buffer.concat(pieces)
  const rows = new Map<Digest, Buffer>()
  let at = 1
  for (const [index, each] of cases.entries()) {
    const end = at + made[index]!.length
    rows.set(each, bytes.subarray(at, end))
    at = end + 1
  }
  return { bytes, rows }
}
