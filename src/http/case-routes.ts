import { Hono } from 'hono'
import { MAX_CASE_BYTES } from '../markdown/case-file.ts'
import { type CaseFields, DEFAULT_CASE_TYPE } from '../model/case.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { newCase, setState, updateCase } from '../model/decide-case.ts'
import { Refusal } from '../model/refusal.ts'
import { mustFit, readJson } from './body.ts'
import { caseList } from './case-list.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import { etagOf, isConditional, jsonWithETag, requireMatch } from './etag.ts'
import type { HttpNeeds } from './needs.ts'
import { operatorOnly } from './operator-only.ts'
import { caseId, knownState } from './params.ts'
import { caseText } from './present.ts'
import { caseFieldsSchema, newCaseSchema, stateSchema } from './schemas.ts'

/** A case.md over its limit could not be read again; the rest is for its other fields. */
const MAX_DESCRIPTION_BYTES = MAX_CASE_BYTES - 16 * 1024

/** `/cases` and `/cases/:id` (specification §4.1). */
export function caseRoutes(service: HttpNeeds): Hono<ServiceEnv> {
  const { store } = service
  const app = new Hono<ServiceEnv>()
  const answer = (c: ServiceContext, folder: CaseFolder) =>
    jsonWithETag(c, null, { json: caseText(service, folder) })
  const mustMatch = (c: ServiceContext, folder: CaseFolder) => {
    if (isConditional(c)) requireMatch(c, etagOf(caseText(service, folder)))
  }

  app.get('/', (c) => caseList(service, c))

  app.post('/', async (c) => {
    const { title, ...rest } = await readJson(c, newCaseSchema)
    const fields = cleared(defined(rest))
    mustFitIn(fields)
    const created = newCase({ title, ...fields }, service.newId(), service.now())
    const folder = await store.create(created)
    const location = `/cases/${created.id}`
    return c.body(caseText(service, folder), 201, { location, 'content-type': 'application/json' })
  })

  app.get('/:id', async (c) => answer(c, await store.read(caseId(c))))

  app.put('/:id', async (c) => {
    const fields = cleared(defined(await readJson(c, caseFieldsSchema)))
    if (Object.keys(fields).length === 0) {
      throw new Refusal(
        'bad_request',
        'Nothing to update: name at least one of title, description, type, outcome, tags, parent, workdir, provider.',
      )
    }
    mustFitIn(fields)
    const folder = await store.update(caseId(c), (present) => {
      mustMatch(c, present)
      return updateCase(present, fields)
    })
    return answer(c, folder)
  })

  app.put('/:id/state', operatorOnly(service, 'set state'), async (c) => {
    const { state, ...rest } = await readJson(c, stateSchema)
    const wanted = { ...defined(rest), state: knownState(state) }
    const folder = await store.update(caseId(c), (present) => {
      mustMatch(c, present)
      return setState(present, wanted)
    })
    return answer(c, folder)
  })

  app.delete('/:id', operatorOnly(service, 'delete case'), async (c) => {
    const id = caseId(c)
    await store.remove(id, (folder) => {
      mustMatch(c, folder)
      const running = folder.sessions.find((session) => service.sessions.isRunning(session.id))
      if (!running) return
      throw new Refusal(
        'session_running',
        `Session ${running.number} of this case is ${running.state}; abandon it first (POST /cases/${id}/sessions/${running.id}/abandon).`,
        { extra: { running: { case_id: id, session_id: running.id } } },
      )
    })
    await service.webhooks.endOfCase(id)
    return c.json({ id, deleted: true })
  })

  return app
}

function mustFitIn({ description = '' }: Partial<CaseFields>): void {
  const advice = 'Put long texts into a memory file.'
  mustFit('description', description, MAX_DESCRIPTION_BYTES, advice)
}

function defined<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<T>
}

/** Null clears: a text becomes empty, a list has nothing in it, the type is the usual one. */
function cleared(fields: Record<string, unknown>): CaseFields {
  const emptied = { ...fields }
  if (emptied.type === null) emptied.type = DEFAULT_CASE_TYPE
  if (emptied.description === null) emptied.description = ''
  if (emptied.tags === null) emptied.tags = []
  return emptied as CaseFields
}
