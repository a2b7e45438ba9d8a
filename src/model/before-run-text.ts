/** What was there before the first step of a run, in words: uncommitted files, and tests that failed already. */

import { counted } from './amounts.ts'
import { visibleText } from './visible-text.ts'

/** The state of the working folder when a run began. */
export interface RunBase {
  /** Null without a commit. */
  commit: string | null
  /** The commit at the approval, if the session then waited in line; else null. */
  queued_commit: string | null
  /** Null for a detached HEAD. */
  branch: string | null
  /** The number of uncommitted files; null if it is not known. */
  uncommitted: number | null
  /** Whether there were more. */
  is_cut: boolean
  /** The names of the first. */
  files: readonly string[]
  left_by: readonly BaseAuthor[]
  /** Why the state is not known; null if it is. */
  reason: string | null
}

/** A session that left uncommitted files. */
export interface BaseAuthor {
  case_id: string
  number: number
  title: string
  state: string
  files: number
}

/** How many files, and how many sessions, a line of the audit trail names. */
export const MAX_BASE_FILES = 20
export const MAX_BASE_AUTHORS = 5

type Fields = Readonly<Record<string, unknown>>

/** Reads the fields of `base_recorded`. */
export function readBase(fields: Fields): RunBase {
  return {
    commit: textOf(fields.commit),
    queued_commit: textOf(fields.queued_commit),
    branch: textOf(fields.branch),
    uncommitted: numberOf(fields.uncommitted),
    is_cut: fields.is_cut === true,
    files: textsOf(fields.files),
    left_by: listOf(fields.left_by).flatMap((each) => readAuthor(each) ?? []),
    reason: textOf(fields.reason),
  }
}

function readAuthor(value: unknown): BaseAuthor | null {
  const { case_id, number, title, state, files } = (value ?? {}) as Fields
  if (typeof case_id !== 'string' || typeof number !== 'number') return null
  return {
    case_id,
    number,
    title: textOf(title) ?? case_id,
    state: textOf(state) ?? '',
    files: numberOf(files) ?? 0,
  }
}

/** The line of the audit trail for people. */
export function baseLine(fields: Fields): string {
  return baseText(readBase(fields))
}

/** Such as `branch main at 4f2c1d9e, 3 files were not committed: a.txt, b.txt, c.txt`. */
export function baseText(base: RunBase): string {
  const { uncommitted, is_cut, files, left_by, reason } = base
  if (uncommitted === null) {
    return `what was not committed is not known: ${visibleText(reason ?? 'no reason is recorded')}`
  }
  const place = placeText(base)
  if (uncommitted === 0) return `${place}, everything was committed`
  const many = is_cut ? `more than ${uncommitted}` : String(uncommitted)
  const names = namesText(files, uncommitted)
  const authors = left_by.map(({ number, title, files: left }) => {
    return `${left} from session ${number} of “${visibleText(title)}”`
  })
  const by = authors.length === 0 ? '' : `; ${authors.join(', ')}`
  const are = uncommitted === 1 && !is_cut ? 'file was' : 'files were'
  return `${place}, ${many} ${are} not committed: ${names}${by}`
}

/** Such as `branch main at 4f2c1d9e`, or `queued at 3f1c9a5d, now branch main at 4f2c1d9e`. */
export function placeText({
  branch,
  commit,
  queued_commit = null,
}: Pick<RunBase, 'branch' | 'commit'> & Partial<Pick<RunBase, 'queued_commit'>>): string {
  const queued = queued_commit === null ? '' : `queued at ${short(queued_commit)}, now `
  const at = commit === null ? 'without a commit' : `at ${short(commit)}`
  const place = branch === null ? 'no branch,' : `branch ${visibleText(branch)}`
  return `${queued}${place} ${at}`
}

function short(commit: string): string {
  return visibleText(commit.slice(0, 8))
}

/** The first three names, and how many more there are. */
export function namesText(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, 3).map((name) => visibleText(name))
  const rest = count - shown.length
  if (shown.length === 0) return ''
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

interface TestCounts {
  run: number
  passed: number
  failed: number
}

/** How tests differ from those before the run. Every number counts tests. */
export interface TestsCompared {
  /** After the run. */
  run: number
  failed: number
  /** Failed before, pass now. */
  fixed: number
  /** Failed before, and still do. */
  still: number
  /** Passed before, or were skipped, and fail now. */
  broken: number
  /** Were not there before, and fail. */
  added: number
  /** Failed before, and did not run now. */
  gone: number
  /** The first names of each kind. */
  names: Readonly<Record<ChangeOfTests, readonly string[]>>
  /** Not all tests could be compared by name. */
  is_cut: boolean
}

export const CHANGES_OF_TESTS = ['fixed', 'still', 'broken', 'added', 'gone'] as const
export type ChangeOfTests = (typeof CHANGES_OF_TESTS)[number]

/** How many names of each kind are recorded. */
export const MAX_COMPARED_NAMES = 20

