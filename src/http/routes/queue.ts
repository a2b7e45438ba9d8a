import { sessionOf } from '../../model/case-contents.ts'
import { actorOf } from '../actor.ts'
import { endpoint, FILE_ERRORS, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { caseIdParam, sessionIdParam } from '../schemas/params.ts'
import { exampleOf } from '../schemas/primitives.ts'
import { session } from '../schemas/session.ts'
import { serializeSession } from '../serializers.ts'

export const queueEndpoints = [
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
