/** The phrases that both forms of a report share. */

import { counted, spanText } from '../model/amounts.ts'
import { recordedBase, testsBefore } from '../model/before-run.ts'
import { baseText, comparedText, testsBeforeText } from '../model/before-run-text.ts'
import { shownState } from '../model/case-contents.ts'
import { outcomeLabel } from '../model/outcomes.ts'
import { pictureText } from '../model/picture.ts'
import { describeRunsLater } from '../model/runs-later.ts'
import { type FileChange, providerText, type Session } from '../model/session.ts'
import { durationsText, sessionDurations, stepsTime } from '../model/session-durations.ts'
import { failureText } from '../model/session-failure.ts'
import { stateLabel } from '../model/state-groups.ts'
import { lastOf } from '../model/trail.ts'
import { visibleText } from '../rendering/hidden-characters.ts'
import type { CaseReport, ProofReport, SessionReport, StepReport } from './contents.ts'

export type Fact = [name: string, value: string]

export function caseFacts({ contents, madeAt }: CaseReport): Fact[] {
  const { case: found } = contents
  const { outcome, reason, type, tags, created_at, id } = found
  return [
    ['State', stateLabel(shownState(contents))],
    ...(outcome ? [['Outcome', outcomeLabel(outcome)] as Fact] : []),
    ...(reason ? [['Reason', reason] as Fact] : []),
    ['Type', type],
    ...(tags.length > 0 ? [['Tags', tags.join(', ')] as Fact] : []),
    ['Created', timeText(created_at)],
    ['Report of', timeText(madeAt)],
    ['Id', id],
  ]
}

export function sessionTitle({ session }: SessionReport): string {
  return `Session ${session.number}: ${session.type}, ${session.state.replace('_', ' ')}`
}

export function sessionFacts({ session, approved }: SessionReport): Fact[] {
  const { tests, trail, started_at } = session
  const [base, before] = [recordedBase(trail), testsBefore(trail)]
  const changes = before?.compared ? comparedText(before.compared) : ''
  const spent = durationsText({ ...sessionDurations(trail), steps_ms: stepsTime(session) })
  const later = describeRunsLater(lastOf(trail, 'runs_later')?.fields)
  const by = approved?.who ? ` by ${approved.who}` : ''
  return [
    ['Provider', providerText(session)],
    ['Started', timeText(started_at)],
    ...(spent === '' ? [] : [['Time', spent] as Fact]),
    [
      'Approved',
      approved
        ? `${timeText(approved.at)}${by}, plan ${approved.sha256 ?? 'without a hash'}`
        : 'no',
    ],
    ...(session.state === 'failed' ? [['Failed', failureText(session)] as Fact] : []),
    ...(later === '' ? [] : [['Runs later', later] as Fact]),
    ...(base ? [['Before the first step', baseText(base)] as Fact] : []),
    ...(tests ? [['Tests', testsText(tests)] as Fact] : []),
    ...(before ? [['Tests before and after', testsBeforeText(before)] as Fact] : []),
    ...(changes === '' ? [] : [['Changed tests', changes] as Fact]),
  ]
}

export function stepText({ id, end, durationMs }: StepReport): string {
  return `${id}: ${end}${durationMs === null ? '' : ` after ${spanText(durationMs)}`}`
}

export function testsText({
  run,
  passed,
  failed,
}: {
  run: number
  passed: number
  failed: number
}) {
  return `${passed} of ${counted(run, 'test')} passed${failed > 0 ? `, ${failed} failed` : ''}`
}

export function proofTitle({ proof, verified }: ProofReport): string {
  return `${proof.type}, ${verified ? 'verified' : 'not verified'}`
}

export function proofFacts({ proof, verified, objection, session, ...of }: ProofReport): Fact[] {
  const { tests, image, accepted, verified_at, verified_by } = proof
  const by = verified_by === null ? '' : ` by ${verified_by}`
  const despite = of.acceptedDespite ? ` (although ${of.acceptedDespite})` : ''
  return [
    ['Attached', timeText(proof.created_at)],
    ...(verified && verified_at ? [['Verified', timeText(verified_at) + by] as Fact] : []),
    ...(objection === null ? [] : [["Doesn't count", objection] as Fact]),
    ...(accepted === null ? [] : [['Accepted', `${accepted}${despite}`] as Fact]),
    ...(session === null ? [] : [['Session', String(session)] as Fact]),
    ...(tests ? [['Tests', testsText(tests)] as Fact] : []),
    ...(image ? [['Picture', pictureText(image)] as Fact] : []),
    ['SHA-256', proof.sha256],
    ['Id', proof.id],
  ]
}

/** What proves each item of the checklist. */
export function checklistText({
  description,
  type,
  required,
  satisfied_by,
}: {
  description: string
  type: string | null
  required: boolean
  satisfied_by: string | null
}): string {
  const wanted = [type, required ? 'required' : null].filter((each) => each !== null).join(', ')
  const by = satisfied_by === null ? 'not proved' : `proved by ${satisfied_by}`
  return `${description}${wanted === '' ? '' : ` (${wanted})`}: ${by}`
}

/** The changed files as the session names them: the patch itself may be on another machine. */
export function changedFiles({ diff }: Session): FileChange[] {
  if (!diff || diff.file === '') return []
  return diff.files ?? [diff]
}

export function changeText({ file, additions, deletions }: FileChange): string {
  return `${file} +${additions} −${deletions}`
}

export function timeText(time: string): string {
  return `${time.slice(0, 16).replace('T', ' ')} UTC`
}

export function leftOutText(count: number, what: string): string {
  return `${counted(count, `older ${what}`)} ${count === 1 ? 'is' : 'are'} left out.`
}

/** One line, with nothing invisible in it. */
export function plain(text: string): string {
  return visibleText(text.replace(/\s+/g, ' ').trim())
}
