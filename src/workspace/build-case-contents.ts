/** Builds a case from its files as read: applies the frozen values of a run, and collects the problems. */

import { type CaseContents, gateOf } from '../model/case-contents.ts'
import { applyFrozenValues, type FrozenValues } from '../model/frozen-values.ts'
import { ignoredChangeProblem } from '../model/ignored-change-problem.ts'
import type { Problem } from '../model/problem.ts'
import { byCreation } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { isActive } from '../model/session-state.ts'
import type { CaseEntry } from './case-entry.ts'
import type { RecordFile } from './record-file.ts'

/** Returns the case with the values in force (the frozen ones, while there are some), and all its problems. */
export function buildCaseContents(
  entry: CaseEntry,
  isRunningHere: (sessionId: string) => boolean,
  frozen: FrozenValues | undefined,
): CaseContents {
  const effective = applyFrozenValues(caseValues(entry), frozen)
  const { sessions, ignored } = effective
  const contents: CaseContents = {
    ...effective,
    problems: [
      entry.file,
      ...entry.sessions.values(),
      ...entry.proofs.values(),
      ...entry.notes.values(),
      entry,
    ]
      .flatMap((file) => file.problems)
      .concat(
        sessions
          .filter((each) => isActive(each.state) && !isRunningHere(each.id))
          .map(foreignProblem),
      )
      .concat(duplicateSessions(sessions).map(duplicateProblem))
      .concat(ignored.map((each) => ignoredChangeProblem(entry.id, each, frozen?.left))),
  }
  if (entry.vanished)
    contents.problems.push(
      ...sessions.filter((each) => isRunningHere(each.id)).map(vanishedProblem),
    )
  const gate = contents.case.state === 'RESOLVED' ? gateOf(contents) : null
  if (gate && !gate.open) contents.problems.push(closedGateProblem(gate.missing))
  return contents
}

/** Returns the values in the files of a case; the newest session and proof are last. */
export function caseValues(entry: CaseEntry): Pick<CaseContents, 'case' | 'sessions' | 'proofs'> {
  const values = <T>(files: Map<unknown, RecordFile<T | null>>): T[] =>
    [...files.values()].map((file) => file.value).filter((value) => value !== null)
  return {
    case: entry.file.value,
    sessions: values(entry.sessions).sort((a, b) => a.number - b.number),
    proofs: values(entry.proofs).sort(byCreation),
  }
}

/** Returns sessions with the id of an earlier session of the case. */
function duplicateSessions(sessions: readonly Session[]): Session[] {
  const firstById = new Map<string, Session>()
  return sessions.filter((each) => {
    if (!firstById.has(each.id)) firstById.set(each.id, each)
    return firstById.get(each.id) !== each
  })
}

function duplicateProblem({ number, id }: Session): Problem {
  return {
    code: 'duplicate_id',
    file: `sessions/${number}.md`,
    line: null,
    message: `id: ${id} is the id of an earlier session of this case, which requests use: delete this copy`,
  }
}

/** Problem of a session that runs on another machine. */
function foreignProblem({ number, state }: Session): Problem {
  return {
    code: 'foreign_session',
    file: `sessions/${number}.md`,
    line: null,
    message: `the session is ${state}, but nothing runs for it on this machine: it can only be abandoned`,
  }
}

/** Problem of a running session whose file was deleted and restored. */
function vanishedProblem({ number }: Session): Problem {
  return {
    code: 'case_vanished',
    file: `sessions/${number}.md`,
    line: null,
    message:
      'the file was gone while the session was running (a branch switch?) and was written again',
  }
}

/** Problem of a case whose file says RESOLVED without the proof. */
function closedGateProblem(missing: readonly string[]): Problem {
  return {
    code: 'proof_gate',
    file: 'case.md',
    line: null,
    message: `state: RESOLVED is reported as VERIFYING until the gate is open: missing ${missing.join(', and ')}`,
  }
}
