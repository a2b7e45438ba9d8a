import type { CommentJson } from '../../http/schemas/comment.ts'
import type { SessionJson } from '../../http/schemas/session.ts'
import { type PlanReading, readPlan } from '../../markdown/plan-steps.ts'
import { placedBelow } from '../../model/comment.ts'
import { linesOfStep } from '../../model/plan-step.ts'
import { scopeLines } from '../../model/scope.ts'
import { visibleText } from '../../model/visible-text.ts'
import { inOrder } from '../../rendering/direction.ts'
import { type ExecutionSummary, executionSummary } from '../../sessions/start-checks.ts'
import type { TrustedSettings } from '../../settings/trusted-settings.ts'
import { workspaceFoldersIn } from '../../settings/workspace-folders.ts'
import type { ReadContext } from '../context.ts'
import { commentBlock } from './comment-text.ts'
import { shownLine } from './shown-line.ts'
import type { Terminal } from './terminal.ts'
import { rowsOf, wrapped } from './wrapped.ts'

/** The plan of a session as text. */
export async function viewPlan(
  { terminal, workspace }: Pick<ReadContext, 'terminal' | 'workspace'>,
  session: SessionJson,
  options: PlanViewOptions,
): Promise<string> {
  return planView(
    session,
    await workspaceFoldersIn(workspace, terminal.warn).settings(),
    terminal,
    options,
  )
}

interface PlanViewOptions {
  /** Why an approval would fail for lack of trust. */
  untrusted?: string | null
  comments?: readonly CommentJson[]
}

/**
 * The plan of a session as it would run: its lines, with marks on those that Casefile runs, and what an approval
 * starts. The reader decides by this, so characters that a terminal would hide appear as escapes.
 */
export async function planView(
  session: Pick<SessionJson, 'plan' | 'provider' | 'origin' | 'state'> & {
    isolation?: string | null
  },
  settings: TrustedSettings,
  terminal: Terminal,
  { untrusted = null, comments = [] }: PlanViewOptions = {},
): Promise<string> {
  const { plan, state } = session
  const { color, width } = terminal
  const reading = await readPlan(plan)
  const executed = executionSummary(session, reading, settings)
  const carried = { ...executed, objection: executed.objection ?? untrusted }
  const running = new Set(reading.steps.filter(carried.willRun).flatMap(linesOfStep))
  const onPlan = comments.filter(({ on }) => on === 'plan')
  const block = (comment: CommentJson) =>
    commentBlock(comment, terminal, { isBelowLine: comment.present_line !== null })
  const lines = plan
    .replace(/\r?\n$/, '')
    .split(/\r\n|\n|\r/)
    .flatMap((line, index) => {
      const shown = shownLine(line)
      const rows = running.has(index + 1)
        ? rowsOf(shown, width() - 2).map(
            (row) => `${color.yellow('▶')} ${color.bold(inOrder(row))}`,
          )
        : [wrapped(`  ${shown}`, width()).trimEnd()]
      const below = onPlan.filter((comment) => placedBelow(comment) === index + 1)
      return [...rows, ...below.flatMap(block)]
    })
  const whole = onPlan.filter(({ line }) => line === null).flatMap(block)
  if (whole.length > 0) lines.push('', ...whole)
  const left = onPlan.filter((comment) => comment.line !== null && placedBelow(comment) === null)
  if (left.length > 0)
    lines.unshift('Not placed, because their lines are gone:', ...left.flatMap(block), '')
  const limits = scopeLines(reading.scope).map((line) => `Scope, ${line}`)
  const end = [...limits, ...summary(reading, carried, state === 'plan_ready')]
  const objections = end.map((line) => wrapped(visibleText(line), width(), '  '))
  return `${[...lines, ...(objections.length > 0 ? ['', ...objections] : [])].join('\n')}\n`
}

/** The reason against an approval matters only while the plan waits for one. */
function summary(
  { steps, errors }: PlanReading,
  { text, willRun, objection }: ExecutionSummary,
  isWaiting: boolean,
): string[] {
  if (errors.length > 0) {
    const lines = errors.map(({ line, message }) => `  line ${line}: ${message}`)
    return ['This plan cannot run:', ...lines]
  }
  if (objection !== null) return isWaiting ? [`It cannot be approved yet. ${objection}`] : []
  const running = steps.filter(willRun)
  const names = running.map(({ id, language }) => `${id} (${language})`).join(', ')
  return running.length === 0 ? [text] : [text, `Run by Casefile: ${names}`]
}
