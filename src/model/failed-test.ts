/**
 * A failed test of a report. `name` includes the names of its parents, as in `suite > case`. `file` is the path in
 * the report, relative to the working folder if inside it.
 */
export interface FailedTest {
  name: string
  message: string | null
  file: string | null
  line: number | null
}

/** At most this many failed tests are stored; the counts include all. */
export const MAX_FAILED_TESTS = 20

/** Formats the location as in `test/login.ts:12`; null if the report has no file. */
export function failedTestPlace({ file, line }: Pick<FailedTest, 'file' | 'line'>): string | null {
  if (file === null) return null
  return line === null ? file : `${file}:${line}`
}
