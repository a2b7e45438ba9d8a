import type { IgnoredChange } from './frozen-values.ts'
import type { Problem } from './problem.ts'

/** Describes an ignored edit as a problem: what was changed, and how the operator confirms it. */
export function ignoredChangeProblem(
  caseId: string,
  ignored: IgnoredChange,
  left?: string,
): Problem {
  const { file, by } = ignored
  const when = by
    ? `by session ${by.number}${by.case_id === caseId ? '' : ` of case ${by.case_id}`} in git`
    : left === undefined
      ? 'while a session executed'
      : `while processes live that a session may have left behind (${left})`
  const message = `${sentence(ignored)} ${by ? '' : 'in the file '}${when}, so the change is ignored. ${remedy(caseId, ignored)}, or restore the earlier value`
  return { code: 'changed_during_run', file, line: null, message }
}

function sentence(ignored: IgnoredChange): string {
  const { kind, file, from, to } = ignored
  switch (kind) {
    case 'state':
      return `state: ${from} was changed to ${to}`
    case 'checklist':
      return `the required checklist item "${from}" was changed to "${to}"`
    case 'verification':
      return `this proof was changed from ${from} to ${to}`
    case 'session':
      return ignored.was === null
        ? `${file} was created`
        : `${file} was changed from ${stateOfProgress(from)} to ${stateOfProgress(to)}`
    default:
      return kind satisfies never
  }
}

function remedy(caseId: string, ignored: IgnoredChange): string {
  const at = `/cases/${caseId}`
  switch (ignored.kind) {
    case 'state':
      return `Set the correct state (PUT ${at}/state)`
    case 'checklist':
      return `Write the correct case.md, even if it is unchanged (PUT ${at}/memory/case.md)`
    case 'verification':
      return `Review its content and verify it (PUT ${at}/proof/${ignored.id}/verify)`
    case 'session':
      return `Review it and confirm it by writing it unchanged (PUT ${at}/memory/${ignored.file.replace('sessions/', '')})`
    default:
      return ignored satisfies never
  }
}

/** Returns the state from a session's progress text. */
function stateOfProgress(progress: string): string {
  return progress.split(' ', 1)[0]!
}
