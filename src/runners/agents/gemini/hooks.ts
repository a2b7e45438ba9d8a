import { basename, dirname, join } from 'node:path'
import { readRegular } from '../../../files/safe-read.ts'
import { MAX_PLAN_BYTES } from '../../../model/session.ts'
import { type AgentUsage, conversationUsage } from '../agent-usage.ts'
import { readClaudeEvent } from '../claude/hooks.ts'
import type {
  HookAnswer,
  HookContext,
  HookDialect,
  HookEvent,
  Unreadable,
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

/** Claude's names of its events. */
const EVENTS: Readonly<Record<string, string>> = {
  BeforeAgent: 'UserPromptSubmit',
  BeforeTool: 'PreToolUse',
  AfterTool: 'PostToolUse',
  AfterAgent: 'Stop',
}

async function read(
  body: Record<string, unknown>,
  place: HookContext,
): Promise<HookEvent | Unreadable> {
  const name = asString(body.hook_event_name) ?? ''
  const claudes = { ...body, hook_event_name: EVENTS[name] ?? body.hook_event_name }
  const event = await readClaudeEvent(claudes, place, (tool, input) =>
    toolOf(GEMINI_TOOLS, tool, input, isPlanFile),
  )
  if (!('kind' in event) || (event.kind !== 'calling' && event.kind !== 'called')) return event
  const { agentSession, cwd, model, transcript, isSubagent } = event
  const common = { agentSession, cwd, model, transcript, isSubagent }
  const response = asRecord(body.tool_response)
  if (event.tool.name !== 'exit_plan_mode') {
    return event.kind === 'called' ? { ...event, hasFailed: response.error !== undefined } : event
  }
  if (event.kind === 'calling') {
    const input = toolInput(body.tool_input)
    const plan = (await planIn(transcript, agentSession, asString(input.plan_filename))) ?? ''
    return { ...common, kind: 'planned', plan, input, isHeld: true }
  }
  const said = asString(response.llmContent) ?? ''
  const isApproved = said.startsWith('Plan approved')
  return isApproved ? { ...common, kind: 'approved', plan: null } : { ...common, kind: 'heard' }
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
