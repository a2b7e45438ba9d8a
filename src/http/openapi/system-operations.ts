import * as z from 'zod'
import { UUID } from '../../model/words.ts'
import { promptSchema } from '../schemas/case.ts'
import { health, provider, providerResult, version } from '../schemas/system.ts'
import { type Operations, one } from './operation.ts'
import { resuming } from './session-operations.ts'

export const systemOperations: Operations = {
  'GET /health': {
    ...{ id: 'health', tag: 'System', summary: 'Whether all is well' },
    description:
      '`status` is `ok` whenever it answers. `watching` says how well changes of files are noticed; `problems` are those of files that belong to no case.',
    answers: { 200: { description: 'It answers.', json: health } },
  },
  'GET /version': {
    ...{ id: 'version', tag: 'System', summary: 'Which program this is' },
    description: 'The commit is known only where the program runs from its own git checkout.',
    answers: { 200: { description: 'The version.', json: version } },
  },
  'GET /openapi.json': {
    ...{ id: 'openapi', tag: 'System', summary: 'This description' },
    description: 'Made of the schemas that check the requests.',
    answers: one(z.looseObject({ openapi: z.string() }), 'It.'),
  },
  'GET /events': {
    ...{ id: 'streamEvents', tag: 'Events', summary: 'Everything that changes, as it comes' },
    description:
      'Server-sent events, of all cases or of one: what came after the id that is named, then what happens. Without an id it begins with the oldest event that the log has.',
    query: {
      after: z.string().optional().describe('The id behind which to go on, or `now`.'),
      case: z.string().regex(UUID).optional().describe('Only the events of this case.'),
      output: z.literal('no').optional().describe('Leaves out what steps print.'),
    },
    headers: resuming.headers,
    answers: {
      200: { description: 'The events of the log.', events: 'LogEvent' },
    },
    refusals: ['bad_request'],
  },
}

/** Answered by `casefile serve --dev` only. */
export const providerOperations: Operations = {
  'GET /providers': {
    ...{ id: 'listProviders', tag: 'Providers', summary: 'What a session can be run with' },
    description:
      'What is here and what is missing, whether it is trusted, and how its planning is kept from writing.',
    answers: { 200: { description: 'The providers.', json: z.array(provider) } },
  },
  'POST /providers/:id/run': {
    ...{ id: 'runProvider', tag: 'Providers', summary: 'Has a provider answer a prompt' },
    description: 'With `Accept: text/event-stream` what it prints is streamed.',
    body: promptSchema,
    isOperators: true,
    answers: {
      200: {
        description: 'What it said; or `output` events, then one `result` or `error`.',
        json: providerResult,
        events: null,
      },
    },
    refusals: [
      ...['unknown_provider', 'already_active', 'provider_unavailable', 'untrusted_provider'],
      'provider_failed',
    ] as const,
  },
}
