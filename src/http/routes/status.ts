import * as z from 'zod'
import { AppError } from '../../model/app-error.ts'
import { type CaseContents, sessionOf } from '../../model/case-contents.ts'
import { id as uuid } from '../../model/schemas.ts'
import { caseStatus } from '../case-status.ts'
import type { HttpDeps } from '../deps.ts'
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
      'The same as the console, the commands and the MCP tools say. Only a file that would satisfy an open item of the checklist is offered as proof. `start.tests.runbook` is a runbook.md that runs just the tests.',
    params: { id: caseIdParam },
    query: {
      session: uuid.optional().describe('The id of a session: where that one is.'),
      intent: z
        .literal('true', { error: 'expected true' })
        .optional()
        .describe('Also asks git for what an intent could name.'),
    },
    responses: ok(status, 'The status.'),
    async handle({ c, service, params: { id }, query }) {
      const contents = await service.store.read(id)
      const session = query.session === undefined ? null : sessionOf(contents, query.session)
      const [found, start] = await Promise.all([
        caseStatus(service, contents, session),
        startOf(service, contents, query.intent === 'true'),
      ])
      return jsonWithETag<StatusJson>(c, { ...found, start })
    },
  }),
]

async function startOf(
  { setup }: HttpDeps,
  contents: CaseContents,
  withIntent: boolean,
): Promise<StatusJson['start']> {
  try {
    const [found, intent] = await Promise.all([
      setup.ofCase(contents),
      withIntent ? setup.proposedIntent(contents) : null,
    ])
    return { ...found, intent }
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}
