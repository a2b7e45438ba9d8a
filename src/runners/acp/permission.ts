import type { PermissionOptionKind, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { listOf, objectOf, textOf } from '../agents/foreign.ts'
import { type Ground, whyOutside } from './ground.ts'
import type { ToolCall } from './tool-call.ts'

/** `leave`: it wants to leave its plan mode, that is to begin. */
export type Verdict = { is: 'allowed' } | { is: 'denied'; reason: string } | { is: 'leave' }

const READING = ['read', 'search', 'think']
/** They touch no file that they would have to name, or run where the agent runs. */
const WITHOUT_PATHS = [...READING, 'execute', 'fetch']

/** While it plans an agent may read, search and think; it never decides for itself that it may begin. */
export function judgePlanning(call: ToolCall): Verdict {
  if (wantsToLeave(call)) return { is: 'leave' }
  const { kind, commands } = call
  // An agent may call `cat file` a reading; it is a command all the same.
  if ((READING.includes(kind ?? '') && commands.length === 0) || isBookkeeping(call))
    return { is: 'allowed' }
  const what = commands.length > 0 ? 'a command' : `the kind ${kind ?? 'other'}`
  return { is: 'denied', reason: `while planning only reading is allowed, not ${what}` }
}

/** At work it may do what stays inside the working folder. */
export async function judgeWork(call: ToolCall, ground: Ground): Promise<Verdict> {
  const denied = (reason: string): Verdict => ({ is: 'denied', reason })
  if (call.kind === 'switch_mode') return denied('it may not change its own mode')
  const outside = await whyOutside(call, ground)
  if (outside !== null) return denied(outside)
  if (isBookkeeping(call) || isOfUsersServer(call)) return { is: 'allowed' }
  if (call.paths.length === 0 && !WITHOUT_PATHS.includes(call.kind ?? '')) {
    return denied('it names no path, so whether it stays in the working folder is unknown')
  }
  return { is: 'allowed' }
}

const TODO_TOOL =
  /^(?:write_todos|todo_?(?:write|read)|update_(?:plan|todos)|task(?:create|update|list|get))$/i

/** An agent's own list of things to do touches no file. Its title is no sign of it: a model may write that. */
function isBookkeeping({ tool, isTodoList, paths, commands }: ToolCall): boolean {
  return paths.length + commands.length === 0 && (TODO_TOOL.test(tool) || isTodoList)
}

/** `mcp__server__tool`, `mcp_server_tool`: the agent itself names its tools, and those of the project it does not have. */
function isOfUsersServer({ tool }: ToolCall): boolean {
  return /^mcp_{1,2}[^_]/.test(tool)
}

const LEAVING_TOOL = /(?:exit|leave)[-_ ]?plan[-_ ]?mode|plan[-_ ]exit/i
const LEAVING =
  /(?:exit|leav)(?:e|ing)?[-_ ]?plan[-_ ]?mode|plan[-_ ]approval|approv(?:e|al)[^/]{0,20}\bplan\b|ready to code/i

/** Whether a tool is the one that ends planning: some give it a kind for this alone, and some call it `other`. */
export function endsPlanning({ kind, id, tool }: ToolCall): boolean {
  return kind === 'switch_mode' || LEAVING_TOOL.test(id) || LEAVING_TOOL.test(tool)
}

function wantsToLeave(call: ToolCall): boolean {
  if (endsPlanning(call)) return true
  const { kind, title, words, plan } = call
  if (kind !== null && kind !== 'other') return false
  return plan !== null || [title ?? '', ...words].some((word) => LEAVING.test(word))
}

export interface Answer {
  response: RequestPermissionResponse
  isAllowed: boolean
}

export const CANCELLED: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

/** The option of the right kind, wherever it stands; never one that holds for more than this once. */
export function answerWith(verdict: Verdict, options: unknown): Answer {
  const option = (kind: PermissionOptionKind) =>
    listOf(options)
      .map(objectOf)
      .find((each) => each.kind === kind)
  const allow = verdict.is === 'allowed' ? option('allow_once') : undefined
  const optionId = textOf((allow ?? option('reject_once'))?.optionId)
  const isAllowed = allow !== undefined && optionId !== null
  if (verdict.is === 'leave' || optionId === null) return { response: CANCELLED, isAllowed }
  return { response: { outcome: { outcome: 'selected', optionId } }, isAllowed }
}
