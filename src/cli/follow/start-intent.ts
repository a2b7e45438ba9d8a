import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isWithin } from '../../files/real-path.ts'
import type { HistoryEntryJson } from '../../http/schemas/case.ts'
import type { ConversationJson } from '../../http/schemas/conversation.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { intentPlan } from '../../markdown/intent.ts'
import type { Intent } from '../../model/intent.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { CommandContext } from '../context.ts'
import { EXIT, type ExitCode } from '../output/exit-codes.ts'
import { jsonText } from '../output/json.ts'
import { printPlanned } from '../output/planned.ts'
import { reread, sessionExitCode } from './follow.ts'

/** Agents end a command that runs for longer than about two minutes. */
const WAIT_MS = 90_000
const LOOK_MS = 500

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
    if (own) return propose(context, caseId, wanted, own)
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
  { agent }: ConversationJson,
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
  let session: SessionJson = answer.body
  const name = caseId.slice(0, 8)
  terminal.say(`session ${session.number} waits for the operator (casefile approve ${name})`)
  for (const end = Date.now() + WAIT_MS; Date.now() < end; ) {
    if (session.state !== 'plan_ready') break
    await delay(LOOK_MS, undefined, { signal: context.signal })
    session = await reread(context, session)
  }
  if (json) terminal.print(jsonText(session))
  else terminal.print(`${decisionText(session, await noteOf(context, session))}\n`)
  return session.state === 'approved' || session.state === 'executing'
    ? EXIT.done
    : EXIT.notApproved
}

/** What the operator said about a proposal that they did not approve; null if they said nothing. */
async function noteOf(
  { client }: CommandContext,
  { case_id, number }: SessionJson,
): Promise<string | null> {
  const all: HistoryEntryJson[] = (await client.request('GET', `/cases/${case_id}/history`)).body
  const isDecision = ({ kind, session }: HistoryEntryJson) =>
    session === number && (kind === 'sent_back' || kind === 'run_ended')
  return all.findLast(isDecision)?.text ?? null
}

function decisionText({ number, state }: SessionJson, note: string | null): string {
  switch (state) {
    case 'approved':
    case 'executing':
      return `Session ${number} is approved: go on, inside its paths and commands.`
    case 'plan_ready':
      return `Session ${number} still waits for the operator. End your turn: once it is approved, your calls inside its paths and commands pass.`
    default:
      return `Session ${number} is ${state}, not approved. ${note === null ? '' : `The operator says: ${visibleText(note)}`}`.trimEnd()
  }
}
