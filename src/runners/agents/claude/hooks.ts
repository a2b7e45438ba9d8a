import { homedir } from 'node:os'
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { isWithin, realPathOf } from '../../../files/real-path.ts'
import { readRegular } from '../../../files/safe-read.ts'
import { MAX_PLAN_BYTES } from '../../../model/session.ts'
import {
  type HookAnswer,
  type HookContext,
  type HookDialect,
  type HookEvent,
  type HookTool,
  missingTexts,
  type Unreadable,
} from '../hooks/hook-event.ts'
import { toolInput, toolOf } from '../hooks/hook-tool.ts'
import { asRecord, asString } from '../unknown-record.ts'
import { claudeHome } from './home.ts'
import { CLAUDE_TOOLS } from './tools.ts'
import { transcriptUsage } from './usage.ts'

/** The hooks of Claude Code, measured with 2.1.330. Copilot, Cursor and VS Code read the same settings. */
export const claudeDialect: HookDialect = {
  agent: 'claude',
  isFrom: isFromClaude,
  async read(body, place) {
    const event = await readClaudeEvent(body, place)
    if (!('kind' in event) || event.kind !== 'calling') return event
    return { ...event, canAsk: ASKING_MODES.includes(body.permission_mode) }
  },
  answer: answerClaude,
  deny: denyClaude,
  carriesNotes: true,
  hasDialog: true,
  howToPlan:
    'Present a plan: call EnterPlanMode if you are not in plan mode, write the plan, then call ExitPlanMode.',
  usage: transcriptUsage,
}

/** In others, such as auto, it takes a hook's `ask` for an approval. */
const ASKING_MODES: readonly unknown[] = ['default', 'acceptEdits']

const TOOL_EVENTS: readonly unknown[] = [
  'PreToolUse',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
]

const EVENT =
  /^(?:UserPromptSubmit|PreToolUse|PermissionRequest|PostToolUse|PostToolUseFailure|Stop)$/

/** Whether an event has one of Claude's names. Those of a conversation's begin and end are other agents' too. */
export function isFromClaude({ hook_event_name }: Readonly<Record<string, unknown>>): boolean {
  return EVENT.test(asString(hook_event_name) ?? '')
}

/** Reads an event in Claude's words; `toTool` reads the tools of another agent. */
export async function readClaudeEvent(
  body: Record<string, unknown>,
  { root }: Pick<HookContext, 'root'>,
  toTool = claudeTool,
): Promise<HookEvent | Unreadable> {
  const isOfTool = TOOL_EVENTS.includes(body.hook_event_name)
  const needed = ['session_id', 'cwd', 'hook_event_name', ...(isOfTool ? ['tool_name'] : [])]
  const missing = missingTexts(body, needed)
  if (missing.length > 0) return { missing }
  const common = {
    agentSession: asString(body.session_id)!,
    cwd: asString(body.cwd)!,
    model: asString(body.model),
    transcript: asString(body.transcript_path),
    isSubagent: asString(body.agent_id) !== null,
  }
  const name = asString(body.tool_name) ?? ''
  const input = toolInput(body.tool_input)
  switch (body.hook_event_name) {
    case 'SessionStart':
      return { ...common, kind: 'started', isContinued: body.source !== 'startup' }
    case 'UserPromptSubmit':
      return { ...common, kind: 'prompted', prompt: asString(body.prompt) ?? '', isApproval: false }
    case 'PreToolUse':
      return { ...common, kind: 'calling', tool: toTool(name, input, common.transcript) }
    case 'PermissionRequest': {
      if (name !== 'ExitPlanMode') return { ...common, kind: 'heard' }
      const path = asString(input.planFilePath) ?? asString(body.planFilePath)
      const plan = asString(input.plan) ?? (await readPlanFile(path, root, common.transcript)) ?? ''
      return { ...common, kind: 'planned', plan, input, isHeld: true }
    }
    case 'PostToolUse':
    case 'PostToolUseFailure': {
      const hasFailed = body.hook_event_name === 'PostToolUseFailure'
      if (name === 'ExitPlanMode') {
        if (hasFailed) return { ...common, kind: 'heard' }
        return { ...common, kind: 'approved', plan: asString(asRecord(body.tool_response).plan) }
      }
      return { ...common, kind: 'called', tool: toTool(name, input, common.transcript), hasFailed }
    }
    case 'Stop':
      return {
        ...common,
        kind: 'stopped',
        wasBlocked: body.stop_hook_active === true,
        turn: asString(body.turn_id),
      }
    case 'SessionEnd':
      return {
        ...common,
        kind: 'ended',
        isReplaced: body.reason === 'clear' || body.reason === 'resume',
      }
    default:
      return { ...common, kind: 'heard' }
  }
}