/** What the tests said before the run. */
export interface TestsBefore extends TestCounts {
  /** The names of the first failed tests. */
  failing: readonly string[]
  /** By step. */
  steps: readonly StepTestsBefore[]
  /** Null until the same steps ran again. */
  compared: TestsCompared | null
}

export interface StepTestsBefore {
  step: string
  /** Null if no report could be read; `reason` says why. */
  tests: TestCounts | null
  reason: string | null
}

/** Null if the fields have no test counts. */
export function countsOf({ run, passed, failed }: Fields): TestCounts | null {
  if (typeof run !== 'number' || typeof passed !== 'number' || typeof failed !== 'number')
    return null
  return { run, passed, failed }
}

/** Reads the fields of `tests_compared`. */
export function readCompared(fields: Fields): TestsCompared {
  const names = (fields.names ?? {}) as Fields
  const count = (key: string) => numberOf(fields[key]) ?? 0
  return {
    run: count('run'),
    failed: count('failed'),
    fixed: count('fixed'),
    still: count('still'),
    broken: count('broken'),
    added: count('added'),
    gone: count('gone'),
    names: {
      fixed: textsOf(names.fixed),
      still: textsOf(names.still),
      broken: textsOf(names.broken),
      added: textsOf(names.added),
      gone: textsOf(names.gone),
    },
    is_cut: fields.is_cut === true,
  }
}

/** The sum over two steps. */
export function both(a: TestsCompared, b: TestsCompared): TestsCompared {
  const names = { ...a.names }
  for (const kind of CHANGES_OF_TESTS) names[kind] = [...a.names[kind], ...b.names[kind]]
  return {
    run: a.run + b.run,
    failed: a.failed + b.failed,
    fixed: a.fixed + b.fixed,
    still: a.still + b.still,
    broken: a.broken + b.broken,
    added: a.added + b.added,
    gone: a.gone + b.gone,
    names,
    is_cut: a.is_cut || b.is_cut,
  }
}

const CHANGE_WORDS: Record<ChangeOfTests, string> = {
  fixed: 'fixed',
  still: 'still failing',
  broken: 'newly failing',
  added: 'new and failing',
  gone: 'failed before and did not run now',
}

/** Every kind of change that occurs, in words. */
export function comparedParts(
  compared: TestsCompared,
): { kind: ChangeOfTests; words: string; count: number; names: readonly string[] }[] {
  return CHANGES_OF_TESTS.filter((kind) => compared[kind] > 0).map((kind) => ({
    kind,
    words: CHANGE_WORDS[kind],
    count: compared[kind],
    names: compared.names[kind],
  }))
}

/** Whether a test fails, or is not run, that was in order before. */
export function isWorse({ broken, added, gone }: TestsCompared): boolean {
  return broken + added + gone > 0
}

/** Such as `before: 2 of 47 failed (a, b); after: 0 of 47`. */
export function testsBeforeText(before: TestsBefore): string {
  const { run, failed, failing, compared, steps } = before
  const unread = steps.filter(({ tests }) => tests === null)
  const known = steps.length > unread.length ? [failedText({ run, failed }, failing)] : []
  const unknown = unread.map(({ step, reason }) => `${step}: ${visibleText(reason ?? 'not read')}`)
  const after = compared ? `; after: ${failedText(compared)}` : ''
  return `before: ${[...known, ...unknown].join(', ')}${after}`
}

/** Such as `2 fixed (a, b), 1 newly failing (c)`; empty if nothing failed before or after. */
export function comparedText(compared: TestsCompared): string {
  const parts = comparedParts(compared).map(({ words, count, names }) => {
    const shown = namesText(names, count)
    return `${count} ${words}${shown === '' ? '' : ` (${shown})`}`
  })
  if (compared.is_cut) parts.push('not all tests were compared by name')
  return parts.join(', ')
}

function failedText(
  { run, failed }: { run: number; failed: number },
  names: readonly string[] = [],
) {
  if (run === 0) return 'no tests ran'
  const shown = namesText(names, failed)
  return `${failed} of ${run} failed${shown === '' ? '' : ` (${shown})`}`
}

/** The line of the audit trail for people. */
export function testsBeforeLine(fields: Fields): string {
  const counts = countsOf(fields)
  const reason = textOf(fields.reason)
  const step = visibleText(String(fields.step))
  if (!counts)
    return `before the work, the tests of ${step} are not known: ${visibleText(reason ?? '')}`
  const more = reason === null ? '' : `; ${visibleText(reason)}`
  return `before the work, ${counts.failed} of ${counted(counts.run, 'test')} of ${step} failed${more}`
}

export function testsComparedLine(fields: Fields): string {
  const compared = readCompared(fields)
  const changes = comparedText(compared)
  return `compared with before: ${changes === '' ? 'no test failed before or fails now' : changes}`
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

export function textsOf(value: unknown): string[] {
  return listOf(value).filter((each) => typeof each === 'string')
}
