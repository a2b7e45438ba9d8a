import { relative, resolve } from 'node:path'
import type { PlanScope } from '../../model/scope.ts'
import type { SessionState } from '../../model/session-state.ts'
import type { HookTool } from '../../runners/hooks/hook-event.ts'
import { outsideScope } from '../../runners/scope.ts'
import { isReadOnlyCommand } from './read-only-command.ts'

interface GatedCall {
  tool: HookTool
  /** Whether the agent is in its own plan mode, whose rules for commands are its own. */
  isPlanMode: boolean
  /** The state of the session; null without one. */
  state: SessionState | null
  caseTitle: string
  /** How this agent presents a plan, as a sentence for it. */
  howToPlan: string
}

/** Why a tool may not be called before a plan is approved, as sentences for the agent; null if it may. */
export function objectionBeforeApproval({
  tool,
  isPlanMode,
  state,
  caseTitle,
  howToPlan,
}: GatedCall): string | null {
  if (!mayChange(tool, isPlanMode)) return null
  const isWriting = tool.kind === 'write'
  const what = isWriting ? 'nothing may be changed' : 'only commands that read may run'
  const why =
    state === 'plan_ready'
      ? 'Its plan waits for the operator to approve it in Casefile.'
      : `It has no approved plan. ${howToPlan}`
  return `Casefile records this work as the case "${caseTitle}", and ${what} yet. ${why}`
}

/** Whether a call may change something. */
export function mayChange(tool: HookTool, isPlanMode: boolean): boolean {
  return tool.kind === 'write' || (tool.kind === 'execute' && !isPlanMode && !isReading(tool))
}

/** PowerShell quotes in another way, so its commands cannot be judged. */
const isReading = ({ name, command }: HookTool) =>
  name.toLowerCase() !== 'powershell' && isReadOnlyCommand(command ?? '')

/** Why the approved plan's scope does not allow a call, as a clause; null if it does. */
export function scopeObjection(scope: PlanScope, tool: HookTool, folder: string): string | null {
  if (tool.kind === 'execute' && tool.command !== null) {
    return outsideScope(scope, { command: tool.command, workdir: folder })
  }
  if (tool.kind !== 'write') return null
  for (const path of tool.paths) {
    const objection = outsideScope(scope, { path: relative(folder, resolve(folder, path)) })
    if (objection !== null) return objection
  }
  return null
}
