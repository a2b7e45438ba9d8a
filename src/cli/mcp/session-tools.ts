import * as z from 'zod'
import type { ApiReader, Client } from '../../client/client.ts'
import type { ApprovalViewJson } from '../../http/schemas/approval-view.ts'
import type { SessionHeadJson, SessionJson } from '../../http/schemas/session.ts'
import { intentPlan } from '../../markdown/intent.ts'
import { HOOK_AGENTS } from '../../model/agent-names.ts'
import { AppError } from '../../model/app-error.ts'
import type { ConversationAgent } from '../../model/conversation.ts'
import type { Intent } from '../../model/intent.ts'
import { waitForDecision } from '../follow/decision.ts'
import { resolveSession, sessionPath, sessionsOf } from '../resolve/find-session.ts'
import type { Access } from './access.ts'
import { caseArgument, caseIn, mustBeWhole, sessionArgument, wordOf } from './arguments.ts'
import { nextText, statusShape, statusView } from './status-view.ts'
import { type Caller, type Outcome, row, type Tool, tool } from './tool.ts'
import { rowRange, rowsAt, rowsShape } from './truncate.ts'
import { sessionUri } from './uris.ts'
import { sessionRow, sessionView } from './views.ts'

const list = z.array(z.string()).optional()

/** Clients end a call after 30 seconds or more; in seconds. */
const WAIT = 25
const MAX_WAIT = 600
const REPORT_MS = 5_000

/** At most so many files are listed. */
const MAX_FILES = 50

const uncommittedShape = z
  .looseObject({ branch: z.string().nullable(), head: z.string().nullable(), count: z.number() })
  .nullable()
  .describe(
    'What is not committed in the working folder and which session left it (left_by); null unless the plan waits',
  )

async function uncommittedFor(client: ApiReader, { case_id, id, state }: SessionJson) {
  if (state !== 'plan_ready') return null
  const answer = await client.request('GET', `${sessionPath({ case_id, id })}/approval`)
  const { changes, ...rest } = (answer.body as ApprovalViewJson).folder
  return { ...rest, count: changes.length, changes: changes.slice(0, MAX_FILES) }
}

export const sessionTools: readonly Tool[] = [
  tool({
    name: 'list_sessions',
    title: 'List sessions',
    does: 'reads',
    description: 'Lists the sessions of a case, the newest first, without their texts.',
    input: { ...caseArgument, ...rowRange },
    output: {
      sessions: z.array(row({ id: z.string(), number: z.number() })),
      ...rowsShape,
    },
    run: (access, { case: name, offset, limit }) =>
      access.read(async (client) => {
        const path = `/cases/${await caseIn(client, name)}/sessions?content=false`
        const { items, ...range } = await rowsAt<SessionHeadJson>(client, path, { offset, limit })
        return { structured: { sessions: items.map(sessionRow), ...range } }
      }),
  }),
  tool({
    name: 'get_session',
    title: 'Read a session',
    does: 'reads',
    description:
      'Reads a session: its state, hypothesis, plan, output, diff, test counts, the first failed tests with message and place (failed_tests), the usage of each run of the agent (usage: model, tokens, cost), what was in the working folder before the first step (base), the tests before and after (tests_before), and the files that could be attached as proof (candidates). While its plan waits for approval, uncommitted says what is not committed where it would run. The whole record with the audit trail is the memory file <number>.md of the case.',
    input: { ...caseArgument, ...sessionArgument('the newest') },
    output: {
      id: z.string(),
      case_id: z.string(),
      number: z.number(),
      state: z.string(),

      type: z.string(),
      hypothesis: z.string(),
      plan: z.string(),
      output: z.string(),

      plan_sha256: z.string().nullable(),
      uri: z.string(),
      status: statusShape,
      uncommitted: uncommittedShape,
      cut: z.array(z.string()).describe('Texts that were shortened, and where to read the rest'),
    },
    run: (access, { case: name, session }) =>
      access.read(async (client) => {
        const found = await resolveSession(client, await caseIn(client, name), wordOf(session))
        const [uncommitted, status] = await Promise.all([
          uncommittedFor(client, found),
          statusView(client, found.case_id, found),
        ])
        return { structured: { ...sessionView(found), uncommitted, status } }
      }),
  }),
  tool({
    name: 'propose_plan',
    title: 'Propose a plan',
    does: 'sets',
    description:
      'Hands in a plan for a case, and waits a little for the decision of the operator: as the new plan of the session that waits (state plan_ready), or, if none waits, of a new session for this conversation. The history of plans keeps the former plan. This approves nothing and starts nothing: the operator reads the plan and decides. Give either a plan or an intent. A plan is markdown; each fence marked run is a step, as in ```sh run id=test proof=tap. An intent is a small plan: one sentence, the paths that may be written, the commands that may run (what only reads always may), and the commands that prove it.',
    input: {
      ...caseArgument,
      ...sessionArgument('the newest that waits for approval'),
      plan: z.string().min(1).optional().describe('The whole plan, in markdown'),
      intent: z.string().min(1).optional().describe('In place of a plan: what you want to do'),
      paths: list.describe('Of an intent: globs, such as src/login/**'),
      commands: list.describe(
        'Of an intent: the first words of each command, such as npm run build',
      ),
      proof: list.describe('Of an intent: each command, such as npm test. It may run, too'),
      hypothesis: z.string().optional().describe('What you think is the cause. Default: unchanged'),
      wait: z
        .int()
        .min(0)
        .max(MAX_WAIT)
        .default(WAIT)
        .describe(
          'Seconds to wait for the decision, for an agent in a terminal. Propose the same again to wait longer.',
        ),
      expected_plan_sha256: z
        .string()
        .optional()
        .describe(
          'The plan_sha256 of the plan that you read. The call fails if the plan has changed since.',
        ),
    },
    output: {
      session_id: z.string(),
      number: z.number(),
      state: z.string(),

      plan_sha256: z.string().nullable(),
      uri: z.string(),
      next: z.string(),
    },
    run(access, { case: name, session, hypothesis, expected_plan_sha256, wait, ...given }, caller) {
      const plan = planIn(given)
      mustBeWhole('plan', plan)
      mustBeWhole('hypothesis', hypothesis ?? '')
      return access.served(async (client) => {
        const id = await caseIn(client, name)
        if (session === undefined && expected_plan_sha256 === undefined) {
          const waiting = (await sessionsOf(client, id)).find(({ state }) => state === 'plan_ready')
          if (!waiting || waiting.origin === 'terminal') {
            const proposal = { plan, hypothesis: hypothesis ?? null }
            return handedIn(client, access, id, { proposal, wait, caller })
          }
        }
        const found = await resolveSession(client, id, wordOf(session), { waiting: true })
        const body = { plan, ...(hypothesis === undefined ? {} : { hypothesis }) }
        return proposed(client, found, body, expected_plan_sha256)
      })
    },
  }),
]

