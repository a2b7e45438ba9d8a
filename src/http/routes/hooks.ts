import { AppError } from '../../model/app-error.ts'
import { HOOK_DIALECTS } from '../../runners/hooks/dialects.ts'
import type { HookAnswer, HookDialect, HookEvent } from '../../runners/hooks/hook-event.ts'
import type { HookRequest } from '../../sessions/conversations/known-conversations.ts'
import type { ServiceContext } from '../context.ts'
import { type EndpointDeps, endpoint } from '../endpoint.ts'
import { answerJson } from '../json-body.ts'
import { logFault } from '../problem-json.ts'
import { hookAnswerSchema, hookSchema } from '../schemas/conversation.ts'
import { hookAgentParam, hookEventParam } from '../schemas/params.ts'

/** An agent may hand in a whole file that it wants to write. */
const MAX_BYTES = 8 * 1024 * 1024

export const hookEndpoints = [
  endpoint({
    route: 'POST /hooks/:agent',
    id: 'hearHook',
    tag: 'Conversations',
    summary: 'Report an event of an agent in a terminal',
    description:
      "For the hooks that `casefile hooks install` writes: takes the agent's own JSON, and answers in the agent's own words. Status 204 is no opinion. The headers `X-Casefile-Case`, `X-Casefile-Session` and `X-Casefile-Pid` say what the environment of the agent says; with `X-Casefile-Strict: 1`, an approval in the agent's own dialog does not count. The answer to a plan that the agent presents comes once it is decided, which may take days; a hook that closes the connection withdraws the plan.",
    params: { agent: hookAgentParam },
    query: { event: hookEventParam.optional() },
    body: hookSchema,
    maxBodyBytes: MAX_BYTES,
    responses: {
      200: { description: 'What the hook prints.', json: hookAnswerSchema },
      204: { description: 'No opinion: the hook prints nothing.' },
    },
    errors: ['not_found'],
    async handle({ c, service, params: { agent }, query, body }) {
      mustBeOurs(c, service)
      const dialect = HOOK_DIALECTS[agent]
      const event = await dialect.read(body, query.event ?? null)
      if (!event) return c.body(null, 204)
      const answer = await answerTo(c, service, dialect, event)
      const json = dialect.answer(event, answer)
      return json === null ? c.body(null, 204) : answerJson(c, json)
    },
  }),
]

/** The address in the state folder may be an old one, with the service of another workspace behind it now. */
function mustBeOurs(c: ServiceContext, { layout: { root } }: EndpointDeps): void {
  const sent = c.req.header('x-casefile-root')
  if (sent === undefined || Buffer.from(sent, 'latin1').toString() === root) return
  throw new AppError('bad_request', 'This service has another workspace than the hook.')
}

/** A tool is denied if the service cannot decide; any other hook gets no opinion then. */
async function answerTo(
  c: ServiceContext,
  service: EndpointDeps,
  dialect: HookDialect,
  event: HookEvent,
): Promise<HookAnswer> {
  try {
    return await service.conversations.hear(dialect, event, requestOf(c))
  } catch (error) {
    if (event.kind === 'planned') throw error
    logFault(service.log, c.req, error)
    const why = error instanceof Error ? error.message : String(error)
    return event.kind === 'calling'
      ? { is: 'denied', reason: `Casefile could not decide: ${why}` }
      : { is: 'pass' }
  }
}

function requestOf(c: ServiceContext): HookRequest {
  const pid = Number(c.req.header('x-casefile-pid'))
  // or the server would close the connection of a plan that waits for more than two minutes
  c.env?.incoming?.socket.setTimeout(0)
  const closed = new AbortController()
  c.env?.outgoing?.on('close', () => closed.abort())
  return {
    caseName: c.req.header('x-casefile-case') ?? null,
    sessionId: c.req.header('x-casefile-session') ?? null,
    pid: Number.isSafeInteger(pid) && pid > 1 ? pid : null,
    isStrict: c.req.header('x-casefile-strict') === '1',
    signal: closed.signal,
  }
}
