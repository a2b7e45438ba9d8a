/** What a proof is, whatever type it names: the one rule for requests, pages, commands and hints. */

import type { Proof } from './proof.ts'
import { reportFacts } from './report-formats.ts'
import type { Session } from './session.ts'
import { stepsOf, type TrailStep } from './trail-steps.ts'

/** The types that a content shows by itself. Texts may have any other type, such as `operator-note`. */
export type ShownType = 'diff' | 'screenshot' | 'test-log' | 'log'

type Content = Pick<Proof, 'image' | 'is_diff' | 'tests' | 'unread' | 'sha256' | 'session_id'>

/** The type that a content has if nobody names one. */
export function shownType(content: Content, sessions: readonly Session[]): ShownType {
  if (content.image !== null) return 'screenshot'
  if (content.is_diff) return 'diff'
  const isReport = content.tests !== null || content.unread !== null
  return isReport || testStepOf(content, sessions) !== null ? 'test-log' : 'log'
}

/** The type of a file that a session left, by its name and its step. `note` is that of the candidate. */
export function artifactType(
  session: Pick<Session, 'number' | 'trail'>,
  { artifact, note = '' }: { artifact: string; note?: string },
): ShownType {
  const byName = typeByName(artifact)
  if (byName !== 'log' || /^(?:\d+ of \d+ tests? (?:passed|failed)|no tests ran)/.test(note)) {
    return byName === 'log' ? 'test-log' : byName
  }
  const step = stepOfArtifact(session, artifact)
  return leavesReport(step) || isOfTests(step) ? 'test-log' : 'log'
}

/** The likely type of a file, by its name alone. */
export function typeByName(filename: string): ShownType {
  if (/\.(tap|xml|jsonl)$/i.test(filename)) return 'test-log'
  if (/\.(patch|diff)$/i.test(filename)) return 'diff'
  if (/\.(png|jpe?g|webp|gif)$/i.test(filename)) return 'screenshot'
  return 'log'
}

/** The step that left an artifact. */
export function stepOfArtifact(
  { number, trail }: Pick<Session, 'number' | 'trail'>,
  artifact: string,
): TrailStep | undefined {
  return stepsOf(number, trail).findLast(
    ({ artifacts }) => artifacts.report === artifact || artifacts.log === artifact,
  )
}

/**
 * The step whose log has exactly this content, if the plan marks it as the log of tests (`proof=test`). The audit
 * trail has the hash of each log, so the answer is the same on a machine that has only the record.
 */
export function testStepOf(
  { sha256, session_id }: Pick<Proof, 'sha256' | 'session_id'>,
  sessions: readonly Session[],
): TrailStep | null {
  const asked = sessions.filter(({ id }) => session_id === null || id === session_id)
  for (const { number, trail } of [...asked].reverse()) {
    const isOf = (step: TrailStep) => step.finished?.fields.log_sha256 === sha256
    if (
      !trail.some(({ event, fields }) => event === 'step_finished' && fields.log_sha256 === sha256)
    )
      continue
    const step = stepsOf(number, trail).findLast((each) => isOf(each) && isOfTests(each))
    if (step) return step
  }
  return null
}

function isOfTests(step: TrailStep | undefined): boolean {
  return step !== undefined && !step.isBaseline && step.proof === 'test'
}

/** Whether a step is to leave a report: if it did not, no test ran. */
export function leavesReport(step: TrailStep | undefined): boolean {
  return reportFacts(step?.proof ?? null) !== null
}

/** Says that a proof is not what its type says; null if it is. */
export function otherTypeText(proof: Proof, sessions: readonly Session[]): string | null {
  const { type } = proof
  const shown = shownType(proof, sessions)
  if (type === shown) return null
  switch (shown) {
    case 'diff':
      return `it is a diff, which is no ${type}`
    case 'screenshot':
      return `it is a picture, which is no ${type}`
    case 'test-log':
    case 'log':
      if (type === 'test-log')
        return 'it is neither a test report that was counted nor the log of a test step'
      if (type === 'diff') return 'it is no diff'
      return type === 'screenshot' ? 'it is no picture' : null
    default:
      return shown satisfies never
  }
}

const BEGIN = /^\s*(?:diff |--- |Index: |commit [0-9a-f]{7}|From [0-9a-f]{7})/
const FILE = /^(?:diff --git |--- [^\r\n\u2028\u2029]*\r?\n\+\+\+ [^\r\n\u2028\u2029]*\r?\n@@ )/m

/** Whether a text is a diff, as git and other programs write it. A log that merely contains one is not. */
export function isDiff(text: string): boolean {
  return BEGIN.test(text) && FILE.test(text)
}