/** The plan that an agent proposes: as it is, or written from an intent. */
function planIn({ plan, intent, paths = [], commands = [], proof = [] }: ProposedText): string {
  if (plan !== undefined && intent === undefined) return plan
  if (intent !== undefined && plan === undefined)
    return intentPlan({ intent, paths, commands, proof })
  throw new AppError('bad_request', 'Give either plan or intent.')
}

type ProposedText = { [Key in keyof Intent]?: Intent[Key] | undefined } & {
  plan?: string | undefined
}

/** The plan of an agent that a person runs themselves. Waits for the decision. */
async function handedIn(
  client: Client,
  access: Access,
  caseId: string,
  {
    proposal,
    wait,
    caller: { signal, report },
  }: { proposal: { plan: string; hypothesis: string | null }; wait: number; caller: Caller },
): Promise<Outcome> {
  const agent = agentNamed(access.agentName() ?? '')
  const body = { ...proposal, agent, cwd: process.cwd(), pid: process.ppid }
  const answer = await client.request('POST', `/cases/${caseId}/proposed-plans`, { body })
  // without a service it cannot be approved meanwhile
  const ms = (await access.service()) === null ? 0 : wait * 1000
  const began = Date.now()
  let reported = 0
  const onLook = () => {
    const waited = Date.now() - began
    if (waited - reported < REPORT_MS) return
    reported = waited
    report(Math.round(waited / 1000), 'The plan waits for the operator.')
  }
  const { session, text } = await waitForDecision(client, answer.body, {
    ms,
    signal,
    onLook,
  })
  const { id, case_id, number, state, plan_sha256 } = session
  const uri = sessionUri(case_id, id)
  const next = state === 'plan_ready' ? `${await nextText(client, case_id, { id })} ${text}` : text
  return { structured: { session_id: id, number, state, plan_sha256, uri, next } }
}

/** The agent behind the name that an MCP client gives. */
function agentNamed(name: string): ConversationAgent {
  const words = name.toLowerCase().replace('visual studio code', 'vscode')
  return HOOK_AGENTS.find((agent) => words.includes(agent)) ?? 'other'
}

async function proposed(
  client: Client,
  session: SessionJson,
  body: { plan: string; hypothesis?: string },
  expected: string | undefined,
): Promise<Outcome> {
  const path = sessionPath(session)
  const { state, plan_sha256 }: SessionJson = (await client.request('GET', path)).body
  if (state !== 'plan_ready') throw notWaiting(session.number, state)
  if (expected !== undefined && expected !== plan_sha256) throw changedPlan(plan_sha256)
  const sent = { ...body, expected_plan_sha256: plan_sha256 ?? undefined }
  try {
    const { id, case_id, number, ...after }: SessionJson = (
      await client.request('PUT', `${path}/plan`, { body: sent })
    ).body
    const { state, plan_sha256 } = after
    const uri = sessionUri(case_id, id)
    const next = await nextText(client, case_id, { id })
    return { structured: { session_id: id, number, state, plan_sha256, uri, next } }
  } catch (error) {
    const isLate = error instanceof AppError && error.code === 'plan_changed'
    throw isLate ? changedPlan(null) : error
  }
}

function notWaiting(number: number, state: string): AppError {
  return new AppError(
    'wrong_state',
    `Session ${number} is ${state}: you can propose a plan only while it waits for approval (plan_ready). list_sessions shows the others. Only the operator starts a new session (casefile start).`,
  )
}

function changedPlan(present: string | null): AppError {
  const now = present === null ? '' : ` It is ${present} now.`
  return new AppError(
    'plan_changed',
    `The plan has changed since you read it.${now} Read it again with get_session, then propose again.`,
  )
}
