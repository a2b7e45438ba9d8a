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
  /** The whole list as JSON; null until somebody asks for it, and after a while without requests. */
  body: Uint8Array | null
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
    list.body ??= jsonList(list.cases.map(({ json }) => json))
    return bytesWithETag(c, list.body, 'application/json')
  })
}

function presentList(service: ListNeeds): KnownList {
  const { catalog } = service
  const version = catalog.version()
  const known = lists.get(service)
  if (known?.version === version) return known
  clearTimeout(known?.forgetting)
  const cases = catalog.ids().map((id) => catalog.digest(id)!)
  const list: KnownList = {
    version,
    cases: cases.sort(newestFirst),
    body: null,
    forgetting: setTimeout(() => {
      list.body = null
    }, IDLE_MS).unref(),
  }
  lists.set(service, list)
  return list
}

/** Row by row: V8 encodes a text in ASCII ten times faster, and one other character in a joined text would spoil it. */
function jsonList(rows: readonly string[]): Buffer {
  const end = endLine(']')
  const separators = Math.max(0, rows.length - 1)
  const length = rows.reduce((sum, row) => sum + Buffer.byteLength(row), separators)
  const body = Buffer.allocUnsafe(1 + length + end.length)
  let at = body.write('[')
  for (const [index, row] of rows.entries()) {
    if (index > 0) at += body.write(',', at)
    at += body.write(row, at)
  }
  body.write(end, at)
  return body
}
