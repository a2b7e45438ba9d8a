import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { readRegular } from '../../files/safe-read.ts'
import { asRecord, asString } from '../agents/unknown-record.ts'
import { answerClaude, readClaudeEvent } from './claude.ts'
import { type HookDialect, type HookEvent, type HookTool, inputHash } from './hook-event.ts'

const APPROVAL = /^Implement the plan\b/
const SEND_MS = 20_000
const MAX_TRANSCRIPT_BYTES = 256 * 1024 * 1024

/**
 * The hooks of Codex, measured with 0.169.0 and 0.171.0: Claude's words, with two tools. No hook presents its plan; it is
 * in the transcript when the turn ends. Its own question "Implement this plan?" is answered by a prompt.
 */
export const codex: HookDialect = {
  agent: 'codex',
  async read(body) {
    const event = readClaudeEvent(body, codexTool)
    if (event?.kind !== 'prompted') return event
    return { ...event, isApproval: APPROVAL.test(event.prompt) }
  },
  answer: answerClaude,
  planOfTurn,
  async send({ agent_session, transcript }, text) {
    const home = transcript === null ? null : /^(.*)[/\\]sessions[/\\]/.exec(transcript)?.[1]
    const env = { ...process.env, ...(home ? { CODEX_HOME: home } : {}) }
    const args = ['queue', '--thread', agent_session ?? '', '--message', text]
    await promisify(execFile)('codex', args, { env, timeout: SEND_MS })
  },
}

function codexTool(name: string, input: Readonly<Record<string, unknown>>): HookTool {
  const command = asString(input.command)
  const isPatch = name === 'apply_patch'
  return {
    name,
    kind: name === 'Bash' ? 'execute' : isReading(name) ? 'other' : 'write',
    paths: isPatch && command !== null ? pathsOfPatch(command) : [],
    command: isPatch ? null : command,
    input_sha256: inputHash(input),
  }
}

const isReading = (name: string) =>
  ['update_plan', 'view_image', 'web_search', 'request_user_input'].includes(name) ||
  name.startsWith('mcp__casefile__')

function pathsOfPatch(patch: string): string[] {
  const headers = patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm)
  return [...headers].map(([, path = '']) => path.trim())
}

/** The last plan of the turn that ended. */
async function planOfTurn(event: HookEvent): Promise<string | null> {
  if (event.kind !== 'stopped' || event.turn === null || event.transcript === null) return null
  const read = await readRegular(event.transcript, { maxBytes: MAX_TRANSCRIPT_BYTES })
  if (!read.ok) return null
  let plan: string | null = null
  for (const line of read.bytes.toString().split('\n')) {
    if (!line.includes('"item_completed"') || !line.includes(event.turn)) continue
    const payload = asRecord(asRecord(parsed(line)).payload)
    const item = asRecord(payload.item)
    if (payload.turn_id === event.turn && item.type === 'Plan') plan = asString(item.text) ?? plan
  }
  return plan
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null // the last line may be half written
  }
}
