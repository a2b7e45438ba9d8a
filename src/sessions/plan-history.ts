import { sha256 } from '../markdown/session-file.ts'
import { AppError } from '../model/app-error.ts'
import type { SentNote } from '../model/decide-comments.ts'
import { failedTestPlace } from '../model/failed-test.ts'
import { type PlanRevision, planRevisions } from '../model/plan-revisions.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import { failedStep, failureText } from '../model/session-failure.ts'
import type { PlanTexts } from '../state/plans.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import { cutText } from './prompt.ts'

export interface KeptRevision extends PlanRevision {
  /** Whether this is the plan that the session's file has now. */
  current: boolean
}

/** The plan that the session's file has now, and when it was saved. */
interface PresentPlan {
  plan: string
  savedAt: string
}

/** The limit for all texts together; the oldest ones beyond it are left out. */
const MAX_CHARACTERS = 1024 * 1024

/** The revisions of a session's plan, with their texts if this machine still has them. */
export async function planHistory(
  texts: Pick<PlanTexts, 'read'>,
  session: Session,
  present: PresentPlan,
): Promise<KeptRevision[]> {
  const revisions: KeptRevision[] = []
  let room = MAX_CHARACTERS
  for (const revision of revisionsOf(session, present).reverse()) {
    const known = await revisionText(texts, revision)
    const text = known !== null && known.length <= room ? known : null
    room -= text?.length ?? 0
    revisions.unshift({ ...revision, text })
  }
  return revisions
}

/**
 * The revisions of a session's plan, oldest first. A text from the session's file still needs its hash checked. A
 * waiting plan that was edited by hand is included before the audit trail mentions it.
 */
export function revisionsOf({ trail, state }: Session, present: PresentPlan): KeptRevision[] {
  const { plan, savedAt } = present
  const revisions = planRevisions(trail)
  const hash = plan === '' ? null : sha256(plan)
  if (state === 'plan_ready' && hash !== null && revisions.at(-1)?.plan_sha256 !== hash) {
    revisions.push({ plan_sha256: hash, at: savedAt, by: 'hand', note: null, text: plan })
  }
  const current = revisions.findLastIndex(({ plan_sha256 }) => plan_sha256 === hash)
  return revisions.map(({ plan_sha256, at, by, note, text }, index) => ({
    plan_sha256,
    at,
    by,
    current: index === current,
    note,
    text: plan_sha256 === hash ? plan : text,
  }))
}

/** The text of a revision, from the session's file or this machine's store; null if neither has it. */
export async function revisionText(
  texts: Pick<PlanTexts, 'read'>,
  { plan_sha256, text }: Pick<PlanRevision, 'plan_sha256' | 'text'>,
): Promise<string | null> {
  if (text !== null && sha256(text) === plan_sha256) return text
  return texts.read(plan_sha256)
}

/** When the present plan was saved. */
export function savedAt(
  { catalog }: { catalog: Pick<Catalog, 'entry'> },
  { case_id, number, updated_at }: { case_id: string; number: number; updated_at: string },
): string {
  const mtimeMs = catalog.entry(case_id)?.sessions.get(number)?.mtimeMs
  return mtimeMs === undefined ? updated_at : new Date(mtimeMs).toISOString()
}

const MAX_TAIL_BYTES = 3000
const MAX_TAIL_LINES = 40
/** The length limit of a line about a failed test, in characters. */
const MAX_TEST = 400

/** Throws `wrong_state` unless the session failed, or is complete and has comments to send. */
export function mustBePlannableAgain({ number, state }: Session, { lines }: SentNote): void {
  if (state === 'failed' || (state === 'complete' && lines.length > 0)) return
  const why = state === 'complete' ? 'complete and has no open comments' : state
  throw new AppError(
    'wrong_state',
    `Session ${number} is ${why}: only a session that failed, or that is complete and has comments, can be planned again. Start a new session.`,
  )
}

/** The note for planning again after a failure: the operator's own note, then the failure. */
export function planAgainNote(
  failed: Session,
  { output }: Pick<SessionTexts, 'output'>,
  own = '',
): string {
  const step = failedStep(failed.trail)
  const tail = lastLines(step?.tail || output)
  const where = step?.tail ? `The last lines of step ${step.id}` : 'The last lines of its output'
  return [
    own.trim(),
    `Session ${failed.number} failed: ${failureText(failed)}. Make a new plan that avoids this failure.`,
    failedTests(failed),
    tail === '' ? '' : `${where}:\n\n${tail}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function failedTests({ failed_tests }: Session): string {
  if (failed_tests.length === 0) return ''
  const lines = failed_tests.map((test) => {
    const place = failedTestPlace(test)
    const message = test.message === null ? '' : `: ${test.message.replace(/\s+/g, ' ')}`
    const line = `- ${test.name}${place === null ? '' : ` (${place})`}${message}`
    return line.length > MAX_TEST ? `${line.slice(0, MAX_TEST - 1).toWellFormed()}…` : line
  })
  return `Failed tests:\n\n${lines.join('\n')}`
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-MAX_TAIL_LINES)
  while (lines.length > 1 && Buffer.byteLength(lines.join('\n')) > MAX_TAIL_BYTES) lines.shift()
  return cutText(lines.join('\n'), MAX_TAIL_BYTES).text
}
