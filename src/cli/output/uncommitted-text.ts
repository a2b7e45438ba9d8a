import type { ApprovalViewJson } from '../../http/schemas/approval-view.ts'
import { counted } from '../../model/amounts.ts'
import { placeText } from '../../model/before-run-text.ts'
import { visibleText } from '../../model/visible-text.ts'
import { oneLineText } from './shown-line.ts'

/** How many files and sessions the line names. */
const NAMED = 3

/** A paragraph for the approval; null if everything is committed, or if git does not know. */
export function uncommittedText(
  { changes, is_cut, branch, head }: Omit<ApprovalViewJson['folder'], 'reason'>,
  caseId: string,
  isApart: boolean,
): string | null {
  if (changes.length === 0) return null
  const count = is_cut ? `more than ${changes.length} files` : counted(changes.length, 'file')
  const files = named(changes.map(({ file }) => visibleText(file)))
  const sessions = new Map<string, number>()
  for (const { left_by } of changes) {
    if (left_by === null) continue
    const own = left_by.case_id === caseId
    const of = own ? '' : ` of “${oneLineText(left_by.title)}”`
    const name = `session ${left_by.number}${of} (${left_by.state})`
    sessions.set(name, (sessions.get(name) ?? 0) + 1)
  }
  const left = named([...sessions].map(([name, files]) => `${name} left ${files}`))
  const others = changes.filter(({ left_by }) => left_by === null).length
  const authors = [
    ...(left === '' ? [] : [left]),
    ...(others === 0 || left === '' ? [] : [`${others} changed by you or another program`]),
  ]
  const verb = changes.length === 1 && !is_cut ? 'is' : 'are'
  const by = authors.length === 0 ? '' : `; ${authors.join('; ')}`
  const place = placeText({ branch, commit: head })
  const so = isApart
    ? ' This session runs in a worktree made from the commit: it will not have these changes.'
    : ''
  return `${count} in the working folder (${place}) ${verb} not committed: ${files}${by}.${so}`
}

function named(all: readonly string[]): string {
  const rest = all.length - NAMED
  return `${all.slice(0, NAMED).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}
