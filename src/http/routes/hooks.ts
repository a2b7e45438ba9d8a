import { isWithin } from '../../files/real-path.ts'
import { AppError } from '../../model/app-error.ts'
import { missingText } from '../../model/not-understood.ts'
import { dialectFor } from '../../runners/agents/hooks/dialects.ts'
import {
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  printedAnswer,
} from '../../runners/agents/hooks/hook-event.ts'
import { CLIENT_SECRET, SERVER_SECRET } from '../../runners/agents/hooks/hook-script.ts'
import { asArray, asString } from '../../runners/agents/unknown-record.ts'
import type { HookRequest } from '../../sessions/conversations/known-conversations.ts'
import type { ServiceContext } from '../context.ts'
import { type EndpointDeps, endpoint } from '../endpoint.ts'
import { answerJson, endLine } from '../json-body.ts'
import { logFault } from '../problem-json.ts'
import { readJson } from '../request-body.ts'
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
      "For the hooks that `casefile agent install` writes: takes the agent's own JSON, and answers in the agent's own words. The agent is recognized by its JSON; `:agent` says whose settings have the hook. Status 204 is no opinion. What cannot be read denies the call of a tool where a case is current, and is listed by `GET /health`. The headers `X-Casefile-Case`, `X-Casefile-Session` and `X-Casefile-Pid` say what the environment of the agent says, `X-Casefile-Kind: gate` that the answer decides on a call; with `X-Casefile-Strict: 1`, an approval in the agent's own dialog does not count. The answer to a plan that the agent presents comes once it is decided, which may take days; a hook that closes the connection withdraws the plan.",
    params: { agent: hookAgentParam },
    query: { event: hookEventParam.optional() },
    body: hookSchema,
    maxBodyBytes: MAX_BYTES,
    takesAnyBody: true,
    responses: {
      200: { description: 'What the hook prints.', json: hookAnswerSchema },
      204: { description: 'No opinion: the hook prints nothing.' },
    },
    errors: ['not_found', 'unsupported_media_type'],
    async handle({ c, service, params: { agent: line }, query }) {
      mustBeOurs(c, service)
      const secret = service.hooks.secretFor(c.req.header(CLIENT_SECRET))
      if (secret !== null) c.env?.outgoing?.setHeader(SERVER_SECRET, secret)
      const { body, missing } = await readSent(c)
      const dialect = dialectFor(line, body)
      const call = callOf(c, query.event ?? null, body)
      // only Copilot needs the name, which its hooks have in the settings
      const eventName = call.event ?? (call.isGate ? 'preToolUse' : null)
      const read = missing
        ? { missing }
        : await dialect.read(body, { root: service.layout.root, eventName })
      const isUnknown = 'kind' in read && read.kind === 'heard' && call.isGate
      const event = isUnknown ? { missing: ['known event'] } : read
      if (!('kind' in event)) {
        const denial = await answerUnread(c, service, { line, dialect, body, ...call, ...event })
        return denial === null ? c.body(null, 204) : answerJson(c, denial)
      }
      const printed = printedAnswer(dialect, event, await answerTo(c, service, dialect, event))
      if (printed === null) return c.body(null, 204)
      const type = printed.includes('\n') ? 'application/x-ndjson' : 'application/json'
      return c.body(endLine(printed), 200, { 'content-type': type })
    },
  }),
]

/** The address in the state folder may be an old one, with the service of another workspace behind it now. */
function mustBeOurs(c: ServiceContext, { layout: { root } }: EndpointDeps): void {
  const sent = c.req.header('x-casefile-root')
  if (sent === undefined || Buffer.from(sent, 'latin1').toString() === root) return
  throw new AppError('bad_request', 'This service has another workspace than the hook.')
}

type Body = Record<string, unknown>

/** What came on the input of the hook. `missing`: why it cannot be read; the body is empty then. */
async function readSent(c: ServiceContext): Promise<{ body: Body; missing?: string[] }> {
  try {
    const body = await readJson(c, hookSchema, { maxBytes: MAX_BYTES })
    return Object.keys(body).length === 0 ? { body, missing: ['input'] } : { body }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    switch (error.code) {
      case 'too_large':
        return { body: {}, missing: [`end within ${MAX_BYTES / 1024 / 1024} MiB`] }
      case 'invalid_json':
        return { body: {}, missing: ['JSON object'] }
      case 'bad_request':
        return { body: {}, missing: ['well-formed text'] }
      default:
        throw error
    }
  }
}

