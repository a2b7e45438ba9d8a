import { AppError } from '../model/app-error.ts'
import { failedTestPlace } from '../model/failed-test.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import { failedStep, failureText } from '../model/session-failure.ts'
import { cutText } from './prompt-parts.ts'

const MAX_TAIL_BYTES = 3000
const MAX_TAIL_LINES = 40
/** The length limit of a line about a failed test, in characters. */
const MAX_TEST = 400

/** Throws `wrong_state` unless the session failed. */
export function mustHaveFailed({ number, state }: Session): void {
  if (state === 'failed') return
  throw new AppError(
    'wrong_state',
    `Session ${number} is ${state}: only a session that failed can be planned again. Start a new session without "again".`,
  )
}

/** The note for planning again after a failure: the operator's own note, then the failure. */
export function planAgainNote(
  failed: Session,
  { output }: Pick<SessionTexts, 'output'>,
  own = '',
): string {
  const step = failedStep(failed.trail)
  const tail = lastLines(step?.tail || output)
  const where = step ? `The last lines of step ${step.id}` : 'The last lines of its output'
  return [
    own.trim(),
    `Session ${failed.number} failed: ${failureText(failed)}. Make a new plan that avoids this failure.`,
    failedTests(failed),
    tail === '' ? '' : `${where}:\n\n${tail}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function failedTests({ failed_tests }: Session): string {
  if (failed_tests.length === 0) return ''
  const lines = failed_tests.map((test) => {
    const place = failedTestPlace(test)
    const message = test.message === null ? '' : `: ${test.message.replace(/\s+/g, ' ')}`
    const line = `- ${test.name}${place === null ? '' : ` (${place})`}${message}`
    return line.length > MAX_TEST ? `${line.slice(0, MAX_TEST - 1).toWellFormed()}…` : line
  })
  return `Failed tests:\n\n${lines.join('\n')}`
}

function lastLines(text: string): string {
  const lines = text.trimEnd().split('\n').slice(-MAX_TAIL_LINES)
  while (lines.length > 1 && Buffer.byteLength(lines.join('\n')) > MAX_TAIL_BYTES) lines.shift()
  return cutText(lines.join('\n'), MAX_TAIL_BYTES).text
}
