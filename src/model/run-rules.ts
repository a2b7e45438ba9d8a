import { baselineId, type PlanStep } from './plan-step.ts'
import type { Session } from './session.ts'
import { evidenceHashIn, type LineWith, lastOf, type TrailLine } from './trail.ts'

/** What the trail of a run must fit: the fields of its session, and the steps of the plan. */
export interface RecordedRun extends Pick<Session, 'tests' | 'diff'> {
  steps: readonly PlanStep[]
  /** Of the plan in the file. */
  planSha256: string
}

/** What every run that completed leaves, in this order; `null` stands for its steps. */
const ORDER = [
  'session_started',
  'base_recorded',
  'guarded',
  null,
  'diff_taken',
  'tests_read',
  'evidence_recorded',
  'agent_completed',
  'session_completed',
  'proof_attached',
  'session_sealed',
] as const

type Ordered = NonNullable<(typeof ORDER)[number]>

/** The service leaves these out: in old files, without a test report, and until there is proof. */
const OPTIONAL: readonly Ordered[] = [
  'base_recorded',
  'tests_read',
  'evidence_recorded',
  'proof_attached',
  'session_sealed',
]

/** What in the trail of a completed session cannot come from a run of its plan, as phrases. */
export function faultsInRun(lines: readonly TrailLine[], recorded: RecordedRun): string[] {
  const from = lines.findLastIndex(
    ({ event, fields }) => event === 'session_state_changed' && fields.new_state === 'executing',
  )
  if (from < 0) return []
  const run = lines.slice(from + 1)
  return [
    ...missingLines(run),
    ...orderFaults(run),
    ...fieldFaults(run, recorded),
    ...stepFaults(run),
    ...planFaults(run, recorded.steps),
    ...baselineFaults(run, recorded.steps),
  ]
}

function missingLines(run: readonly TrailLine[]): string[] {
  const has = (name: Ordered) => run.some(({ event }) => event === name)
  const isSealed = has('session_sealed')
  const missing = ORDER.filter((name) => name !== null).filter(
    (name) => !OPTIONAL.includes(name) && !has(name),
  ) as Ordered[]
  // older files have the hash in session_completed
  if (typeof evidenceHashIn(run) !== 'string') missing.push('evidence_recorded')
  if (isSealed && !has('proof_attached')) missing.push('proof_attached')
  return missing.map((name) => `it has no ${name}`)
}

function orderFaults(run: readonly TrailLine[]): string[] {
  const faults: string[] = []
  let last = -1
  for (const { event, number } of run) {
    const isStep = event === 'step_started' || event === 'step_finished'
    const place = (ORDER as readonly (string | null)[]).indexOf(isStep ? null : event)
    if (place < 0) continue
    const mayRepeat = isStep || event === 'proof_attached'
    if (place < last || (place === last && !mayRepeat))
      faults.push(`line ${number} (${event}) is out of place`)
    else last = place
  }
  return faults
}

/** The counts stand in the frontmatter too, where the hash of the evidence covers them. */
function fieldFaults(run: readonly TrailLine[], { tests, diff }: RecordedRun): string[] {
  const read = lastOf(run, 'tests_read')
  const taken = lastOf(run, 'diff_taken')
  const isSameTests =
    read?.fields.run === tests?.run &&
    read?.fields.passed === tests?.passed &&
    read?.fields.failed === tests?.failed &&
    read?.fields.flaky === tests?.flaky
  const isSameDiff =
    diff === null ||
    (taken?.fields.additions === diff.additions && taken.fields.deletions === diff.deletions)
  const says = 'does not say what the fields of the session say'
  return [
    ...(isSameTests ? [] : [`${read ? `line ${read.number} (tests_read)` : 'tests_read'} ${says}`]),
    ...(isSameDiff || !taken ? [] : [`line ${taken.number} (diff_taken) ${says}`]),
  ]
}

/** Steps run one after the other. */
function stepFaults(run: readonly TrailLine[]): string[] {
  const faults: string[] = []
  let open: string | null = null
  for (const line of run) {
    if (line.event !== 'step_started' && line.event !== 'step_finished') continue
    const step = String(line.fields.step)
    if (line.event === 'step_started') {
      if (open !== null) faults.push(`line ${line.number} starts step ${step} while ${open} runs`)
      open = step
      continue
    }
    if (open !== step) faults.push(`line ${line.number} ends step ${step}, which did not run`)
    open = null
  }
  return open === null ? faults : [...faults, `step ${open} never ended`]
}

/** What the plan wants to run before the work ran once, before all else, and its tests were recorded. */
function baselineFaults(run: readonly TrailLine[], steps: readonly PlanStep[]): string[] {
  const wanted = steps.filter(({ baseline }) => baseline)
  const started = run.filter((line) => line.event === 'step_started')
  const before = started.filter(({ fields }) => fields.baseline === true)
  const first = started.findIndex(({ fields }) => fields.baseline !== true)
  const faults = wanted
    .filter(
      ({ id }) => !run.some((line) => line.event === 'tests_before' && line.fields.step === id),
    )
    .map(({ id }) => `the tests of step ${id} before the work are not recorded`)
  for (const { number, fields } of before) {
    if (!wanted.some((step) => baselineId(step) === fields.step))
      faults.push(
        `line ${number} runs ${String(fields.step)} before the work, which is not in the plan`,
      )
  }
  if (first >= 0 && started.slice(first).some(({ fields }) => fields.baseline === true))
    faults.push(`line ${started[first]!.number} starts a step before the tests before the work`)
  if (before.length > wanted.length) faults.push('tests before the work ran more than once')
  return faults
}

/**
 * Each step of the plan ran, and its last run ended as expected. An agent carries out the other steps itself, and in a
 * terminal the proof steps run until they pass.
 */
function planFaults(run: readonly TrailLine[], steps: readonly PlanStep[]): string[] {
  const started = lastOf(run, 'session_started')?.fields
  const isEach = started?.provider === 'runbook' || started?.runs === 'steps'
  return steps
    .filter(({ proof }) => isEach || proof !== null)
    .flatMap((step) => {
      const end = run.findLast(
        (line): line is LineWith<'step_finished'> =>
          line.event === 'step_finished' && line.fields.step === step.id,
      )
      if (!end) return [`step ${step.id} of the plan has no end`]
      const why = step.continue ? null : complaintAbout(step, end)
      return why === null
        ? []
        : [`line ${end.number} says that step ${step.id} failed (${why}), but the run went on`]
    })
}

function complaintAbout({ expect }: PlanStep, { fields }: LineWith<'step_finished'>) {
  const { exit, signal, timed_out, start_error } = fields
  if (start_error !== undefined) return 'not started'
  if (timed_out) return 'timed out'
  if (typeof exit !== 'number') return `ended by ${String(signal)}`
  return expect.includes(exit) ? null : `exit ${exit}`
}
