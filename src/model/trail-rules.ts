import { faultsInRun, type RecordedRun } from './run-rules.ts'
import { isSessionState, isStateChange, type SessionState } from './session-state.ts'
import { type FileLine, stateInTrail, type TrailLine } from './trail.ts'
import { eventsOfLines } from './trail-lines.ts'

/**
 * Returns what in an audit trail cannot have been written by the service, as sentences: numbers that are missing or out
 * of order, a state that does not follow from the one before, an approval of another text, a run that was not like its
 * plan. Takes the lines as they stand in the file.
 */
export function faultsInTrail(
  lines: readonly FileLine[],
  session: RecordedRun & { id: string },
  now = new Date(),
): string[] {
  const events = eventsOfLines(lines)
  return [
    ...numberFaults(lines),
    ...timeFaults(lines, now),
    ...beginningFaults(lines, session.id),
    ...stateFaults(events),
    ...approvalFaults(events, session.planSha256),
    ...(stateInTrail(events) === 'complete' ? faultsInRun(events, session) : []),
  ]
}

function numberFaults(lines: readonly FileLine[]): string[] {
  return lines.flatMap((line, index) => {
    const { number } = line
    const expected = index === 0 ? 1 : lines[index - 1]!.number + 1
    // the seal that a session had before it got another number
    const isSealGone = line.event === 'renumbered' && line.fields.was_sealed !== undefined
    if (number === expected || (isSealGone && number === expected + 1)) return []
    if (number < expected) return [`line ${number} comes after line ${expected - 1}`]
    const last = number - 1
    return [
      last === expected ? `line ${last} is missing` : `lines ${expected} to ${last} are missing`,
    ]
  })
}

/** How far the clocks of two machines may differ that write one trail. */
const MAX_SKEW_MS = 10 * 60_000
const DAY_MS = 24 * 60 * 60_000

function timeFaults(lines: readonly FileLine[], now: Date): string[] {
  const faults: string[] = []
  for (const [index, line] of lines.entries()) {
    const before = lines[index - 1]
    const time = Date.parse(line.time)
    if (before && time < Date.parse(before.time) - MAX_SKEW_MS)
      faults.push(`line ${line.number} is older than line ${before.number}`)
    if (time > now.getTime() + DAY_MS) faults.push(`line ${line.number} is of the time to come`)
  }
  return faults
}

function beginningFaults([first]: readonly FileLine[], sessionId: string): string[] {
  if (first?.event !== 'session_created') return ['it does not begin with session_created']
  return first.fields.session_id === sessionId
    ? []
    : [`line ${first.number} creates another session`]
}

function stateFaults(lines: readonly TrailLine[]): string[] {
  const faults: string[] = []
  let state: SessionState = 'created'
  let isApproved = false
  for (const line of lines) {
    if (line.event === 'plan_approved') isApproved = true
    if (line.event !== 'session_state_changed') continue
    const { old_state, new_state } = line.fields
    if (!isSessionState(new_state)) {
      faults.push(`line ${line.number} names an unknown state`)
      continue
    }
    if (old_state !== state || !isStateChange(state, new_state))
      faults.push(
        `line ${line.number} goes from ${String(old_state)} to ${new_state}, but the session was ${state}`,
      )
    if (new_state === 'plan_ready') isApproved = false // an approval that was taken back does not count
    if (new_state === 'approved' && !isApproved)
      faults.push(`line ${line.number} says approved, and no line before it says what was approved`)
    state = new_state
  }
  return faults
}

/**
 * An approval is of the plan that was written or edited last. An edit by hand right before the approval may have left no
 * line; then the plan in the file is the approved one.
 */
function approvalFaults(lines: readonly TrailLine[], inFile: string): string[] {
  const faults: string[] = []
  let plan: unknown = null
  for (const line of lines) {
    if (line.event === 'plan_written' || line.event === 'plan_edited') plan = line.fields.sha256
    if (line.event !== 'plan_approved') continue
    const { plan_sha256 } = line.fields
    if (plan === null || (plan_sha256 !== plan && plan_sha256 !== inFile))
      faults.push(`line ${line.number} approves another text than the plan that was written last`)
  }
  return faults
}
