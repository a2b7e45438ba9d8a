import { basename, dirname, join } from 'node:path'
import { readRegular } from '../../../files/safe-read.ts'
import { MAX_PLAN_BYTES } from '../../../model/session.ts'
import { type AgentUsage, conversationUsage } from '../agent-usage.ts'
import {
  type HookAnswer,
  type HookDialect,
  type HookEvent,
  missingTexts,
  type Unreadable,
} from '../hooks/hook-event.ts'
import { toolInput, toolOf } from '../hooks/hook-tool.ts'
import { linesWith } from '../hooks/transcript.ts'
import { asRecord, asString } from '../unknown-record.ts'
import { GEMINI_TOOLS } from './tools.ts'

const EVENT = /^(?:Before|After)(?:Tool|Agent|Model|ToolSelection)$/

const isPlanFile = (path: string) =>
  /[/\\]\.gemini[/\\]tmp[/\\].*[/\\]plans[/\\][^/\\]+\.md$/.test(path)

/**
 * The hooks of Gemini CLI, measured with 0.61.0. It presents a plan by a call of exit_plan_mode, whose hook comes
 * before its own dialog.
 */
export const geminiDialect: HookDialect = {
  agent: 'gemini',
  isFrom: ({ hook_event_name }) => EVENT.test(asString(hook_event_name) ?? ''),
  read,
  answer,
  deny,
  blocksTerminal: true,
  howToPlan: 'Present a plan: call enter_plan_mode, write the plan, then call exit_plan_mode.',
  usage,
}

async function read(body: Record<string, unknown>): Promise<HookEvent | Unreadable> {
  const isOfTool = body.hook_event_name === 'BeforeTool' || body.hook_event_name === 'AfterTool'
  const needed = ['session_id', 'cwd', 'hook_event_name', ...(isOfTool ? ['tool_name'] : [])]
  const missing = missingTexts(body, needed)
  if (missing.length > 0) return { missing }
  const agentSession = asString(body.session_id)!
  const cwd = asString(body.cwd)!
  const transcript = asString(body.transcript_path)
  const common = { agentSession, cwd, model: null, transcript, isSubagent: false }
  const name = asString(body.tool_name) ?? ''
  const input = toolInput(body.tool_input)
  switch (body.hook_event_name) {
    case 'SessionStart':
      return { ...common, kind: 'started', isContinued: body.source !== 'startup' }
    case 'BeforeAgent':
      return { ...common, kind: 'prompted', prompt: asString(body.prompt) ?? '', isApproval: false }
    case 'BeforeTool': {
      if (name !== 'exit_plan_mode') {
        return { ...common, kind: 'calling', tool: toolOf(GEMINI_TOOLS, name, input, isPlanFile) }
      }
      const plan = (await planIn(transcript, agentSession, asString(input.plan_filename))) ?? ''
      return { ...common, kind: 'planned', plan, input, isHeld: true }
    }
    case 'AfterTool': {
      const said = asString(asRecord(body.tool_response).llmContent) ?? ''
      if (name !== 'exit_plan_mode') {
        const hasFailed = asRecord(body.tool_response).error !== undefined
        return {
          ...common,
          kind: 'called',
          tool: toolOf(GEMINI_TOOLS, name, input, isPlanFile),
          hasFailed,
        }
      }
      if (said.startsWith('Plan approved')) return { ...common, kind: 'approved', plan: null }
      return { ...common, kind: 'heard' }
    }
    case 'AfterAgent':
      return { ...common, kind: 'stopped', wasBlocked: body.stop_hook_active === true, turn: null }
    case 'SessionEnd':
      return { ...common, kind: 'ended', isReplaced: body.reason === 'clear' }
    default:
      return { ...common, kind: 'heard' }
  }
}

/** Gemini keeps the plans of a conversation beside its transcript. */
async function planIn(
  transcript: string | null,
  agentSession: string,
  name: string | null,
): Promise<string | null> {
  if (transcript === null || name === null) return null
  const folder = join(dirname(dirname(transcript)), agentSession, 'plans')
  const path = join(folder, basename(name))
  const read = await readRegular(path, { maxBytes: MAX_PLAN_BYTES })
  return read.ok ? read.bytes.toString() : null
}

function answer(event: HookEvent, answer: HookAnswer): Record<string, unknown> | null {
  switch (answer.is) {
    case 'pass':
    case 'allowed':
    case 'approved':
      return null // its own dialog comes
    case 'context': {
      const hookEventName = event.kind === 'started' ? 'SessionStart' : 'BeforeAgent'
      return { hookSpecificOutput: { hookEventName, additionalContext: answer.text } }
    }
    case 'sentBack':
      return deny(answer.message)
    case 'asked':
    case 'denied':
    case 'blocked':
      return deny(answer.reason)
  }
}

function deny(reason: string): Record<string, unknown> {
  return { decision: 'deny', reason }
}

/** What the transcript counts. A message is written again when its tools have run. */
async function usage(transcript: string | null): Promise<AgentUsage> {
  const messages = new Map<unknown, { model: unknown; counts: unknown }>()
  for (const line of await linesWith(transcript, '"tokens"')) {
    const { type, id, model, tokens } = asRecord(line)
    if (type === 'gemini') messages.set(id, { model, counts: tokens })
  }
  return conversationUsage([...messages.values()], {
    input: ['input'],
    output: ['output', 'thoughts'],
    cached: 'cached',
  })
}
