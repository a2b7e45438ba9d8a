import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { serviceProgram } from '../../../files/service-program.ts'
import { answerClaude, denyClaude, isFromClaude, readClaudeEvent } from '../claude/hooks.ts'
import type { HookDialect, HookEvent } from '../hooks/hook-event.ts'
import { toolOf } from '../hooks/hook-tool.ts'
import { linesWith } from '../hooks/transcript.ts'
import { asRecord, asString } from '../unknown-record.ts'
import { CODEX_TOOLS } from './tools.ts'
import { transcriptUsage } from './usage.ts'

const APPROVAL = /^Implement the plan\b/
const SEND_MS = 20_000

/**
 * The hooks of Codex, measured with 0.169.0 and 0.171.0: Claude's words, with two tools. No hook presents its plan; it is
 * in the transcript when the turn ends. Its own question "Implement this plan?" is answered by a prompt.
 */
export const codexDialect: HookDialect = {
  agent: 'codex',
  isFrom: isFromClaude,
  async read(body, place) {
    const event = await readClaudeEvent(body, place, (name, input) =>
      toolOf(CODEX_TOOLS, name, input),
    )
    if (!('kind' in event) || event.kind !== 'prompted') return event
    return { ...event, isApproval: APPROVAL.test(event.prompt) }
  },
  answer: answerClaude,
  deny: denyClaude,
  carriesNotes: true,
  hasDialog: true,
  howToPlan:
    'Present a plan in plan mode (the person switches to it with Shift+Tab), or hand one in with the tool propose_plan of the MCP server casefile.',
  planOfTurn,
  usage: transcriptUsage,
  async send({ agent_session, transcript }, text) {
    const home = transcript === null ? null : /^(.*)[/\\]sessions[/\\]/.exec(transcript)?.[1]
    const env = { ...process.env, ...(home ? { CODEX_HOME: home } : {}) }
    const args = ['queue', '--thread', agent_session ?? '', '--message', text]
    await promisify(execFile)(serviceProgram('codex'), args, { env, timeout: SEND_MS })
  },
}

/** The last plan of the turn that ended. */
async function planOfTurn(event: HookEvent): Promise<string | null> {
  if (event.kind !== 'stopped' || event.turn === null) return null
  let plan: string | null = null
  for (const line of await linesWith(event.transcript, event.turn)) {
    const payload = asRecord(asRecord(line).payload)
    const item = asRecord(payload.item)
    if (payload.turn_id === event.turn && item.type === 'Plan') plan = asString(item.text) ?? plan
  }
  return plan
}
