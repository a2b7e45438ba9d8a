import { type FailedTest, MAX_FAILED_TESTS } from '../../model/failed-test.ts'
import { HIDDEN_CHARACTERS } from '../../model/visible-text.ts'

const MAX_NAME = 200
const MAX_MESSAGE = 500
const MAX_FILE = 300

/** A failed test before its texts are cleaned and shortened. `path` has the names of its parents, then its own. */
export interface Failure {
  path: string[]
  message: string | null
  file: string | null
  line: number | null
}

/** Concatenates both lists, up to the maximum number of failed tests. */
export function firstOf<T>(before: T[], more: readonly T[]): T[] {
  const room = MAX_FAILED_TESTS - before.length
  return room <= 0 || more.length === 0 ? before : before.concat(more.slice(0, room))
}

/** The first failed tests of a report, each text shortened to one line. */
export function failedTests(failures: readonly Failure[]): FailedTest[] {
  return failures.slice(0, MAX_FAILED_TESTS).map(({ path, message, file, line }) => {
    return {
      name: testName(path),
      message: oneLine(message ?? '', MAX_MESSAGE) || null,
      file: oneLine(file ?? '', MAX_FILE) || null,
      line: line !== null && Number.isSafeInteger(line) && line > 0 ? line : null,
    }
  })
}

/** The name of a test with those of its parents, in one line. */
export function testName(path: readonly string[]): string {
  return nameOf(path.map((name) => oneLine(name, MAX_NAME)).filter((name) => name !== ''))
}

/** Cuts at the beginning, because the test's own name is at the end. */
function nameOf(names: readonly string[]): string {
  const name = names.join(' > ') || 'unnamed test'
  if (name.length <= MAX_NAME) return name
  return `…${wholeCharacters(name.slice(1 - MAX_NAME))}`
}

/** Terminal escape sequences, such as colours. */
const COLOUR = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\^_])/g

/** One line of at most `most` characters, without colours and hidden characters. */
export function oneLine(text: string, most: number): string {
  // cut generously first, so that megabytes of text are not cleaned
  const line = text
    .slice(0, 8 * most)
    .replace(COLOUR, '')
    .replace(/\s+/g, ' ')
    .toWellFormed()
    .replace(HIDDEN_CHARACTERS, '')
    .trim()
  return line.length <= most ? line : `${wholeCharacters(line.slice(0, most - 1)).trimEnd()}…`
}

/** The beginning of a text of several lines. */
export function shorten(text: string, most: number): string {
  const whole = text.slice(0, most + 1).trimEnd()
  return (
    whole.length <= most ? whole : `${wholeCharacters(whole.slice(0, Math.max(0, most - 1)))}…`
  ).toWellFormed()
}

/** Removes half of a surrogate pair at either end. */
function wholeCharacters(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
}
