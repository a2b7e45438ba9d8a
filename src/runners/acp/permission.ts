import type { PermissionOptionKind, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import { asArray, asRecord, asString } from '../agents/unknown-record.ts'
import { type AllowedPaths, outsideReason, scopeReason } from './allowed-paths.ts'
import type { ToolCall } from './tool-call.ts'

/** `exitPlanMode`: the agent asks to leave its plan mode and start working. */
export type PermissionDecision =
  | { is: 'allowed' }
  | { is: 'denied'; reason: string }
  | { is: 'exitPlanMode' }

const READING = ['read', 'search', 'think']
/** These calls touch no file they would have to name, or run a command in the agent's folder. */
const WITHOUT_PATHS = [...READING, 'execute', 'fetch']

/** The policy for plan mode: an agent may read, search and think. It may not start working. */
export function planPolicy(call: ToolCall): PermissionDecision {
  if (exitsPlanMode(call)) return { is: 'exitPlanMode' }
  const { kind, commands } = call
  // an agent may call `cat file` reading, but it is a command
  if ((READING.includes(kind ?? '') && commands.length === 0) || isBookkeeping(call))
    return { is: 'allowed' }
  const what = commands.length > 0 ? 'a command' : `the kind ${kind ?? 'other'}`
  return { is: 'denied', reason: `while planning it may only read, not ${what}` }
}

/** The policy for work mode: everything inside the working folder and the scope of the plan is allowed. */
export async function workPolicy(
  call: ToolCall,
  allowedPaths: AllowedPaths,
): Promise<PermissionDecision> {
  const denied = (reason: string): PermissionDecision => ({ is: 'denied', reason })
  if (call.kind === 'switch_mode') return denied('it may not change its own mode')
  const outside =
    (await outsideReason(call, allowedPaths)) ?? (await scopeReason(call, allowedPaths))
  if (outside !== null) return denied(outside)
  if (isBookkeeping(call) || isOfUsersServer(call)) return { is: 'allowed' }
  if (call.paths.length === 0 && !WITHOUT_PATHS.includes(call.kind ?? '')) {
    return denied('it names no path, so it may reach outside the working folder')
  }
  return { is: 'allowed' }
}

const TODO_TOOL =
  /^(?:write_todos|todo_?(?:write|read)|update_(?:plan|todos)|task(?:create|update|list|get))$/i

/**
 * An agent's own to-do list touches no file. The title is not checked, because a model may write anything there.
 */
function isBookkeeping({ tool, isTodoList, paths, commands }: ToolCall): boolean {
  return paths.length + commands.length === 0 && (TODO_TOOL.test(tool) || isTodoList)
}

/**
 * Matches `mcp__server__tool` and `mcp_server_tool`. The agent itself gives tools these names, and the project's
 * servers are turned off.
 */
function isOfUsersServer({ tool }: ToolCall): boolean {
  return /^mcp_{1,2}[^_]/.test(tool)
}

const LEAVING_TOOL = /(?:exit|leave)[-_ ]?plan[-_ ]?mode|plan[-_ ]exit/i
const LEAVING =
  /(?:exit|leav)(?:e|ing)?[-_ ]?plan[-_ ]?mode|plan[-_ ]approval|approv(?:e|al)[^/]{0,20}\bplan\b|ready to code/i

/** Whether the tool ends planning. Some agents use a kind of its own for that, others `other`. */
export function endsPlanning({ kind, id, tool }: ToolCall): boolean {
  return kind === 'switch_mode' || LEAVING_TOOL.test(id) || LEAVING_TOOL.test(tool)
}

function exitsPlanMode(call: ToolCall): boolean {
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

/** Chooses the option that allows or rejects this call once; never one that applies to later calls. */
export function answerWith(decision: PermissionDecision, options: unknown): Answer {
  const option = (kind: PermissionOptionKind) =>
    asArray(options)
      .map(asRecord)
      .find((each) => each.kind === kind)
  const allow = decision.is === 'allowed' ? option('allow_once') : undefined
  const optionId = asString((allow ?? option('reject_once'))?.optionId)
  const isAllowed = allow !== undefined && optionId !== null
  if (decision.is === 'exitPlanMode' || optionId === null) return { response: CANCELLED, isAllowed }
  return { response: { outcome: { outcome: 'selected', optionId } }, isAllowed }
}
