import { type CaseContents, sessionOf } from '../../model/case-contents.ts'
import { MAX_PLAN_BYTES, type Session } from '../../model/session.ts'
import { actorOf } from '../actor.ts'
import { approvalJson } from '../approval-json.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { created, endpoint, FILE_ERRORS, LIST_ERRORS, listOf, ok } from '../endpoint.ts'
import { jsonWithETag, matchUntilWritten } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { newestFirst, paginate } from '../pagination.ts'
import { mustFit } from '../request-body.ts'
import { approvalSchema } from '../schemas/approval.ts'
import {
  type ApprovalViewJson,
  approvalView,
  soonSeen,
  withPlans,
} from '../schemas/approval-view.ts'
import { newSessionSchema } from '../schemas/new-session.ts'
import { caseIdParam, RESOLVED, sessionIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import { content, paging } from '../schemas/query.ts'
import {
  abandonSchema,
  changeRequestSchema,
  listedSession,
  planSchema,
  session,
} from '../schemas/session.ts'
import { serializeSession, withoutTexts } from '../serializers.ts'

const ofCase = { id: caseIdParam }
const ofSession = { ...ofCase, sid: sessionIdParam }
const updated = ok(session, 'The updated session.')
const ENDED = ['session_ended', 'wrong_state'] as const
const WAITING = exampleOf(session)
const WAITED = {
  planned_ms: 81,
  waited_ms: 359_914,
  ran_ms: null,
  steps_ms: null,
}
const CREATED = {
  ...WAITING,
  state: 'created',
  hypothesis: '',
  plan: '',
  durations: {
    planned_ms: null,
    waited_ms: null,
    ran_ms: null,
    steps_ms: null,
  },
  plan_sha256: null,
}
const EDITED = {
  ...WAITING,
  ...exampleOf(planSchema),
  plan_sha256: '7e31a8be8d969ac075f41bb529cf3a0f48a9690c51648457bfd6fc1ebad6aec7',
}
const UNTRUSTED = ['untrusted_provider', 'untrusted_workdir', 'untrusted_agent_files'] as const

export const sessionEndpoints = [
  endpoint({
    route: 'GET /cases/:id/sessions',
    id: 'listSessions',
    tag: 'Sessions',
    summary: 'List the sessions of a case',
    description:
      'Returns every field of each session, unless the request has `content=false`. Without `limit` you get the whole list; with it, the header `Link` has the next page.',
    params: ofCase,
    query: { ...paging, content },
    responses: listOf(listedSession, 'Sessions, newest first.'),
    errors: LIST_ERRORS,
    example: { params: RESOLVED, responses: { 200: session.meta()!.examples!.slice(1) } },
    async handle({ c, service, params, query }) {
      const contents = await service.store.read(params.id)
      const all = contents.sessions.map((session) => ({
        id: session.id,
        created_at: session.started_at,
        session,
      }))
      const serialize = async ({ session }: { session: Session }) => {
        const json = await serializeSession(service, contents, session)
        return query.content === 'false' ? withoutTexts(json) : json
      }
      return paginate({ c, query }, all.sort(newestFirst), { serialize })
    },
  }),

  endpoint({
    route: 'POST /cases/:id/sessions',
    id: 'createSession',
    tag: 'Sessions',
    summary: 'Create a session and start planning',
    description:
      'Returns the session in state `created`. It then plans, and waits in `plan_ready`: nothing runs before the plan is approved. Without an agent (`runbook`), the plan is the memory file `runbook.md`, or the `run` fences of the description. Requires `type`, `again` or `intent`. With `intent`, nothing plans: it is in `plan_ready` at once. With `again`, it plans a session again that failed, or that is complete and has comments: type, provider and isolation are by default those of that session, and its failure and its comments are added to the note.',
    params: ofCase,
    body: newSessionSchema,
    responses: created(session, 'The new session.'),
    errors: [
      ...FILE_ERRORS,
      'unknown_provider',
      'provider_unavailable',
      ...UNTRUSTED,
      'isolation_impossible',
      'invalid_plan',
      'wrong_state',
    ],
    example: { responses: { 201: CREATED } },
    operatorOnly: 'create session',
    async handle({ c, service, params: { id }, body }) {
      const by = await actorOf(service, c)
      const { intent, paths = [], commands = [], proof = [], ...named } = body
      const wanted =
        intent === undefined ? named : { ...named, intent: { intent, paths, commands, proof } }
      const { contents, session } = await service.sessions.create(id, wanted, by)
      const json = await serializeSession(service, contents, session)
      return answerJson(c, json, 201, { location: `/cases/${id}/sessions/${session.id}` })
    },
  }),

  endpoint({
    route: 'GET /cases/:id/sessions/:sid',
    id: 'getSession',
    tag: 'Sessions',
    summary: 'Get a session',
    description:
      'Returns its state, hypothesis, plan, output, diff and test counts, and the artifacts that can be attached as proof.',
    params: ofSession,
    responses: ok(session, 'The session.'),
    handle: async ({ c, service, params: { id, sid } }) =>
      answerSession(c, service, await service.store.read(id), sid),
  }),

  endpoint({
    route: 'PUT /cases/:id/sessions/:sid/plan',
    id: 'editPlan',
    tag: 'Sessions',
    summary: 'Replace the plan',
    description:
      'Works only while the plan waits for approval. Rejects a plan with an invalid step. `GET …/approval?plans=true` keeps the plan before it.',
    params: ofSession,
    body: planSchema,
    isConditional: true,
    responses: updated,
    errors: [...FILE_ERRORS, ...ENDED, 'invalid_plan', 'plan_changed'],
    example: { responses: { 200: EDITED } },
    operatorOnly: 'edit plan',
    async handle({ c, service, params: { id, sid }, body }) {
      const { plan, hypothesis, expected_plan_sha256 } = body
      mustFit('plan', plan, MAX_PLAN_BYTES)
      mustFit('hypothesis', hypothesis ?? '', MAX_PLAN_BYTES)
      const allow = await matching(c, service, id, sid)
      const by = await actorOf(service, c)
      return answerSession(
        c,
        service,
        await service.sessions.editPlan(
          id,
          sid,
          { plan, hypothesis },
          { allow, by, expected: expected_plan_sha256 },
        ),
        sid,
      )
    },
  }),

  endpoint({
    route: 'GET /cases/:id/sessions/:sid/approval',
    id: 'getApproval',
    tag: 'Sessions',
    summary: 'Get what to know before approving the plan',
    description:
      'Returns what an approval would start now and why it would fail; what its programs could write to, see and reach; what is not committed where it would run, and which session left that; which session it would wait for; whether a person has seen the plan; and, with `plans=true`, each plan that the session had. What really held is in the line `guarded` of the audit trail.',
    params: ofSession,
    query: { soon_seen: soonSeen, plans: withPlans },
    responses: ok(approvalView, 'What an operator must see.'),
    async handle({ c, service, params: { id, sid }, query }) {
      const contents = await service.store.read(id)
      const session = sessionOf(contents, sid)
      const json: ApprovalViewJson = await approvalJson(service, contents, session, query)
      return jsonWithETag(c, json)
    },
  }),

  endpoint({
    route: 'POST /cases/:id/sessions/:sid/approve',
    id: 'approvePlan',
    tag: 'Sessions',
    summary: 'Approve the plan and run it',
    description:
      'Starts the run. With `plan_sha256`, it fails if the present plan has another hash, so that only a plan that you have read can run. With `signature`, the approval is signed with an SSH key of `allowed_signers`. The agent also gets the note and the comments that were not sent yet. With `queue`, a session whose working folder is not free waits in line: it starts when its turn comes, if its plan can still run; else its plan waits for approval again, and `session_state_changed` has the reason. What changed in the folder meanwhile does not matter: `base_recorded` has the commit at the approval, and that at the start.',
    params: ofSession,
    body: approvalSchema,
    isBodyOptional: true,
    responses: updated,
    errors: [
      ...FILE_ERRORS,
      ...ENDED,
      'bad_request',
      'already_active',
      'plan_changed',
      'folder_busy',
      'too_many_sessions',
      'invalid_plan',
      'unknown_provider',
      'signature_required',
      'bad_signature',
      'isolation_impossible',
      ...UNTRUSTED,
    ],
    example: {
      responses: { 200: { ...WAITING, state: 'approved', durations: WAITED } },
    },
    operatorOnly: 'approve',
    async handle({
      c,
      service,
      params: { id, sid },
      body: { plan_sha256, note, signature, queue },
    }) {
      const by = await actorOf(service, c)
      return answerSession(
        c,
        service,
        await service.sessions.approve(id, sid, { plan_sha256, note, signature, queue, by }),
        sid,
      )
    },
  }),

  endpoint({
    route: 'POST /cases/:id/sessions/:sid/revise',
    id: 'revisePlan',
    tag: 'Sessions',
    summary: 'Request a revised plan',
    description:
      'The session plans again, with the note and the comments that were not sent yet. One of the two is required. The new plan must be approved too.',
    params: ofSession,
    body: changeRequestSchema,
    responses: updated,
    errors: [
      ...FILE_ERRORS,
      ...ENDED,
      'bad_request',
      'already_active',
      'unknown_provider',
      ...UNTRUSTED,
    ],
    example: {
      responses: { 200: { ...WAITING, state: 'planning', durations: WAITED } },
    },
    operatorOnly: 'revise',
    async handle({ c, service, params: { id, sid }, body: { note } }) {
      const by = await actorOf(service, c)
      return answerSession(c, service, await service.sessions.revise(id, sid, { note, by }), sid)
    },
  }),

  endpoint({
    route: 'POST /cases/:id/sessions/:sid/abandon',
    id: 'abandonSession',
    tag: 'Sessions',
    summary: 'Stop a session and its processes',
    description:
      'Responds when all its processes have ended. Fails if the session has already ended.',
    params: ofSession,
    body: abandonSchema,
    isBodyOptional: true,
    responses: updated,
    errors: [...FILE_ERRORS, ...ENDED],
    example: {
      responses: {
        200: {
          ...WAITING,
          state: 'abandoned',
          completed_at: '2026-11-20T10:00:00.000Z',
          durations: WAITED,
        },
      },
    },
    operatorOnly: 'abandon',
    async handle({ c, service, params: { id, sid }, body: { reason } }) {
      const by = await actorOf(service, c)
      return answerSession(c, service, await service.sessions.abandon(id, sid, { reason, by }), sid)
    },
  }),
]

async function answerSession(
  c: ServiceContext,
  service: HttpDeps,
  contents: CaseContents,
  sid: string,
): Promise<Response> {
  return jsonWithETag(c, await serializeSession(service, contents, sessionOf(contents, sid)))
}

/** Checks `If-Match` on the session as a GET would return it, and once more when the plan is written. */
async function matching(c: ServiceContext, service: HttpDeps, id: string, sid: string) {
  const contents = await service.store.read(id)
  const found = sessionOf(contents, sid)
  const json = await serializeSession(service, contents, found)
  const hash = () => service.catalog.entry(id)?.sessions.get(found.number)?.hash
  return matchUntilWritten(c, json, { noun: 'session', hash })
}
