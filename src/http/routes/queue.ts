import * as z from 'zod'
import { sessionOf } from '../../model/case-contents.ts'
import { actorOf } from '../actor.ts'
import { endpoint, FILE_ERRORS, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { queueEntries } from '../queue-json.ts'
import { caseIdParam, sessionIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import { type QueueEntryJson, queueEntry } from '../schemas/queue.ts'
import { session } from '../schemas/session.ts'
import { serializeSession } from '../serializers.ts'

export const queueEndpoints = [
  endpoint({
    route: 'GET /queue',
    id: 'listQueue',
    tag: 'Sessions',
    summary: 'List the sessions that wait in line',
    description:
      'Returns the approved sessions that wait until their working folder is free. They are in memory: a stop of the service empties the line, and their plans wait for approval again.',
    responses: ok(z.array(queueEntry), 'The sessions in line, the first one first.'),
    example: { responses: { 200: [] } },
    async handle({ c, service }) {
      return jsonWithETag<readonly QueueEntryJson[]>(c, queueEntries(service))
    },
  }),

  endpoint({
    route: 'DELETE /cases/:id/sessions/:sid/queue',
    id: 'leaveQueue',
    tag: 'Sessions',
    summary: 'Take a session out of the line',
    description:
      'Takes the approval back: the plan waits for approval again. Fails with `wrong_state` if the session does not wait in line, or has just started.',
    params: { id: caseIdParam, sid: sessionIdParam },
    responses: ok(session, 'The updated session.'),
    errors: [...FILE_ERRORS, 'session_ended', 'wrong_state'],
    example: { responses: { 200: exampleOf(session) } },
    operatorOnly: 'take a session out of the line',
    async handle({ c, service, params: { id, sid } }) {
      const by = await actorOf(service, c)
      const contents = await service.sessions.leaveLine(id, sid, { by })
      return jsonWithETag(c, await serializeSession(service, contents, sessionOf(contents, sid)))
    },
  }),
]
