import { type CaseFolder, shownState } from './case-folder.ts'
import type { CaseState } from './case-state.ts'
import type { Problem } from './problem.ts'

/** A case as requests are answered. Key order is part of the interface. */
export interface CaseJson {
  id: string
  title: string
  type: string
  description: string
  state: CaseState
  outcome: string | null
  tags: string[]
  parent: string | null
  reason: string | null
  workdir: string | null
  provider: string | null
  created_at: string
  updated_at: string
  problems: Problem[]
}

/** `mtimeMs`: that of case.md, 0 where it is missing. */
export function caseJson(folder: CaseFolder, mtimeMs: number): CaseJson {
  const { case: fields, problems } = folder
  return {
    id: fields.id,
    title: fields.title,
    type: fields.type,
    description: fields.description,
    state: shownState(folder),
    outcome: fields.outcome,
    tags: fields.tags,
    parent: fields.parent,
    reason: fields.reason,
    workdir: fields.workdir,
    provider: fields.provider,
    created_at: fields.created_at,
    updated_at: laterOf(new Date(mtimeMs).toISOString(), fields.created_at),
    problems,
  }
}

/** The kernel's clock for files may lag a tick behind ours: nothing is updated before it was made. */
function laterOf(a: string, b: string): string {
  return a > b ? a : b
}
