import { type Stats, statsOf, weeksUntil } from '../../model/stats.ts'
import type { HttpDeps } from '../deps.ts'
import { endpoint, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { type StatsJson, stats } from '../schemas/stats.ts'

export const statsEndpoints = [
  endpoint({
    route: 'GET /stats',
    id: 'getStats',
    tag: 'Cases',
    summary: 'Get what waits and how runs went',
    description:
      'Returns how many cases need what from a person and since when, and for the last eight weeks the runs of each agent: how many passed, and the median times that sessions planned, waited for approval and ran. Runs on other machines count too. A run passed if its session completed without failed tests.',
    responses: ok(stats, 'The numbers.'),
    async handle({ c, service }) {
      await service.synchronizer.freshenAll()
      return jsonWithETag<StatsJson>(c, readStats(service))
    },
  }),
]

export function readStats({
  catalog,
  lists,
  now,
}: Pick<HttpDeps, 'catalog' | 'lists' | 'now'>): Stats {
  const weeks = weeksUntil(now())
  return statsOf(catalog.runs(), lists.waiting(), weeks)
}
