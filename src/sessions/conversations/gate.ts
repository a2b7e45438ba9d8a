import { relative, resolve } from 'node:path'
import type { PlanScope } from '../../model/scope.ts'
import type { SessionState } from '../../model/session-state.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { HookAnswer, HookEvent, HookTool } from '../../runners/hooks/hook-event.ts'
import { outsideScope } from '../../runners/scope.ts'
import { isReadOnlyCommand } from './read-only-command.ts'

const PASS: HookAnswer = { is: 'pass' }

interface GatedCall {
  tool: HookTool
  /** Whether the agent is in its own plan mode, whose rules for commands are its own. */
  isPlanMode: boolean
  /** The state of the session; null without one. */
  state: SessionState | null
  caseTitle: string
  /** Why it has no approved plan, as a sentence. */
  noPlan: string
  /** How this agent presents a plan, as a sentence for it. */
  howToPlan: string
}

/** Why a tool may not be called before a plan is approved, as sentences for the agent; null if it may. */
export function objectionBeforeApproval({
  tool,
  isPlanMode,
  state,
  caseTitle,
  noPlan,
  howToPlan,
}: GatedCall): string | null {
  if (!mayChange(tool, isPlanMode)) return null
  const isWriting = tool.kind === 'write'
  const what = isWriting ? 'nothing may be changed' : 'only commands that read may run'
  const why =
    state === 'plan_ready'
      ? 'Its plan waits for the operator to approve it in Casefile.'
      : `${noPlan} ${howToPlan}`
  return `Casefile records this work as the case "${caseTitle}", and ${what} yet. ${why}`
}

/** The case of a conversation was closed or deleted: it may only read until a person has chosen another one. */
export function answerWhenCaseIsOver(
  row: { title: string; state: string } | undefined,
  event: HookEvent,
): HookAnswer {
  const over = row
    ? `The case "${visibleText(row.title)}" is ${row.state}.`
    : 'The case of this conversation was deleted.'
  const text = `Casefile: ${over} Nothing may be changed before the person has decided how to go on. ${CHOOSE_CASE}`
  switch (event.kind) {
    case 'started':
    case 'prompted':
      return { is: 'context', text, notice: `Casefile: ${over} ${CHOOSE_CASE}` }
    case 'calling':
      return mayChange(event.tool, event.isPlanMode) ? { is: 'denied', reason: text } : PASS
    case 'planned':
      return { is: 'sentBack', message: text }
    default:
      return PASS
  }
}

const CHOOSE_CASE =
  'Choose one with casefile use <case> or casefile adopt, or go on without one: casefile use --none'

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
