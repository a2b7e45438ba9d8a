import { queryOf } from './case-filter.ts'
import type { ServiceContext } from './context.ts'
import type { HttpNeeds } from './needs.ts'
import { pageFrom } from './page.ts'
import { triageFilters } from './triage.ts'

/** `GET /triage`: the cases by what they need from the operator. */
export async function triageRoute(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const { lists } = service
  const filters = await triageFilters(service, queryOf(c))
  return pageFrom(
    c,
    {
      count: () => lists.count(filters),
      after: (last, limit) => lists.triage(filters, last, limit),
    },
    { text: ({ summary }) => summary },
  )
}
