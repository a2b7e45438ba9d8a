import type { SessionJson } from '../../http/schemas/session.ts'
import { counted } from '../../model/amounts.ts'
import { baseText, comparedParts, testsBeforeText } from '../../model/before-run-text.ts'
import { refusedText } from '../../model/refused-actions.ts'
import { describeTrigger } from '../../model/runs-later.ts'
import { callResult } from '../../model/scope.ts'
import { durationsText } from '../../model/session-durations.ts'
import { runName } from '../../model/session-usage.ts'
import { usageText, usageTotal } from '../../model/usage.ts'
import { visibleText } from '../../model/visible-text.ts'
import { applyObjection, standingText } from '../../worktrees/worktree-texts.ts'
import type { ReadContext } from '../context.ts'
import { printOutput } from '../follow/step-output.ts'
import { commentCountsText } from './comment-text.ts'
import { printFailedTests } from './failed-tests.ts'
import { printPlanned } from './planned.ts'
import { printRefused } from './refused-actions.ts'
import { table } from './table.ts'
import { ago } from './times.ts'
import { wrapped } from './wrapped.ts'

/** Prints a session: its plan, output and result. */
export async function printSession(
  console: Pick<ReadContext, 'client' | 'terminal' | 'workspace'>,
  session: SessionJson,
): Promise<void> {
  const { terminal } = console
  const { color, print } = terminal
  const { state, output, tests, diff, candidates } = session
  print(`${state}, ${when(session, terminal.isTerminal)}\n`)
  await printPlanned(console, session)
  printOutOfScope(terminal, session)
  printBase(terminal, session)
  printRunsLater(terminal, session)
  if (output.trim() !== '') {
    print(`\n${color.bold('Output')}\n`)
    printOutput(terminal, output.trim())
  }
  printRefused(terminal, session.findings.refused)
  if (tests) {
    const { run, passed, failed } = tests
    const result = failed > 0 ? `${failed} of ${run} tests failed` : `${passed} of ${run} passed`
    print(`\n${color.bold('Tests')}  ${result}\n`)
    if (!namesFailedTests(session)) printFailedTests(terminal, session)
  }
  printTestsBefore(terminal, session)
  if (diff) {
    print(`\n${color.bold('Changed')}  +${diff.additions} -${diff.deletions}\n`)
    const outside = new Set(session.findings.out_of_scope)
    const files = [...(diff.files ?? [diff])].sort(
      (a, b) => Number(outside.has(b.file)) - Number(outside.has(a.file)) || size(b) - size(a),
    )
    const rows = files.map(({ file, additions, deletions }) => [
      { text: `  ${visibleText(file)}` },
      { text: `+${additions}`, paint: color.green },
      { text: `-${deletions}`, paint: color.red },
    ])
    print(table(rows, { width: terminal.width() }))
  }
  printWorktree(terminal, session)
  printComments(terminal, session)
  printUsage(terminal, session)
  if (candidates.length > 0) {
    print(`\n${color.bold('Candidates for proof')}\n`)
    const rows = candidates.map(({ artifact, note }) => [
      { text: `  ${visibleText(artifact)}` },
      { text: visibleText(note) },
    ])
    print(table(rows, { width: terminal.width(), cuts: [[1, 12]] }))
  }
}

/** Whether the output lists the failed tests, as it does since they are in its section. */
function namesFailedTests({ output, failed_tests }: SessionJson): boolean {
  const [, listed] = output.split(/^Failed tests:$/m)
  return listed !== undefined && failed_tests.every(({ name }) => listed.includes(name))
}

/** What was in the working folder before the first step. */
function printBase({ color, print, width }: ReadContext['terminal'], { base }: SessionJson): void {
  if (base === null || (base.uncommitted ?? 0) === 0) return
  print(`\n${color.bold('Before the first step')}\n${wrapped(`  ${baseText(base)}`, width())}\n`)
}

