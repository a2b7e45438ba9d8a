import { queryOf } from '../case-filter.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { paginateSource } from '../pagination.ts'
import { triageFilters } from '../triage.ts'

/** `GET /triage`: the cases by what they need from the operator. */
export async function triageRoute(service: HttpDeps, c: ServiceContext): Promise<Response> {
  const { lists } = service
  const filters = await triageFilters(service, queryOf(c))
  return paginateSource(
    c,
    {
      count: () => lists.count(filters),
      after: (last, limit) => lists.triage(filters, last, limit),
    },
    { text: ({ summary }) => summary },
  )
}
