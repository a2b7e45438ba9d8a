import { asOfNow } from './as-of-now.ts'
import { caseFilter, queryOf } from './case-filter.ts'
import type { ServiceContext } from './context.ts'
import { bytesWithETag } from './etag.ts'
import type { HttpNeeds } from './needs.ts'
import { page } from './page.ts'

/** `GET /cases`, newest first. The whole list is one buffer until something changes. */
export async function caseList(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const { catalog } = service
  const fits = caseFilter(queryOf(c))
  const isPart = c.req.query('limit') !== undefined || c.req.query('cursor') !== undefined
  return asOfNow(service, () => {
    if (fits) {
      if (c.req.query('q')) catalog.listJson() // has the texts of all cases at hand
      return page(c, catalog.digests().filter(fits), { text: ({ json }) => json })
    }
    if (isPart)
      return page(c, catalog.order(), { text: ({ id }) => catalog.digest(id)?.json ?? '{}' })
    return bytesWithETag(c, catalog.listJson(), 'application/json')
  })
}
