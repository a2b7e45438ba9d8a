import type { IgnoredChange } from './baseline.ts'
import type { Problem } from './problem.ts'

/** The problem for a change that does not count: what it is, and how the operator makes it count. */
export function ignoredChangeProblem(caseId: string, ignored: IgnoredChange): Problem {
  const { file } = ignored
  const message = `${sentence(ignored)} by file while a session executed, and does not count. ${remedy(caseId, ignored)}, or put back what was there`
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
      return `this proof was made ${to}, which was ${from},`
    case 'session':
      return ignored.was === null
        ? `${file} was put there`
        : `${file} was changed from ${word(from)} to ${word(to)}`
    default:
      return kind satisfies never
  }
}

function remedy(caseId: string, ignored: IgnoredChange): string {
  const at = `/cases/${caseId}`
  switch (ignored.kind) {
    case 'state':
      return `Set the state that is right (PUT ${at}/state)`
    case 'checklist':
      return `Write case.md as it is right (PUT ${at}/memory/case.md, also unchanged)`
    case 'verification':
      return `Look at its content and verify it (PUT ${at}/proof/${ignored.id}/verify)`
    case 'session':
      return `Look at it and write it as it is (PUT ${at}/memory/${ignored.file.replace('sessions/', '')})`
    default:
      return ignored satisfies never
  }
}

/** The state alone, of the words of a session's progress. */
function word(progress: string): string {
  return progress.split(' ', 1)[0]!
}
