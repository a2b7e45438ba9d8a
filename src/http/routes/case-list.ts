import { caseQuery, filtersFor, queryOf } from '../case-filter.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { bytesWithETag } from '../etag.ts'
import { isPart, paginateSource } from '../pagination.ts'

/** `GET /cases`, newest first. The whole list is one buffer until something changes. */
export async function caseList(service: HttpDeps, c: ServiceContext): Promise<Response> {
  const { catalog, lists, synchronizer } = service
  const wanted = caseQuery(queryOf(c))
  await synchronizer.freshenAll()
  if (!wanted && !isPart(c)) return bytesWithETag(c, catalog.listJson(), 'application/json')
  const filters = filtersFor(catalog, wanted)
  return paginateSource(
    c,
    {
      count: () => lists.count(filters),
      after: (last, limit) => lists.newest(filters, last, limit),
    },
    { text: ({ id }) => catalog.json(id) },
  )
}
