import { setTimeout as delay } from 'node:timers/promises'
import type { ApiReader } from '../../client/client.ts'
import type { HistoryEntryJson } from '../../http/schemas/case.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { visibleText } from '../../model/visible-text.ts'
import { sessionPath } from '../resolve/find-session.ts'

const LOOK_MS = 500

/** What came of a plan that an agent in a terminal proposed. */
export interface Decision {
  session: SessionJson
  isApproved: boolean
  /** The same as sentences for the agent. */
  text: string
}

/** Waits until the operator has decided on a proposed plan, for at most so long; then it may still wait. */
export async function waitForDecision(
  client: ApiReader,
  proposed: SessionJson,
  { ms, signal, onLook }: { ms: number; signal: AbortSignal; onLook?: () => void },
): Promise<Decision> {
  let session = proposed
  for (const end = Date.now() + ms; Date.now() < end; ) {
    if (session.state !== 'plan_ready') break
    await delay(LOOK_MS, undefined, { signal })
    onLook?.()
    session = (await client.request('GET', sessionPath(session))).body
  }
  const isApproved = session.state === 'approved' || session.state === 'executing'
  return { session, isApproved, text: decisionText(session, await noteOf(client, session)) }
}

/** What the operator said about a proposal that they did not approve; null if they said nothing. */
async function noteOf(client: ApiReader, { case_id, number }: SessionJson): Promise<string | null> {
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
      return `Session ${number} still waits for the operator. Propose the same again to wait longer, or end your turn: once it is approved, your calls inside its paths and commands pass.`
    default:
      return `Session ${number} is ${state}, not approved. ${note === null ? '' : `The operator says: ${visibleText(note)}`}`.trimEnd()
  }
}
