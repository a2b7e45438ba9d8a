/** Turns the files of a case as read into the values that count: applies the baseline and collects problems. */

import { applyBaseline, type Baseline } from '../model/baseline.ts'
import { type CaseFolder, gateOf } from '../model/case-folder.ts'
import { ignoredChangeProblem } from '../model/ignored-change-problem.ts'
import type { Problem } from '../model/problem.ts'
import { byCreation } from '../model/proof.ts'
import type { Session } from '../model/session.ts'
import { isRunning } from '../model/session-state.ts'
import type { CaseEntry } from './case-entry.ts'
import type { RecordFile } from './record.ts'

/** Returns the case with the values that count, and all its problems. */
export function folderOf(
  entry: CaseEntry,
  isRunningHere: (sessionId: string) => boolean,
  baseline: Baseline | undefined,
): CaseFolder {
  const counting = applyBaseline(filesOf(entry), baseline)
  const { sessions, ignored } = counting
  const folder: CaseFolder = {
    ...counting,
    problems: [
      entry.file,
      ...entry.sessions.values(),
      ...entry.proofs.values(),
      ...entry.notes.values(),
      entry,
    ]
      .flatMap((file) => file.problems)
      .concat(
        sessions.filter((each) => isRunning(each.state) && !isRunningHere(each.id)).map(foreign),
      )
      .concat(duplicateSessions(sessions).map(duplicateProblem))
      .concat(ignored.map((each) => ignoredChangeProblem(entry.id, each))),
  }
  if (entry.vanished)
    folder.problems.push(...sessions.filter((each) => isRunningHere(each.id)).map(vanished))
  const gate = folder.case.state === 'RESOLVED' ? gateOf(folder) : null
  if (gate && !gate.open) folder.problems.push(shut(gate.missing))
  return folder
}

/** Returns the values in the files of a case; the newest session and proof are last. */
export function filesOf(entry: CaseEntry): Pick<CaseFolder, 'case' | 'sessions' | 'proofs'> {
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
  const first = new Map<string, Session>()
  return sessions.filter((each) => {
    if (!first.has(each.id)) first.set(each.id, each)
    return first.get(each.id) !== each
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
function foreign({ number, state }: Session): Problem {
  return {
    code: 'foreign_session',
    file: `sessions/${number}.md`,
    line: null,
    message: `the session is ${state}, but nothing runs for it on this machine: it can only be abandoned`,
  }
}

function vanished({ number }: Session): Problem {
  return {
    code: 'case_vanished',
    file: `sessions/${number}.md`,
    line: null,
    message:
      'the file was gone while the session was running (a branch switch?) and was written again',
  }
}

function shut(missing: readonly string[]): Problem {
  return {
    code: 'proof_gate',
    file: 'case.md',
    line: null,
    message: `state: RESOLVED is reported as VERIFYING until the gate is open: missing ${missing.join(', and ')}`,
  }
}
