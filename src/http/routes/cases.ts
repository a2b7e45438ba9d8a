import { Hono } from 'hono'
import type { CaseFolder } from '../../model/case-folder.ts'
import { answerQuestion } from '../../model/decide-answer.ts'
import { newCase, setState, updateCase } from '../../model/decide-case.ts'
import { Refusal } from '../../model/refusal.ts'
import { actorOf } from '../actor.ts'
import { caseHistory } from '../case-history.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { bytesWithETag, isConditional, jsonWithETag, requireMatch } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { CASE_FILTERS, knownQuery, PAGING } from '../middleware/known-query.ts'
import { notWhilePlanning, requireOperator } from '../middleware/require-operator.ts'
import { caseId, knownState } from '../params.ts'
import { readJson } from '../request-body.ts'
import { answerSchema, caseFieldsSchema, newCaseSchema, stateSchema } from '../schemas/case.ts'
import { newFields, wantedFields } from '../schemas/case-fields.ts'
import { caseBody, type Deleted } from '../serializers.ts'
import { caseList } from './case-list.ts'

/** `/cases` and `/cases/:id` (specification §4.1). */
export function caseRoutes(service: HttpDeps): Hono<ServiceEnv> {
  const { store } = service
  const app = new Hono<ServiceEnv>()
  const answer = (c: ServiceContext, folder: CaseFolder) => {
    const { text, etag } = caseBody(service, folder)
    return bytesWithETag(c, text, 'application/json', etag)
  }
  const mustMatch = (c: ServiceContext, folder: CaseFolder) => {
    if (isConditional(c)) requireMatch(c, caseBody(service, folder).etag)
  }

  app.get('/', knownQuery(...CASE_FILTERS, ...PAGING), (c) => caseList(service, c))

  app.post('/', notWhilePlanning(service, 'create case'), async (c) => {
    const fields = newFields(await readJson(c, newCaseSchema))
    const by = await actorOf(service, c)
    const folder = await store.create(newCase(fields, service.newId(), service.now()), by)
    const location = `/cases/${folder.case.id}`
    const { text } = caseBody(service, folder)
    return c.body(text, 201, { location, 'content-type': 'application/json' })
  })

  app.get('/:id', async (c) => answer(c, await store.read(caseId(c))))

  app.put('/:id', notWhilePlanning(service, 'change case'), async (c) => {
    const fields = wantedFields(await readJson(c, caseFieldsSchema))
    const change = (present: CaseFolder) => {
      mustMatch(c, present)
      return updateCase(present, fields)
    }
    const folder = await store.update(caseId(c), change, { by: await actorOf(service, c) })
    return answer(c, folder)
  })

  app.put('/:id/state', requireOperator(service, 'set state'), async (c) => {
    const { state, ...rest } = await readJson(c, stateSchema)
    const wanted = { ...defined(rest), state: knownState(state) }
    const change = (present: CaseFolder) => {
      mustMatch(c, present)
      return setState(present, wanted)
    }
    const folder = await store.update(caseId(c), change, { by: await actorOf(service, c) })
    return answer(c, folder)
  })

  app.post('/:id/answer', requireOperator(service, 'answer'), async (c) => {
    const { text } = await readJson(c, answerSchema)
    const options = { history: true, by: await actorOf(service, c) }
    const folder = await store.update(caseId(c), (each) => answerQuestion(each, text), options)
    return answer(c, folder)
  })

  app.get('/:id/history', async (c) => {
    return jsonWithETag(c, await caseHistory(service, await store.read(caseId(c))))
  })

  app.delete('/:id', requireOperator(service, 'delete case'), async (c) => {
    const id = caseId(c)
    await store.remove(id, (folder) => {
      mustMatch(c, folder)
      const running = folder.sessions.find((session) => service.running.has(session.id))
      if (!running) return
      throw new Refusal(
        'session_running',
        `Session ${running.number} of this case is ${running.state}; abandon it first (POST /cases/${id}/sessions/${running.id}/abandon).`,
        { extra: { running: { case_id: id, session_id: running.id } } },
      )
    })
    await service.webhooks.endOfCase(id)
    return answerJson(c, { id, deleted: true } satisfies Deleted)
  })

  return app
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<T>
}
