import { Hono } from 'hono'
import { type CaseFolder, sessionOf } from '../../model/case-folder.ts'
import { Refusal } from '../../model/refusal.ts'
import { MAX_PLAN_BYTES, type Session } from '../../model/session.ts'
import { actorOf } from '../actor.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { etagOf, jsonWithETag, requireMatch } from '../etag.ts'
import { answerJson, jsonBody } from '../json-body.ts'
import { knownQuery, PAGING } from '../middleware/known-query.ts'
import { requireOperator } from '../middleware/require-operator.ts'
import { newestFirst, paginate } from '../pagination.ts'
import { caseId, sessionId } from '../params.ts'
import { mustFit, readJson } from '../request-body.ts'
import {
  abandonSchema,
  approveSchema,
  newSessionSchema,
  planSchema,
  reviseSchema,
} from '../schemas/case.ts'
import { serializeSession } from '../serializers.ts'

/** `/cases/:id/sessions` (specification §4.2, and what design §4 adds). */
export function sessionRoutes(service: HttpDeps): Hono<ServiceEnv> {
  const { store, sessions } = service
  const app = new Hono<ServiceEnv>()

  async function answer(c: ServiceContext, folder: CaseFolder, id: string): Promise<Response> {
    return jsonWithETag(c, await serializeSession(service, folder, sessionOf(folder, id)))
  }

  /** Holds the request to If-Match: now, and again on the same bytes when the change is made. */
  async function matching(c: ServiceContext, id: string, sid: string) {
    const folder = await store.read(id)
    const session = sessionOf(folder, sid)
    const json = await serializeSession(service, folder, session)
    const etag = etagOf(jsonBody(json))
    requireMatch(c, etag)
    const hash = hashOf(session)
    return (_: CaseFolder, present: Session) => {
      if (c.req.header('if-match') !== undefined && hashOf(present) !== hash) {
        throw new Refusal(
          'precondition_failed',
          'The session changed meanwhile. Read it again and decide anew.',
        )
      }
    }
  }

  const hashOf = (session: Session) =>
    service.catalog.entry(session.case_id)?.sessions.get(session.number)?.hash

  app.get('/', knownQuery(...PAGING), async (c) => {
    const folder = await store.read(caseId(c))
    const all = folder.sessions.map((session) => ({
      ...{ id: session.id, created_at: session.started_at, session },
    }))
    const present = ({ session }: { session: Session }) =>
      serializeSession(service, folder, session)
    return paginate(c, all.sort(newestFirst), { present })
  })

  app.post('/', requireOperator(service, 'create session'), async (c) => {
    const id = caseId(c)
    const wanted = await readJson(c, newSessionSchema)
    const { folder, session } = await sessions.create(id, wanted, await actorOf(service, c))
    const json = await serializeSession(service, folder, session)
    return answerJson(c, json, 201, { location: `/cases/${id}/sessions/${session.id}` })
  })

  app.get('/:sid', async (c) => answer(c, await store.read(caseId(c)), sessionId(c)))

  app.put('/:sid/plan', requireOperator(service, 'edit plan'), async (c) => {
    const [id, sid] = [caseId(c), sessionId(c)]
    const edit = await readJson(c, planSchema)
    for (const [name, text] of Object.entries(edit)) mustFit(name, text ?? '', MAX_PLAN_BYTES)
    const allow = await matching(c, id, sid)
    return answer(
      c,
      await sessions.editPlan(id, sid, edit, { allow, by: await actorOf(service, c) }),
      sid,
    )
  })

  app.post('/:sid/approve', requireOperator(service, 'approve'), async (c) => {
    const [id, sid] = [caseId(c), sessionId(c)]
    const { plan_sha256 } = await readJson(c, approveSchema)
    const by = await actorOf(service, c)
    return answer(c, await sessions.approve(id, sid, { plan_sha256, by }), sid)
  })

  app.post('/:sid/revise', requireOperator(service, 'revise'), async (c) => {
    const [id, sid] = [caseId(c), sessionId(c)]
    const { note } = await readJson(c, reviseSchema)
    const by = await actorOf(service, c)
    return answer(c, await sessions.revise(id, sid, { note, by }), sid)
  })

  app.post('/:sid/abandon', requireOperator(service, 'abandon'), async (c) => {
    const [id, sid] = [caseId(c), sessionId(c)]
    const { reason } = await readJson(c, abandonSchema)
    const by = await actorOf(service, c)
    return answer(c, await sessions.abandon(id, sid, { reason, by }), sid)
  })

  return app
}
