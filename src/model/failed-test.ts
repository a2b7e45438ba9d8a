/**
 * A failed test as a report names it. `name` has the names of its parents before it, as in
 * `suite > case`; `file` is as the report prints it, relative to the working folder where it is below it.
 */
export interface FailedTest {
  name: string
  message: string | null
  file: string | null
  line: number | null
}

/** At most so many failed tests of a session are stored; the count includes the others. */
export const MAX_FAILED_TESTS = 20

/** `test/login.ts:12`, or what is known of it; null where the report names no file. */
export function failedTestPlace({ file, line }: Pick<FailedTest, 'file' | 'line'>): string | null {
  if (file === null) return null
  return line === null ? file : `${file}:${line}`
}
