import { isAbsolute, join, relative } from 'node:path'
import { isBreaking, type Problem, type ProblemCode } from '../model/problem.ts'
import { remedyOf } from '../model/problem-remedies.ts'
import { textProblems } from '../sessions/text-problems.ts'
import type { Layout } from '../workspace/layout.ts'
import { findTwins } from './twin-sessions.ts'
import type { View } from './view.ts'

/** A problem as `casefile check` tells it. */
export interface Finding {
  code: ProblemCode
  /** Relative to the workspace, as a person would open it; absolute where it lies elsewhere. */
  file: string
  line: number | null
  message: string
  remedy: string
  case_id: string | null
}

/** Every problem that there is, by file and line. */
export async function findingsIn(view: View): Promise<Finding[]> {
  const { layout, catalog } = view
  const found = [
    ...view.settingsProblems.map((problem) => finding(layout, null, layout.root, problem)),
    ...view.strangers.map((problem) => finding(layout, null, layout.memoryRoot, problem)),
  ]
  for (const id of catalog.ids()) {
    for (const problem of await caseProblems(view, id)) {
      found.push({
        ...finding(layout, id, layout.caseFolder(id), problem),
        ...(await twinWords(view, id, problem)),
      })
    }
  }
  return found.sort(byPlace)
}

/** What `problems` of the case shows, and of each of its sessions. */
async function caseProblems({ catalog, texts }: View, id: string): Promise<Problem[]> {
  const folder = catalog.folder(id)
  const found = [...(folder?.problems ?? [])]
  for (const session of folder?.sessions ?? []) {
    const record = catalog.entry(id)?.sessions.get(session.number)
    if (!record?.value || !record.readable) continue
    found.push(...(await textProblems(await texts.session(id, record), session)))
  }
  return found
}

/** Conflict markers that two new sessions left are named as what they are. */
async function twinWords(view: View, id: string, problem: Problem): Promise<Partial<Finding>> {
  const number = /^sessions\/(\d+)\.md$/.exec(problem.file)?.[1]
  const isCandidate = number !== undefined && isBreaking(problem)
  const twins = isCandidate ? await findTwins(view, id, Number(number)) : null
  if (!twins) return {}
  if ('reason' in twins) {
    return { message: `two branches both made session ${number}, but ${twins.reason}` }
  }
  return {
    message: `two branches both made session ${number}: one at ${twins.earlier.session.started_at}, one at ${twins.later.session.started_at}`,
    remedy:
      'Run casefile check --fix: the earlier one keeps the number, the later one gets the next that is free.',
  }
}

function finding(
  layout: Layout,
  case_id: string | null,
  folder: string,
  { code, file, line, message }: Problem,
): Finding {
  return {
    ...{ code, file: shownPath(layout, join(folder, file)), line, message },
    ...{ remedy: remedyOf(code), case_id },
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
