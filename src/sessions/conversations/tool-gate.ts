import { relative, resolve, sep } from 'node:path'
import { isWithin } from '../../files/real-path.ts'
import { isUnlimited, type PlanScope } from '../../model/scope.ts'
import type { SessionState } from '../../model/session-state.ts'
import type { ReadingRules } from '../../model/trust.ts'
import { visibleText } from '../../model/visible-text.ts'
import type { HookAnswer, HookEvent, HookTool } from '../../runners/agents/hooks/hook-event.ts'
import { fromHome } from '../../runners/agents/hooks/transcript.ts'
import { quotePath, resolveNamedPath } from '../../runners/agents/named-path.ts'
import { outsideScope } from '../../runners/outside-scope.ts'
import { isProposal } from '../../runners/proposal.ts'
import { isReading, whyNotReading } from '../../runners/reading/commands.ts'
import { workingCopyOf } from './working-copy.ts'

const PASS: HookAnswer = { is: 'pass' }

/** Where a call is made. */
interface Scene {
  /** Where the agent is. */
  cwd: string
  /** The working folder, without symbolic links. */
  folder: string
  rules: ReadingRules
  /** The state of the session; null without one. */
  state: SessionState | null
  /** The scope of its plan; null without a session. */
  scope: PlanScope | null
  caseId: string | null
  /** The session that works in the folder, by number and title; null if none does. */
  busyWith: string | null
  caseTitle: string
  /** Why it has no approved plan, as a sentence. */
  noPlan: string
  /** How this agent presents a plan, as a sentence for it. */
  howToPlan: string
}

/** Why a tool may not be called: for the agent, and for the record. */
export interface Objection {
  text: string
  reason: string
}

/** Null if the tool may be called. */
export async function objectionTo(tool: HookTool, scene: Scene): Promise<Objection | null> {
  const { state, scope } = scene
  if (!isWork(state)) return objectionBeforeApproval(tool, scene)
  const reason = scope && (await scopeObjection(scope, tool, scene))
  if (!reason) return null
  const text = `Casefile: ${reason}. Stay inside the approved plan, or present a new one once this work is done.`
  return { text, reason }
}

/** Whether the agent carries out an approved plan. */
export function isWork(state: SessionState | null): boolean {
  return state === 'approved' || state === 'executing'
}

function objectionBeforeApproval(
  tool: HookTool,
  {
    rules,
    state,
    caseId,
    busyWith,
    caseTitle,
    noPlan,
    howToPlan,
  }: Omit<Scene, 'cwd' | 'folder' | 'scope'>,
): Objection | null {
  const changing = whyChanging(tool, rules, caseId)
  if (changing === null) return null
  const why =
    state === 'plan_ready'
      ? `Its plan waits for the operator to approve it in Casefile${busyWith === null ? '' : `, which can be once ${busyWith} ends: it works in this folder`}.`
      : `${noPlan} ${howToPlan}`
  const text = `Casefile records this work as the case "${caseTitle}", and ${changing} ${why}`
  return { text, reason: 'no plan is approved yet' }
}

/** The case of a conversation was closed or deleted: it may only read until a person has chosen another one. */
export function answerWhenCaseIsOver(
  row: { title: string; state: string } | undefined,
  event: HookEvent,
  rules: ReadingRules,
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
      return whyChanging(event.tool, rules, null) === null ? PASS : { is: 'denied', reason: text }
    case 'planned':
      return { is: 'sentBack', message: text }
    default:
      return PASS
  }
}

const CHOOSE_CASE =
  'Choose one with casefile agent use <case> or casefile agent adopt, or go on without one: casefile agent use --none'

/** What a call of `casefile agent test` is answered: the same as one of a case without a plan. */
export async function answerToTest(event: HookEvent, root: string): Promise<HookAnswer> {
  const isHere = (await workingCopyOf(event.cwd, root)) !== null
  if (event.kind !== 'calling' || !isHere) return PASS
  const objection = objectionBeforeApproval(event.tool, {
    // the hooks are tried, not what the operator allows
    rules: { readingCommands: [], readingTools: [] },
    state: null,
    caseId: null,
    busyWith: null,
    caseTitle: 'casefile agent test',
    noPlan: 'This call is a test,',
    howToPlan: 'and nothing of it is recorded.',
  })
  return objection === null ? PASS : { is: 'denied', reason: objection.text }
}

