/** Records how a run ended, with its evidence. */

import { decodeUtf8 } from '../files/safe-read.ts'
import { evidenceHash, hasOtherTexts } from '../markdown/session-texts.ts'
import { AppError } from '../model/app-error.ts'
import { type CaseContents, type Edit, sessionOf } from '../model/case-contents.ts'
import type { SessionType } from '../model/case-state.ts'
import { caseMove, endRun, type RunEnd } from '../model/decide-session.ts'
import type { Actor } from '../model/history.ts'
import type { Session } from '../model/session.ts'
import { RUN_STOPPED, STOPPED_AT_WORK } from '../model/session-failure.ts'
import type { NewTrailLine } from '../model/trail.ts'
import type { WorkResult } from '../runners/contract.ts'
import { keepConflictCopy } from '../workspace/late-saves/conflict-copy.ts'
import { readMemory } from '../workspace/memory-files.ts'
import type { SessionDeps } from './deps.ts'
import { type MissingEnvironment, missingEnvironmentNote } from './environment.ts'
import { diffFields, scopeLines, stepEvidence, testsFields } from './evidence.ts'
import type { FolderDiff } from './folder-diff.ts'
import { endingActor, type Job, updateWithRetry } from './jobs.ts'
import { outputText } from './output-text.ts'
import { comparedTests, type TestsByStep } from './tests-before.ts'
import type { Walls } from './walls.ts'
import { wallsNote } from './walls-note.ts'

/** What its programs did not get: variables, and places of the machine; and the tests before its work. */
export interface RunSurroundings {
  missing: MissingEnvironment
  places: Walls['places']
  /** The tests before the work. */
  before: TestsByStep
}

/** The outcome of a run. `plan` is the text that ran. */
type WorkOutcome = WorkResult &
  RunSurroundings & {
    plan: string
    folderDiff: FolderDiff
    workdir: string
    /** What other programs run later because of it. */
    left: readonly NewTrailLine[]
    /** A note about what it put into git below the memory root; empty without any. */
    committed: string
  }

/** Records the end of a run with its evidence. A complete session moves its case. */
export async function finishRun(
  deps: SessionDeps,
  job: Job,
  { type, provider }: Session,
  outcome: WorkOutcome,
): Promise<void> {
  const { store, layout, now } = deps
  const { case_id, session_id, number } = job
  const end = await endOf(deps, job, outcome)
  const before = await readMemory(layout, case_id, { kind: 'session', number })
  const moves = (contents: CaseContents) =>
    end.state === 'complete' ? caseMove(contents, 'completed', type) : []
  const by = endingActor(job, provider)
  const texts = { texts: session_id, by }
  try {
    await store.update(case_id, (contents) => [end.edit(contents), ...moves(contents)], texts)
  } catch (error) {
    if (!isOfCaseFile(error)) throw error
    const { state } = sessionOf(await store.read(case_id), session_id)
    if (state === 'executing') {
      await updateWithRetry(store, job, (contents) => [end.edit(contents)], texts)
    }
    if (end.state === 'complete') await moveCase(deps, case_id, type, by)
  }
  const text = before.ok ? decodeUtf8(before.bytes) : null
  if (!before.ok || !text?.ok || !(await hasOtherTexts(text.text, outcome.plan))) return
  // keep what a person wrote where the run's record belongs
  const place = { time: now(), within: layout.caseFolder(case_id) }
  const path = layout.sessionFile(case_id, number)
  await store.withFiles(case_id, () => keepConflictCopy(path, before.bytes, place))
}

/** If case.md is broken or just being saved, the session still ends. */
function isOfCaseFile(error: unknown): boolean {
  const codes: unknown[] = ['unreadable_file', 'changed_meanwhile', 'git_busy']
  return error instanceof AppError && codes.includes(error.code)
}

/** Also called at the next start, if the service died between the session's end and the case's move. */
export async function moveCase(
  { store }: Pick<SessionDeps, 'store'>,
  case_id: string,
  type: SessionType,
  by?: Actor,
): Promise<void> {
  const options = by ? { by } : {}
  await store.update(case_id, (contents) => caseMove(contents, 'completed', type), options)
}

async function endOf(
  { store, layout, redactor, now }: SessionDeps,
  job: Job,
  outcome: WorkOutcome,
) {
  const { case_id, session_id, number } = job
  const { plan, folderDiff, workdir, before, committed } = outcome
  const present = sessionOf(await store.read(case_id), session_id)
  const steps = await stepEvidence(layout, case_id, number, present.trail, workdir)
  const compared = redactor.value(
    await comparedTests(layout, case_id, present, { before, workdir }),
  )
  const why = failure(job, outcome)
  const isWeak = why !== null && job.ending === null
  const said = [...steps.results.map(({ printed }) => printed), why].join('\n')
  const hints = isWeak
    ? [wallsNote(said, outcome.places), missingEnvironmentNote(outcome.missing)]
    : []
  // redact before hashing: the evidence hash covers the text in the record
  const output = redactor.text(
    outputText({
      results: steps.results,
      failed_tests: steps.failed_tests,
      failed: steps.tests?.failed,
      notes: [why ?? '', ...hints, committed],
    }),
  )
  const candidates = [...steps.candidates, ...('diff' in folderDiff ? folderDiff.candidates : [])]
  const changes = 'diff' in folderDiff ? folderDiff.changes : ''
  const evidence = {
    diff: 'diff' in folderDiff ? folderDiff.diff : null,
    tests: steps.tests,
    failed_tests: redactor.value(steps.failed_tests),
  }
  const state = why === null ? 'complete' : job.ending === 'abandon' ? 'abandoned' : 'failed'
  const reason = state === 'abandoned' ? job.reason : (why ?? undefined)

  function edit(contents: CaseContents): Edit {
    const session = sessionOf(contents, session_id)
    if (session.state !== 'executing') throw overtaken(session)
    const texts = { output: output || 'The plan has no steps to run.', changes, candidates }
    const trail = [...session.trail, ...compared]
    const evidence_sha256 = evidenceHash({ ...evidence, trail }, { ...texts, plan })
    const end: RunEnd = {
      mode: 'work',
      state,
      reason,
      results: [...outcome.left, ...scopeLines(folderDiff), ...compared],
      made: {
        diff: diffFields(folderDiff),
        tests: testsFields(evidence),
        evidence_sha256: state === 'complete' ? evidence_sha256 : undefined,
      },
      evidence,
      // the record has the text that ran, even if somebody edited the file meanwhile
      texts: contents.texts!.plan === plan ? texts : { ...texts, plan },
    }
    return endRun(contents, session_id, end, now())
  }
  return { state, edit }
}

function overtaken(session: Session): AppError {
  return new AppError(
    'wrong_state',
    `Session ${session.number} is now ${session.state}, not executing.`,
  )
}

/** Why the run failed; null if it succeeded. */
function failure(job: Pick<Job, 'ending'>, outcome: WorkResult): string | null {
  if (job.ending === 'abandon') return 'The operator abandoned the session.'
  if (job.ending === 'stop') return STOPPED_AT_WORK
  if (job.ending === 'time_out')
    return 'The session reached the time limit for work (timeout.work in casefile.md).'
  return outcome.ok ? null : `${RUN_STOPPED}${outcome.reason}.`
}
