import { resolvedLike } from '../../sessions/resolved-like.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { withFreshCatalog } from '../fresh-catalog.ts'
import { answerJson } from '../json-body.ts'
import { caseId } from '../params.ts'
import { limitOf } from './search.ts'

const LIMIT = { otherwise: 5, most: 20 }

/** `GET /cases/:id/similar`: resolved cases that resemble this one, and what was learned from each. */
export async function similarRoute(service: HttpDeps, c: ServiceContext): Promise<Response> {
  const id = caseId(c)
  const limit = limitOf((name) => c.req.query(name), LIMIT)
  await service.store.read(id)
  return answerJson(c, await withFreshCatalog(service, () => resolvedLike(service, id, limit)))
}