/** The tests before the work, and what changed. */
function printTestsBefore(
  { color, print, width }: ReadContext['terminal'],
  { tests_before: before }: SessionJson,
): void {
  if (before === null) return
  print(`\n${color.bold('Tests before and after')}  ${testsBeforeText(before)}\n`)
  if (before.compared === null) return
  for (const { kind, words, count, names } of comparedParts(before.compared)) {
    const sign = kind === 'fixed' ? color.green('✓') : color.red(kind === 'still' ? '•' : '✗')
    const shown = names.map((name) => visibleText(name))
    const more = count - shown.length
    print(`  ${sign} ${count} ${words}\n`)
    for (const name of shown) print(`${wrapped(`      ${name}`, width())}\n`)
    if (more > 0) print(`      and ${more} more\n`)
  }
  if (before.compared.is_cut) print('  Not all tests could be compared by name.\n')
}

/** Where the work of an isolated session is. */
function printWorktree({ color, print }: ReadContext['terminal'], session: SessionJson): void {
  const { worktree, case_id, number } = session
  if (worktree === null) return
  print(`\n${color.bold('Worktree')}  ${visibleText(worktree.branch)}\n`)
  print(`  ${visibleText(standingText(worktree))}\n`)
  if (worktree.is_running || worktree.state !== 'kept') return
  const objection = applyObjection(worktree)
  if (objection !== null) print(`  ${visibleText(objection)}\n`)
  else print(`  ${color.dim(`casefile session apply ${case_id.slice(0, 8)} ${number}`)}\n`)
}

/** Files that other programs may run later, outside the sandbox. */
function printRunsLater(
  { color, print, width }: ReadContext['terminal'],
  {
    findings: { runs_later: places, runs_later_more: more, runs_later_artifact: all },
  }: SessionJson,
): void {
  if (places.length === 0) return
  print(
    `\n${color.bold('Runs later')}  added, changed or removed, and run by others outside the sandbox\n`,
  )
  const rows = places.map((place) => [
    { text: `  ${visibleText(place.file)}` },
    { text: describeTrigger(place), paint: color.yellow },
  ])
  print(table(rows, { width: width(), cuts: [[1, 12]] }))
  if (more > 0) print(`  and ${more} more: artifacts/${visibleText(all ?? '')}\n`)
}

/** The changes and calls that the plan did not allow. */
function printOutOfScope(
  { color, print }: ReadContext['terminal'],
  { findings: { out_of_scope: files, out_of_scope_calls: calls } }: SessionJson,
): void {
  if (files.length + calls.length === 0) return
  const changed = files.length === 0 ? '' : `  ${counted(files.length, 'file')} changed`
  print(`\n${color.bold('Outside the scope of the plan')}${changed}\n`)
  for (const file of files) print(`  ${color.red('!')} ${visibleText(file)}\n`)
  for (const call of calls) {
    const text = `${visibleText(refusedText(call))}: ${callResult(call)}`
    print(`  ${call.ran ? color.red('!') : '·'} ${text}\n`)
  }
}

function printComments({ color, print }: ReadContext['terminal'], session: SessionJson): void {
  const { case_id, number, comments } = session
  if (comments.total === 0) return
  const list = `casefile session comment ${case_id.slice(0, 8)} ${number} --list`
  print(`\n${color.bold('Comments')}  ${commentCountsText(comments)}  ${color.dim(list)}\n`)
}

/** The models that the agent used, and how much, for each run. */
function printUsage({ color, print }: ReadContext['terminal'], { usage }: SessionJson): void {
  if (usage.every((run) => usageText(run) === '')) return
  const total = usageText(usageTotal(usage))
  print(`\n${color.bold('Usage')}\n`)
  const rows = usage.map((run, index) => [
    { text: `  ${runName(usage, index)}` },
    { text: visibleText(usageText(run)) || 'not reported' },
  ])
  if (usage.length > 1 && total !== '') rows.push([{ text: '  Total' }, { text: total }])
  print(table(rows))
}

function size({ additions, deletions }: { additions: number; deletions: number }): number {
  return additions + deletions
}

function when({ created_at, updated_at, durations }: SessionJson, isTerminal: boolean): string {
  const times = isTerminal
    ? `started ${ago(created_at)}, last change ${ago(updated_at)}`
    : `started ${created_at}, last change ${updated_at}`
  const took = durationsText(durations)
  return took === '' ? times : `${times}; ${took}`
}
