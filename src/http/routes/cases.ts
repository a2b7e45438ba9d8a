import * as z from 'zod'
import { parseRequirements } from '../../markdown/requirement-line.ts'
import { AppError } from '../../model/app-error.ts'
import { type CaseContents, type Decide, gateOf } from '../../model/case-contents.ts'
import { answerQuestion } from '../../model/decide-answer.ts'
import { newCase, setState, updateCase } from '../../model/decide-case.ts'
import { oneLine } from '../../model/one-line.ts'
import { actorOf } from '../actor.ts'
import { filtersFor } from '../case-filter.ts'
import { caseHistory } from '../case-history.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { created, endpoint, FILE_ERRORS, LIST_ERRORS, listOf, ok } from '../endpoint.ts'
import { bytesWithETag, isConditional, jsonWithETag, requireMatch } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { paginateSource } from '../pagination.ts'
import {
  answerSchema,
  caseCommentSchema,
  caseSchema,
  caseUpdateSchema,
  type DeletedJson,
  deleted,
  type GateJson,
  gate,
  type HistoryEntryJson,
  historyEntry,
  newCaseSchema,
  newStateSchema,
  triageRow,
} from '../schemas/case.ts'
import { newFields, wantedFields } from '../schemas/case-fields.ts'
import { caseIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import { listFilters, paging, triageQuery } from '../schemas/query.ts'
import { caseBody } from '../serializers.ts'
import { triageFilters } from '../triage.ts'

const PRESENT = exampleOf(caseSchema)
/** A case of the sample that waits for an answer. */
const QUESTION = { id: 'f31d0e43-a96a-4ba5-a763-cefea030aa5e' }

const COMMENT: HistoryEntryJson = {
  ...exampleOf(historyEntry),
  what: 'commented',
  kind: 'comment',
  act: { name: 'commented' },
  ...exampleOf(caseCommentSchema),
}

const params = { id: caseIdParam }
const updated = ok(caseSchema, 'The updated case.')

function answerCase(c: ServiceContext, service: HttpDeps, contents: CaseContents): Response {
  const { text, etag } = caseBody(service, contents)
  return bytesWithETag(c, text, 'application/json', etag)
}

/** Updates a case under `If-Match`, and returns it. */
async function answerUpdate(
  c: ServiceContext,
  service: HttpDeps,
  id: string,
  decide: Decide,
): Promise<Response> {
  const change = (present: CaseContents) => {
    mustMatch(c, service, present)
    return decide(present)
  }
  const by = await actorOf(service, c)
  return answerCase(c, service, await service.store.update(id, change, { by }))
}

function mustMatch(c: ServiceContext, service: HttpDeps, contents: CaseContents): void {
  if (isConditional(c)) requireMatch(c, caseBody(service, contents).etag)
}

export const caseEndpoints = [
  endpoint({
    route: 'GET /cases',
    id: 'listCases',
    tag: 'Cases',
    summary: 'List cases',
    description:
      'Returns the cases that match every filter. Without `limit` you get the whole list; with it, the header `Link` has the next page.',
    query: { ...listFilters, ...paging },
    responses: listOf(caseSchema, 'Cases, newest first.'),
    errors: [...LIST_ERRORS, 'unknown_state'],
    example: { query: { state: ['BLOCKED', 'PLANNING'] } },
    async handle({ c, service, query }) {
      const { catalog, lists, search, refresher } = service
      await refresher.freshenAll()
      // the catalog keeps the whole list as one buffer until something changes
      if (Object.keys(query).length === 0) {
        return bytesWithETag(c, catalog.listJson(), 'application/json')
      }
      const filters = await filtersFor(search, query)
      const source = {
        count: () => lists.count(filters),
        after: lists.newest.bind(lists, filters),
      }
      return paginateSource({ c, query }, source, { serialized: ({ id }) => catalog.json(id) })
    },
  }),

  endpoint({
    route: 'GET /triage',
    id: 'triageCases',
    tag: 'Cases',
    summary: 'List cases by what they need from the operator',
    description:
      'Cases that wait for a decision come first. Without `needs`, the list includes cases that need nothing. The other filters are those of `GET /cases`.',
    query: { ...triageQuery, ...paging },
    responses: listOf(triageRow, 'Cases, most urgent first.'),
    errors: ['unknown_state'],
    async handle({ c, service, query }) {
      const { lists } = service
      const filters = await triageFilters(service, query)
      const source = {
        count: () => lists.count(filters),
        after: lists.triage.bind(lists, filters),
      }
      return paginateSource({ c, query }, source, { serialize: async ({ row }) => row })
    },
  }),

  endpoint({
    route: 'POST /cases',
    id: 'createCase',
    tag: 'Cases',
    summary: 'Create a case',
    description:
      'Only the title is required. A null field is the same as a missing one. The new case is OPEN. Without `checklist`, it gets the items of the setting `checklist` in casefile.md.',
    body: newCaseSchema,
    responses: created(caseSchema, 'The new case.'),
    errors: FILE_ERRORS,
    example: { responses: { 201: { ...PRESENT, state: 'OPEN', parent: null } } },
    notWhilePlanning: 'create case',
    async handle({ c, service, body }) {
      const { checklist, ...sent } = body
      const by = await actorOf(service, c)
      const items = checklist ?? parseRequirements((await service.settings()).checklist.join('\n'))
      const made = newCase(newFields(sent), service.newId(), service.now(), items)
      const contents = await service.store.create(made, by)
      const location = `/cases/${contents.case.id}`
      const { text } = caseBody(service, contents)
      return c.body(text, 201, { location, 'content-type': 'application/json' })
    },
  }),

  endpoint({
    route: 'GET /cases/:id',
    id: 'getCase',
    tag: 'Cases',
    summary: 'Get a case',
    description:
      'Returns its fields and the problems of its files. Its sessions, proof and memory files have their own paths.',
    params,
    responses: ok(caseSchema, 'The case.'),
    handle: async ({ c, service, params }) =>
      answerCase(c, service, await service.store.read(params.id)),
  }),

  endpoint({
    route: 'PUT /cases/:id',
    id: 'updateCase',
    tag: 'Cases',
    summary: 'Update fields of a case',
    description:
      'Requires at least one field. Null clears a field; a title cannot be cleared, and a cleared type becomes `bug`.',
    params,
    body: caseUpdateSchema,
    isConditional: true,
    responses: updated,
    errors: FILE_ERRORS,
    notWhilePlanning: 'change case',
    async handle({ c, service, params, body }) {
      const fields = wantedFields(body)
      return answerUpdate(c, service, params.id, (present) => updateCase(present, fields))
    },
  }),

  endpoint({
    route: 'PUT /cases/:id/state',
    id: 'setCaseState',
    tag: 'Cases',
    summary: 'Set the state of a case',
    description:
      'Any state can follow any other. Only RESOLVED has a condition: the proof gate must be open (`GET /cases/{id}/gate`). Other fields may come along: all are set, or none.',
    params,
    body: newStateSchema,
    isConditional: true,
    responses: updated,
    errors: [...FILE_ERRORS, 'unknown_state', 'proof_gate'],
    example: { responses: { 200: { ...PRESENT, ...exampleOf(newStateSchema) } } },
    operatorOnly: 'set state',
    handle({ c, service, params, body: { state, reason, ...others } }) {
      const fields = { ...wantedFields(others), ...(reason === undefined ? {} : { reason }) }
      return answerUpdate(c, service, params.id, (present) => setState(present, state, fields))
    },
  }),

  endpoint({
    route: 'POST /cases/:id/answer',
    id: 'answerQuestion',
    tag: 'Cases',
    summary: 'Answer the question of a case',
    description:
      'The case must be in NEEDS_USER_INPUT; its reason is the question. It returns to its previous state. Question and answer stay in its history.',
    params,
    body: answerSchema,
    isConditional: true,
    responses: updated,
    errors: [...FILE_ERRORS, 'wrong_state'],
    example: {
      params: QUESTION,
      responses: {
        200: { ...PRESENT, ...QUESTION, title: 'How long should a sign-in last?', state: 'OPEN' },
      },
    },
    operatorOnly: 'answer',
    async handle({ c, service, params, body }) {
      const options = { history: true, by: await actorOf(service, c) }
      const answer = (present: CaseContents) => {
        mustMatch(c, service, present)
        return answerQuestion(present, body.text)
      }
      const answered = await service.store.update(params.id, answer, options)
      service.conversations.answer(params.id, body.text)
      return answerCase(c, service, answered)
    },
  }),

  endpoint({
    route: 'POST /cases/:id/comments',
    id: 'commentOnCase',
    tag: 'Cases',
    summary: 'Comment on a case',
    description:
      'Appends the comment to its `history.md`. Sends `memory_updated`. Line breaks stay, blank lines go.',
    params,
    body: caseCommentSchema,
    responses: created(historyEntry, 'The entry of its history.'),
    errors: FILE_ERRORS,
    example: { responses: { 201: COMMENT } },
    operatorOnly: 'comment',
    async handle({ c, service, params: { id }, body: { text } }) {
      const act = { act: { name: 'commented' }, text, at: service.now() } as const
      await service.store.comment(id, act, await actorOf(service, c))
      const entries = await caseHistory(service, await service.store.read(id))
      const json: HistoryEntryJson = entries.findLast(
        (entry) => entry.act?.name === 'commented' && oneLine(entry.text ?? '') === oneLine(text),
      )!
      return answerJson(c, json, 201, { location: `/cases/${id}/history` })
    },
  }),

  endpoint({
    route: 'GET /cases/:id/history',
    id: 'getHistory',
    tag: 'Cases',
    summary: 'Get the history of a case',
    description:
      'Returns the entries of its `history.md`, oldest first: who did what, when and why. If the case is older than that file, entries derived from its other files come first.',
    params,
    responses: ok(z.array(historyEntry), 'The entries.'),
    async handle({ c, service, params }) {
      const contents = await service.store.read(params.id)
      return jsonWithETag<readonly HistoryEntryJson[]>(c, await caseHistory(service, contents))
    },
  }),

  endpoint({
    route: 'GET /cases/:id/gate',
    id: 'getGate',
    tag: 'Proof',
    summary: 'Check whether a case may be RESOLVED',
    description:
      'The gate is open if at least one proof counts, and each required checklist item has a proof of its type that counts. `missing` says what is still needed.',
    params,
    responses: ok(gate, 'The gate.'),
    handle: async ({ c, service, params }) =>
      jsonWithETag<GateJson>(c, gateOf(await service.store.read(params.id))),
  }),

  endpoint({
    route: 'DELETE /cases/:id',
    id: 'deleteCase',
    tag: 'Cases',
    summary: 'Delete a case and all its files',
    description:
      'Also deletes its sessions, proof, memory files and webhooks. Fails while one of its sessions plans or executes.',
    params,
    isConditional: true,
    responses: { 200: { description: 'Deleted.', json: deleted } },
    errors: [...FILE_ERRORS, 'session_running'],
    operatorOnly: 'delete case',
    async handle({ c, service, params: { id } }) {
      await service.store.remove(id, (contents) => {
        mustMatch(c, service, contents)
        const running = contents.sessions.find((session) => service.running.has(session.id))
        if (!running) return
        throw new AppError(
          'session_running',
          `Session ${running.number} of this case is ${running.state}; abandon it first.`,
          { extra: { running: { case_id: id, session_id: running.id } } },
        )
      })
      await service.webhooks.endOfCase(id)
      return answerJson<DeletedJson>(c, { id, deleted: true })
    },
  }),
]