interface Call {
  /** The name of the event. */
  event: string | null
  /** Whether the answer decides on a call of a tool. */
  isGate: boolean
}

const GATE_EVENT = /^(?:[Pp]reToolUse|BeforeTool|before(?:Shell|MCP)Execution|beforeReadFile)$/

/** Without a hook that says its kind, or an event that says its name, the call is one that must be decided. */
function callOf(c: ServiceContext, eventName: string | null, body: Body): Call {
  const kind = c.req.header('x-casefile-kind')
  const named = asString(body.hook_event_name) ?? asString(body.hookEventName) ?? eventName
  const isGate = kind === undefined ? named === null || GATE_EVENT.test(named) : kind === 'gate'
  return { event: named, isGate }
}

/** A tool is denied if the service cannot decide; any other hook gets no opinion then. */
async function answerTo(
  c: ServiceContext,
  service: EndpointDeps,
  dialect: HookDialect,
  event: HookEvent,
): Promise<HookAnswer> {
  try {
    return await service.conversations.hear(dialect, event, requestOf(c, service))
  } catch (error) {
    if (event.kind === 'planned') throw error
    logFault(service.log, c.req, error)
    const why = error instanceof Error ? error.message : String(error)
    return event.kind === 'calling'
      ? { is: 'denied', reason: `Casefile could not decide: ${why}` }
      : { is: 'pass' }
  }
}

interface Unread extends Call {
  line: string
  dialect: HookDialect
  body: Body
  missing: string[]
}

/** Lists what cannot be read, and denies it if it is a call in a folder with a case. */
async function answerUnread(
  c: ServiceContext,
  { conversations, catalog, layout, running, consoleAddress }: EndpointDeps,
  { line, dialect, body, event, isGate, missing }: Unread,
): Promise<Record<string, unknown> | null> {
  const { caseName, sessionId } = requestOf(c, { consoleAddress })
  // an agent that the service started itself is recorded by its output
  if (sessionId !== null && running.has(sessionId)) return null
  const { agent } = dialect
  const agentSession =
    asString(body.session_id) ?? asString(body.sessionId) ?? asString(body.conversation_id)
  const cwd = folderIn(body, layout.root)
  const caseId = isGate
    ? await conversations.caseOfCall({ agent, agentSession, cwd, caseName })
    : null
  conversations.notUnderstood.add({
    line,
    sender: agent,
    event: isName(event) ? event : null,
    missing,
    fields: Object.keys(body).filter(isName).slice(0, 20),
    is_denied: caseId !== null,
  })
  if (caseId === null) return null
  const title = catalog.row(caseId)?.title ?? caseId
  return dialect.deny(
    `Casefile records this work as the case "${title}", and cannot read this call: ${missingText(missing)}. So the call is denied. Tell the person to run: casefile agent status`,
  )
}

/** The folder that a body names, best one in the workspace; the workspace if it names none. */
function folderIn(body: Body, root: string): string {
  const named = [body.cwd, ...asArray(body.workspace_roots)].filter(
    (folder): folder is string => typeof folder === 'string' && /^[^\0]+$/.test(folder),
  )
  return named.find((folder) => isWithin(root, folder)) ?? named[0] ?? root
}

/** Whether it is a name, not a text that somebody may have written. */
const isName = (text: string | null): text is string => /^\w{1,40}$/.test(text ?? '')

function requestOf(
  c: ServiceContext,
  { consoleAddress }: Pick<EndpointDeps, 'consoleAddress'>,
): HookRequest {
  const pid = Number(c.req.header('x-casefile-pid'))
  // or the server would close the connection of a plan that waits for more than two minutes
  c.env?.incoming?.socket.setTimeout(0)
  const closed = new AbortController()
  c.env?.outgoing?.on('close', () => closed.abort())
  return {
    url: consoleAddress.url ?? new URL(c.req.url).origin,
    caseName: c.req.header('x-casefile-case') ?? null,
    sessionId: c.req.header('x-casefile-session') ?? null,
    pid: Number.isSafeInteger(pid) && pid > 1 ? pid : null,
    isStrict: c.req.header('x-casefile-strict') === '1',
    signal: closed.signal,
  }
}
