import * as z from 'zod'
import { sessionOf } from '../../model/case-contents.ts'
import type { ServiceContext } from '../context.ts'
import { type EndpointDeps, endpoint, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { ownInbox } from '../inbox-items.ts'
import { type InboxJson, inbox } from '../schemas/inbox.ts'
import { caseIdParam, PLAN, sessionIdParam } from '../schemas/params.ts'
import { planHash } from '../schemas/text-fields.ts'
import { openEventStream } from '../sse/event-stream.ts'

const ofSession = { id: caseIdParam, sid: sessionIdParam }
const seen = z.object({ seen: z.boolean() }).meta({ id: 'SeenPlan', examples: [{ seen: true }] })
const seenSchema = z
  .object({ plan_sha256: planHash.describe('SHA-256 of the plan that was shown, in hex.') })
  .meta({ id: 'ShownPlan', examples: [{ plan_sha256: PLAN.plan_sha256 }] })
const STREAM = { type: 'text/event-stream', description: 'Server-sent events `inbox`.' }

export const inboxEndpoints = [
  endpoint({
    route: 'GET /inbox',
    id: 'getInbox',
    tag: 'Cases',
    summary: 'List what waits in all workspaces of this user',
    description:
      'Returns plans, questions, failures, problems and proof that wait for the operator, newest first, and the workspaces that were asked: those whose state folders are beside the one of this service. A decision is a request to the service at `url`. A browser gets a page.',
    query: {
      workspace: z
        .literal('own', { error: 'expected own, which leaves out other workspaces' })
        .optional()
        .meta({ description: '`own` leaves out other workspaces.', examples: ['own'] }),
    },
    responses: ok(inbox, 'The inbox.'),
    example: { query: {} },
    async handle({ c, service, query }) {
      const base = addressOf(c)
      const { inbox: all } = service
      if (!all || query.workspace === 'own')
        return jsonWithETag<InboxJson>(c, await ownInbox(service, base))
      return jsonWithETag<InboxJson>(c, await all.read(base))
    },
  }),

  endpoint({
    route: 'GET /inbox/stream',
    id: 'streamInbox',
    tag: 'Events',
    summary: 'Stream the inbox',
    description:
      'Sends the event `inbox` with the whole list, at first and whenever something changes in any workspace.',
    responses: { 200: { description: 'The lists.', text: STREAM } },
    example: { responses: { 200: 'event: inbox\ndata: {"event_type":"inbox",…}\n\n' } },
    handle: ({ c, service }) => streamInbox(c, service),
  }),

  endpoint({
    route: 'POST /cases/:id/sessions/:sid/seen',
    id: 'reportSeenPlan',
    tag: 'Sessions',
    summary: 'Report that a person has seen the plan',
    description:
      'Notifications skip a plan that was seen, until its text changes. It approves nothing.',
    params: ofSession,
    body: seenSchema,
    responses: ok(seen, 'It was seen.'),
    operatorOnly: 'report seen plan',
    async handle({ c, service, params: { id, sid }, body: { plan_sha256 } }) {
      service.seenPlans.add(sessionOf(await service.store.read(id), sid), plan_sha256)
      return jsonWithETag(c, { seen: true })
    },
  }),
]

/** The address by which the client came, which may be a forwarded one. */
function addressOf(c: ServiceContext): string {
  return `http://${c.req.header('host') ?? new URL(c.req.url).host}`
}

function streamInbox(c: ServiceContext, { inbox: all, streams, now }: EndpointDeps): Response {
  let stop: (() => void) | undefined
  const stream = openEventStream(c, { registry: streams, onClose: () => stop?.() })
  if (!stream.isOpen) return stream.response
  stop = all?.watch(addressOf(c), (payload) => {
    const data = JSON.stringify({ event_type: 'inbox', timestamp: now(), payload })
    stream.send({ event: 'inbox', data })
  })
  return stream.response
}
