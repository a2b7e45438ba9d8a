import { sessionOf } from '../../model/case-contents.ts'
import { id as uuid } from '../../model/schemas.ts'
import { caseStatus } from '../case-status.ts'
import { endpoint, ok } from '../endpoint.ts'
import { jsonWithETag } from '../etag.ts'
import { caseIdParam } from '../schemas/params.ts'
import { type StatusJson, status } from '../schemas/status.ts'

export const statusEndpoints = [
  endpoint({
    route: 'GET /cases/:id/status',
    id: 'getStatus',
    tag: 'Cases',
    summary: 'Get where a case is, and what comes next',
    description:
      'The same as the console, the commands and the MCP tools say. Only a file that would satisfy an open item of the checklist is offered as proof.',
    params: { id: caseIdParam },
    query: { session: uuid.optional().describe('The id of a session: where that one is.') },
    responses: ok(status, 'The status.'),
    async handle({ c, service, params: { id }, query }) {
      const contents = await service.store.read(id)
      const session = query.session === undefined ? null : sessionOf(contents, query.session)
      return jsonWithETag<StatusJson>(c, await caseStatus(service, contents, session))
    },
  }),
]