function claudeTool(
  name: string,
  input: Readonly<Record<string, unknown>>,
  transcript: string | null,
): HookTool {
  const plans = plansFolder(transcript)
  const isPlanFile = (path: string) =>
    plans !== null && path.endsWith('.md') && dirname(path) === plans
  return toolOf(CLAUDE_TOOLS, name, input, isPlanFile)
}

/** Beside the folder of the transcripts; the home folder may lie in folders of the same name. */
function plansFolder(transcript: string | null): string | null {
  const home = /^(.*)[/\\]projects[/\\]/s.exec(transcript ?? '')?.[1]
  return home === undefined ? null : join(home, 'plans')
}

/**
 * The plan in the file that Claude names in place of the text; null if there is none in its folder of plans or in the
 * workspace.
 */
async function readPlanFile(
  named: string | null,
  root: string,
  transcript: string | null,
): Promise<string | null> {
  if (named === null || named.includes('\0') || !named.endsWith('.md')) return null
  const path = normalize(named.replace(/^~(?=[/\\])/, homedir()))
  if (!isAbsolute(path)) return null
  const usual = join(claudeHome(process.env), 'plans')
  const folder = [plansFolder(transcript), usual, root].find((each) => each && isWithin(each, path))
  if (!folder) return null
  const within = await realPathOf(folder)
  const read = await readRegular(path, { maxBytes: MAX_PLAN_BYTES, within })
  return read.ok ? read.bytes.toString() : null
}

/** Answers in Claude's words. */
export function answerClaude(event: HookEvent, answer: HookAnswer): Record<string, unknown> | null {
  switch (answer.is) {
    case 'pass':
    case 'allowed': // its mode accepts edits since the approval
      return null
    case 'context':
      return specific(event.kind === 'started' ? 'SessionStart' : 'UserPromptSubmit', {
        additionalContext: answer.text,
      })
    case 'denied':
      return denyClaude(answer.reason)
    case 'asked':
      return specific('PreToolUse', {
        permissionDecision: 'ask',
        permissionDecisionReason: answer.reason,
      })
    case 'approved':
      if (event.kind === 'prompted' && (answer.isEdited || answer.notes !== '')) {
        const edited = answer.isEdited ? editedText(answer.plan) : ''
        const additionalContext = [edited, answer.notes].filter((text) => text !== '').join('\n\n')
        return specific('UserPromptSubmit', { additionalContext })
      }
      if (event.kind !== 'planned') return null
      // Claude ignores an approval without the input
      return specific('PermissionRequest', {
        decision: {
          behavior: 'allow',
          updatedInput: { ...event.input, plan: withNotes(answer.plan, answer.notes) },
          updatedPermissions: [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }],
        },
      })
    case 'sentBack':
      if (event.kind === 'prompted') {
        return specific('UserPromptSubmit', { additionalContext: answer.message })
      }
      return specific('PermissionRequest', {
        decision: { behavior: 'deny', message: answer.message },
      })
    case 'blocked':
      return { decision: 'block', reason: answer.reason }
  }
}

export function denyClaude(reason: string): Record<string, unknown> {
  return specific('PreToolUse', {
    permissionDecision: 'deny',
    permissionDecisionReason: reason,
  })
}

function specific(hookEventName: string, fields: Record<string, unknown>): Record<string, unknown> {
  return { hookSpecificOutput: { hookEventName, ...fields } }
}

/** The approved plan is all that an agent gets with the approval. */
function withNotes(plan: string, notes: string): string {
  return notes === '' ? plan : `${plan}\n\n${notes}`
}

/** Tells an agent, which has another text, what was approved. */
export function editedText(plan: string): string {
  return `The operator changed the plan before it was approved. Carry out this text:\n\n${plan}`
}
