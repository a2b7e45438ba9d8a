import { resolve } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import type { ConversationJson } from '../../http/schemas/conversation.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { intentPlan } from '../../markdown/intent.ts'
import type { Intent } from '../../model/intent.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { printPlanned } from '../output/planned.ts'
import { waitForDecision } from './decision.ts'
import { sessionExitCode } from './follow.ts'

/** Agents end a command that runs for longer than about two minutes. */
const WAIT_MS = 90_000

interface Wanted extends Intent {
  type: string | undefined
  provider: string | undefined
  note: string | undefined
  isolation: string | undefined
}

/**
 * Starts a session whose plan is an intent, and asks whether it may run. An agent in a terminal that calls this hands in
 * the intent for its own session instead, and gets the decision.
 */
export async function startIntent(
  context: CommandContext,
  caseId: string,
  wanted: Wanted,
  { yes = false, detach = false }: { yes?: boolean | undefined; detach?: boolean | undefined },
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const canAsk = terminal.canAsk && !json
  if (!canAsk && !yes && wanted.provider === undefined) {
    const own = await conversationHere(context, caseId)
    if (own) return propose(context, caseId, wanted, { own, waitMs: detach ? 0 : WAIT_MS })
  }
  const path = `/cases/${caseId}/sessions`
  const session: SessionJson = (await client.request('POST', path, { body: wanted })).body
  const waits = session.state === 'plan_ready'
  if (waits && (yes || (canAsk && !detach))) {
    const { approveSession } = await import('../commands/approve.ts')
    return approveSession(context, session, { yes, detach })
  }
  if (json) terminal.print(jsonText(session))
  else await printPlanned(context, session)
  return sessionExitCode(session)
}

/** The conversation of an agent that works on the case in this folder; null if there is none. */
async function conversationHere(
  { client, workspace: { root } }: CommandContext,
  caseId: string,
): Promise<ConversationJson | null> {
  const all: ConversationJson[] = (await client.request('GET', '/conversations')).body
  const found = all.find(
    ({ case_id, folder, is_gated, is_running }) =>
      case_id === caseId &&
      is_gated &&
      is_running &&
      isWithin(resolve(root, folder), process.cwd()),
  )
  return found ?? null
}

async function propose(
  context: CommandContext,
  caseId: string,
  wanted: Intent,
  { own: { agent }, waitMs }: { own: ConversationJson; waitMs: number },
): Promise<ExitCode> {
  const { client, terminal, json } = context
  const body = {
    plan: intentPlan(wanted),
    hypothesis: null,
    agent,
    cwd: process.cwd(),
    pid: process.ppid,
  }
  const answer = await client.request('POST', `/cases/${caseId}/proposed-plans`, { body })
  const session: SessionJson = answer.body
  const name = caseId.slice(0, 8)
  if (session.state === 'plan_ready')
    terminal.say(`session ${session.number} waits for the operator (casefile approve ${name})`)
  const waiting = { ms: waitMs, signal: context.signal }
  const decision = await waitForDecision(client, session, waiting)
  terminal.print(json ? jsonText(decision.session) : `${decision.text}\n`)
  return decision.isApproved || waitMs === 0 ? EXIT.done : EXIT.notApproved
}
