import { basename, join } from 'node:path'
import { readRegular } from '../../../files/safe-read.ts'
import { MAX_PLAN_BYTES } from '../../../model/session.ts'
import {
  type HookAnswer,
  type HookContext,
  type HookDialect,
  type HookEvent,
  missingTexts,
  type Unreadable,
} from '../hooks/hook-event.ts'
import { toolInput, toolOf } from '../hooks/hook-tool.ts'
import { asRecord, asString } from '../unknown-record.ts'
import { copilotHome } from './home.ts'
import { COPILOT_TOOLS } from './tools.ts'

/**
 * The hooks of GitHub Copilot CLI, measured with 1.0.102. What it sends does not name the event, so the hook's own line
 * does. It presents a plan by a call of exit_plan_mode, whose hook comes before its own dialog.
 */
export const copilotDialect: HookDialect = {
  agent: 'copilot',
  isFrom: (body) => 'toolName' in body || 'toolArgs' in body,
  read,
  answer,
  deny,
  noticeFields: (message) => ({ type: 'progress', message }),
  hasNoticeLine: true,
  blocksTerminal: true,
  howToPlan: 'Present a plan: write it, then call exit_plan_mode.',
  editors: COPILOT_TOOLS.edit!,
}

async function read(
  body: Record<string, unknown>,
  { eventName }: HookContext,
): Promise<HookEvent | Unreadable> {
  const isOfTool = eventName === 'preToolUse' || eventName === 'postToolUse'
  const missing = missingTexts(body, ['sessionId', 'cwd', ...(isOfTool ? ['toolName'] : [])])
  if (eventName === null) missing.push('event in its address')
  if (missing.length > 0) return { missing }
  const agentSession = asString(body.sessionId)!
  const cwd = asString(body.cwd)!
  const transcript = asString(body.transcriptPath)
  const common = { agentSession, cwd, model: null, transcript, isSubagent: false }
  const name = asString(body.toolName) ?? ''
  const input = toolInput(body.toolArgs)
  const isPlanFile = (path: string) => path.endsWith(join('/', planFile(agentSession)))
  const tool = () => toolOf(COPILOT_TOOLS, name, input, isPlanFile)
  switch (eventName) {
    case 'sessionStart':
      return { ...common, kind: 'started', isContinued: body.source !== 'new' }
    case 'userPromptSubmitted':
      return { ...common, kind: 'prompted', prompt: asString(body.prompt) ?? '', isApproval: false }
    case 'preToolUse': {
      if (name !== 'exit_plan_mode') {
        return { ...common, kind: 'calling', tool: tool() }
      }
      const plan = (await planOf(agentSession)) ?? asString(input.summary) ?? ''
      return { ...common, kind: 'planned', plan, input, isHeld: true }
    }
    case 'postToolUse': {
      const hasFailed = asRecord(body.toolResult).resultType !== 'success'
      if (name !== 'exit_plan_mode') {
        return { ...common, kind: 'called', tool: tool(), hasFailed }
      }
      return hasFailed ? { ...common, kind: 'heard' } : { ...common, kind: 'approved', plan: null }
    }
    case 'agentStop':
      return { ...common, kind: 'stopped', wasBlocked: body.stop_hook_active === true, turn: null }
    case 'sessionEnd':
      return { ...common, kind: 'ended', isReplaced: false }
    default:
      return { ...common, kind: 'heard' }
  }
}

/** In the folder of Copilot, whose place the agent's own environment may set. */
const planFile = (agentSession: string) => join('session-state', basename(agentSession), 'plan.md')

/** The plan that the agent wrote into its own folder; null if it did not. */
async function planOf(agentSession: string): Promise<string | null> {
  const path = join(copilotHome(process.env), planFile(agentSession))
  const read = await readRegular(path, { maxBytes: MAX_PLAN_BYTES })
  return read.ok ? read.bytes.toString() : null
}

function answer(_: HookEvent, answer: HookAnswer): Record<string, unknown> | null {
  switch (answer.is) {
    case 'pass':
    case 'approved':
      return null // its own dialog comes after the hook
    case 'allowed':
      return { permissionDecision: 'allow' }
    case 'context':
      return { additionalContext: answer.text }
    case 'sentBack':
      return deny(answer.message)
    case 'asked':
    case 'denied':
      return deny(answer.reason)
    case 'blocked':
      return { decision: 'block', reason: answer.reason }
  }
}

function deny(reason: string): Record<string, unknown> {
  return { permissionDecision: 'deny', permissionDecisionReason: reason }
}
