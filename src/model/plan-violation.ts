import { counted } from './amounts.ts'
import { namesText, textsOf } from './before-run-text.ts'
import type { Session } from './session.ts'
import type { LineWith } from './trail.ts'

/** Files that changed without an approved plan; a person may have changed them. */
export interface PlanViolation {
  files: readonly string[]
}

/** What changed before the plan of a session was approved, as its audit trail names it; null if nothing did. */
export function planViolation({ trail }: Pick<Session, 'trail'>): PlanViolation | null {
  const lines = trail.filter((line): line is LineWith<'plan_violation'> => {
    return line.event === 'plan_violation'
  })
  if (lines.length === 0) return null
  const named = lines.flatMap(({ fields: { working_folder, replaced } }) =>
    [working_folder, replaced].flatMap(textsOf),
  )
  return { files: [...new Set(named)] }
}

/** Such as "2 files changed before the plan was approved: a.js, b.js". */
export function planViolationText({ files }: PlanViolation): string {
  const count = files.length === 0 ? 'files' : counted(files.length, 'file')
  const names = files.length === 0 ? '' : `: ${namesText(files)}`
  return `${count} changed before the plan was approved${names}`
}
