import type { TriageRow } from '../model/triage-row.ts'
import { queryOf } from './case-filter.ts'
import type { ServiceContext } from './context.ts'
import { jsonBody } from './json-body.ts'
import type { HttpNeeds } from './needs.ts'
import { page } from './page.ts'
import { fittingRows, triagePlace } from './triage.ts'

/** The JSON of a list that has not changed is not made again. */
const texts = new WeakMap<readonly TriageRow[], Uint8Array>()

/** `GET /triage`: the cases by what they need from the operator. */
export async function triageRoute(service: HttpNeeds, c: ServiceContext): Promise<Response> {
  const rows = await fittingRows(service, queryOf(c))
  const isPart = c.req.query('limit') !== undefined || c.req.query('cursor') !== undefined
  if (isPart) return page(c, rows, { place: triagePlace })
  let bytes = texts.get(rows)
  if (!bytes) {
    bytes = new TextEncoder().encode(jsonBody(rows))
    texts.set(rows, bytes)
  }
  return page(c, rows, { bytes })
}