/**
 * What a call may change, as the rest of a sentence, and perhaps one more; null if it only reads, or proposes an intent
 * for this case.
 */
export function whyChanging(
  tool: HookTool,
  rules: ReadingRules,
  caseId: string | null,
): string | null {
  const { kind, name, command } = tool
  if (kind === 'write') {
    return isReadingTool(tool, rules) ? null : 'nothing may be changed yet.'
  }
  if (kind !== 'execute') return null
  // PowerShell quotes in another way, so its commands cannot be judged
  const isPowerShell = name.toLowerCase() === 'powershell'
  if (!isPowerShell && caseId && command && isProposal(command, caseId)) return null
  const reason = isPowerShell
    ? 'PowerShell cannot be judged'
    : whyNotReading(command ?? '', rules.readingCommands)
  if (reason === null) return null
  return `only commands that read may run yet: ${reason}. The operator can list more commands in casefile.md (reading_commands).`
}

/** Whether the operator named it as a tool that only reads. */
function isReadingTool({ name }: HookTool, { readingTools }: ReadingRules): boolean {
  return readingTools.some((entry) =>
    entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry,
  )
}

/**
 * Whether an approved plan covers a call that its scope does not forbid, so that the agent need not ask its person again:
 * an edit of files in the working folder that are neither hidden nor records, or a command that the scope names.
 */
export async function isCoveredCall(
  scope: PlanScope,
  tool: HookTool,
  { editors, cwd, folder, records }: Covering,
): Promise<boolean> {
  const { kind, name, paths, command } = tool
  // PowerShell quotes in another way, so its commands cannot be judged
  if (kind === 'execute') {
    if (scope.commands === null || name === 'powershell' || command === null) return false
    const place = commandPlace(tool, { cwd, folder })
    return (await outsideScope(scope, { command, ...place })) === null
  }
  if (!editors.includes(name) || paths.length === 0) return false
  for (const path of paths) {
    const real = await resolveNamedPath(path, cwd)
    if (real === null || isWithin(records, real)) return false
    const words = relative(folder, real).split(sep)
    if (words.some((word) => word.startsWith('.'))) return false
  }
  return true
}

interface Covering extends Pick<Scene, 'cwd' | 'folder'> {
  /** The tools that change only the files that they name. */
  editors: readonly string[]
  /** The folder of the records. */
  records: string
}

/** Where a command runs, as `outsideScope` takes it. */
function commandPlace(tool: HookTool, { cwd, folder }: Pick<Scene, 'cwd' | 'folder'>) {
  const at = relative(folder, resolve(cwd, tool.folder ?? '.')) || '.'
  return { workdir: folder, folder: at }
}

/** Why the approved plan's scope does not allow a call, as a clause; null if it does. */
async function scopeObjection(
  scope: PlanScope,
  tool: HookTool,
  { rules, cwd, folder }: Scene,
): Promise<string | null> {
  if (isUnlimited(scope)) return null
  if (tool.kind === 'execute') {
    if (tool.command === null) return 'it does not say its command, and the plan has a scope'
    const allowed = [...rules.readingCommands, ...(scope.commands ?? [])]
    return outsideScope(scope, {
      command: tool.command,
      ...commandPlace(tool, { cwd, folder }),
      reads: (each) => isReading(each, allowed),
    })
  }
  if (tool.kind !== 'write' || scope.paths === null || isReadingTool(tool, rules)) return null
  if (tool.paths.length === 0) {
    return `${tool.name} does not say which file it changes, and the plan limits these to ${scope.paths.join(', ')}`
  }
  for (const path of tool.paths) {
    const real = await resolveNamedPath(path, cwd)
    if (real === null) return `${quotePath(path)} cannot be resolved`
    const objection = await outsideScope(scope, { path: relative(folder, real) || '.' })
    if (objection !== null) return objection
  }
  return null
}

/** The command or the files of a call, relative to the folder where they lie in it. */
export function titleOf({ command, paths }: HookTool, folder: string): { title?: string } {
  const shown = (path: string) => (isWithin(folder, path) ? relative(folder, path) : fromHome(path))
  const title = command ?? paths.map(shown).join(', ')
  return title === '' ? {} : { title }
}
