import { isAbsolute, join, relative } from 'node:path'
import { isBreaking, type Problem, type ProblemCode } from '../model/problem.ts'
import { remedyOf } from '../model/problem-remedies.ts'
import { textProblems } from '../sessions/file-checks.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import { isLatestWrong } from '../workspace/latest.ts'
import type { Layout } from '../workspace/layout.ts'
import { findDuplicateNumber } from './duplicate-numbers.ts'
import type { Snapshot } from './snapshot.ts'

/** A problem that `casefile doctor --check` reports. */
export interface Finding {
  code: ProblemCode
  /** Relative to the workspace; absolute if it is outside. */
  file: string
  line: number | null
  message: string
  remedy: string
  case_id: string | null
}

/** All problems, sorted by file and line. */
export async function findingsIn(snapshot: Snapshot): Promise<Finding[]> {
  const { layout, catalog } = snapshot
  const found = [
    ...snapshot.settingsProblems.map((problem) => finding(layout, null, layout.root, problem)),
    ...snapshot.unknownEntries.map((problem) => finding(layout, null, layout.memoryRoot, problem)),
  ]
  for (const id of catalog.ids()) {
    for (const problem of await caseProblems(snapshot, id)) {
      found.push({
        ...finding(layout, id, layout.caseFolder(id), problem),
        ...(await duplicateNumberWords(snapshot, id, problem)),
      })
    }
  }
  return found.sort(byPlace)
}

/** The problems of a case and of the texts of its sessions. */
async function caseProblems(
  { catalog, texts, hasServed }: Snapshot,
  id: string,
): Promise<Problem[]> {
  const contents = catalog.folder(id)
  const found = [...(contents?.problems ?? []), ...latestProblems(catalog.entry(id), hasServed)]
  for (const session of contents?.sessions ?? []) {
    const record = catalog.entry(id)?.sessions.get(session.number)
    if (!record?.value || !record.readable) continue
    found.push(...(await textProblems(await texts.session(id, record), session)))
  }
  return found
}

/** A missing link is not reported if no service has run yet (as in CI): the first start creates it. */
function latestProblems(entry: CaseEntry | undefined, hasServed: boolean): Problem[] {
  if (!entry || !isLatestWrong(entry) || (entry.latest === '' && !hasServed)) return []
  const newest = Math.max(0, ...entry.sessions.keys())
  const is =
    entry.latest === ''
      ? 'the link to the newest session is missing'
      : `the link points to ${entry.latest}`
  const wanted = newest === 0 ? 'there is no session' : `the newest session is ${newest}.md`
  const message = `${is}; ${wanted}`
  return [{ code: 'wrong_latest', file: 'sessions/latest.md', line: null, message }]
}

/** A clearer message and remedy if conflict markers come from two new sessions with the same number. */
async function duplicateNumberWords(
  snapshot: Snapshot,
  id: string,
  problem: Problem,
): Promise<Partial<Finding>> {
  const number = /^sessions\/(\d+)\.md$/.exec(problem.file)?.[1]
  const isCandidate = number !== undefined && isBreaking(problem)
  const duplicate = isCandidate ? await findDuplicateNumber(snapshot, id, Number(number)) : null
  if (!duplicate) return {}
  if ('reason' in duplicate) {
    return { message: `two branches both created session ${number}, but ${duplicate.reason}` }
  }
  return {
    message: `two branches both created session ${number}: one at ${duplicate.earlier.session.started_at}, one at ${duplicate.later.session.started_at}`,
    remedy:
      'Run casefile doctor --fix: the earlier one keeps the number, the later one gets the next free number.',
  }
}

function finding(
  layout: Layout,
  case_id: string | null,
  folder: string,
  { code, file, line, message }: Problem,
): Finding {
  return {
    code,
    file: shownPath(layout, join(folder, file)),
    line,
    message,

    remedy: remedyOf(code),
    case_id,
  }
}

export function shownPath({ root }: Layout, path: string): string {
  const way = relative(root, path)
  return way === '' || way.startsWith('..') || isAbsolute(way) ? path : way
}

function byPlace(a: Finding, b: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1
  return (a.line ?? 0) - (b.line ?? 0)
}
