import { planViolation, planViolationText } from './plan-violation.ts'
import type { Proof } from './proof.ts'
import { otherTypeText, testStepOf } from './proof-type.ts'
import { failedCount, type Session } from './session.ts'
import { endOf } from './trail-steps.ts'

/** Reasons why a proof does not support its claim. */
export const OBJECTION_CODES = [
  'changed',
  'empty',
  'not_counted',
  'tests_failed',
  'nothing_ran',
  'incomplete',
  'unread_report',
  'session_failed',
  'plan_violation',
  'exit_code',
  'other_type',
] as const

export type ObjectionCode = (typeof OBJECTION_CODES)[number]

export interface Objection {
  code: ObjectionCode
  /** Text that follows "proof 1f769663:" in a message. */
  text: string
  /** What to do, in the imperative. */
  remedy: string
}

/** Reasons that accepting a proof does not override. */
const NOT_OVERRIDABLE: readonly ObjectionCode[] = ['changed', 'empty', 'not_counted']

/**
 * Returns why a proof does not support its claim, whether it is verified or not; null if it does. Accepting the proof
 * with a reason overrides most objections.
 */
export function objectionTo(proof: Proof, sessions: readonly Session[]): Objection | null {
  const found = objectionsTo(proof, sessions)
  const [first] =
    proof.accepted === null ? found : found.filter(({ code }) => NOT_OVERRIDABLE.includes(code))
  if (!first) return null
  const text = found.map((each) => each.text).join(', and ')
  return {
    code: first.code,
    text: NOT_OVERRIDABLE.includes(first.code) ? first.text : text,
    remedy: first.remedy,
  }
}

/** Describes what the operator overrode by accepting a proof; null if nothing. */
export function acceptedDespite(proof: Proof, sessions: readonly Session[]): string | null {
  if (proof.accepted === null) return null
  const found = objectionsTo(proof, sessions).filter(({ code }) => !NOT_OVERRIDABLE.includes(code))
  return found.length === 0 ? null : found.map(({ text }) => text).join(', and ')
}

const OR_ACCEPT = 'or accept this one with a reason'

function objectionsTo(proof: Proof, sessions: readonly Session[]): Objection[] {
  const { tests, exit_code } = proof
  const found: Objection[] = []
  const add = (code: ObjectionCode, text: string, remedy: string) =>
    found.push({ code, text, remedy })
  if (!proof.intact && proof.image !== null) {
    add('changed', 'its picture was changed or is missing', 'restore it, or verify it again')
  } else if (!proof.intact) {
    add('changed', 'its content was changed', 'read it and verify it again')
  }
  if (proof.empty) add('empty', 'it is empty', 'attach a proof with content')
  if (proof.uncounted) {
    const text = 'its test report is not counted yet'
    add(
      'not_counted',
      text,
      'let a service count it (casefile serve) and commit its file, or verify it again',
    )
  }
  if (tests && tests.failed > 0) {
    add('tests_failed', failedTestsText(proof), `attach a passing report, ${OR_ACCEPT}`)
  } else if (tests?.incomplete) {
    add('incomplete', 'its report is incomplete', `attach a complete report, ${OR_ACCEPT}`)
  } else if (proof.unread !== null) {
    const text = `its report is not read by Casefile (${proof.unread})`
    add('unread_report', text, `attach TAP, JUnit XML or go test -json, ${OR_ACCEPT}`)
  } else if (tests && tests.passed < 1) {
    add('nothing_ran', 'no test ran', `attach a report of tests that ran, ${OR_ACCEPT}`)
  }
  const session = sessions.find(({ id }) => id === proof.session_id)
  if (session?.state === 'failed') {
    const text = `it comes from session ${session.number}, which failed`
    add('session_failed', text, `attach proof of a session that completed, ${OR_ACCEPT}`)
  }
  const violation = session && session.state !== 'failed' && planViolation(session)
  if (violation) {
    const text = `it comes from session ${session.number}, where ${planViolationText(violation)}`
    add(
      'plan_violation',
      text,
      `attach proof of a session that changed nothing before, ${OR_ACCEPT}`,
    )
  }
  if (exit_code !== null && exit_code !== 0) {
    const text = `the step ended with exit code ${exit_code}`
    add('exit_code', text, `attach the output of a step that ended with 0, ${OR_ACCEPT}`)
  }
  found.push(...typeObjections(proof, sessions))
  return found
}

/** A proof has to be what its type says, and the log of tests is as good as the exit code of its step. */
function typeObjections(proof: Proof, sessions: readonly Session[]): Objection[] {
  const { type, tests, exit_code } = proof
  const text = otherTypeText(proof, sessions)
  if (text !== null) {
    const wanted =
      type === 'test-log'
        ? 'attach a test report, or the log of a step with proof=test,'
        : `attach one that is a ${type},`
    return [{ code: 'other_type', text, remedy: `${wanted} ${OR_ACCEPT}` }]
  }
  if (type !== 'test-log' || tests !== null || exit_code !== null) return []
  const step = testStepOf(proof, sessions)
  if (step === null || step.finished?.fields.exit === 0) return []
  const remedy = `attach the output of a step that ended with 0, ${OR_ACCEPT}`
  return [{ code: 'exit_code', text: `its step did not succeed: ${endOf(step)}`, remedy }]
}

const MAX_NAMES = 5
const MAX_NAME = 80

/** Formats failures as in `2 of 23 tests failed: signs in, signs out`. */
export function failedTestsText({
  tests,
  failed_tests,
}: Pick<Proof, 'tests' | 'failed_tests'>): string {
  const names = failed_tests.slice(0, MAX_NAMES).map(({ name }) => shortName(name))
  const more = tests!.failed - names.length
  const suffix = names.length > 0 && more > 0 ? ` and ${more} more` : ''
  const counts = failedCount(tests!)
  return names.length === 0 ? counts : `${counts}: ${names.join(', ')}${suffix}`
}

function shortName(name: string): string {
  const line = name.replace(/\s+/g, ' ').trim()
  return line.length > MAX_NAME ? `${line.slice(0, MAX_NAME - 1).toWellFormed()}…` : line
}
