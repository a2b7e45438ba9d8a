import type { FailedTest } from '../model/failed-test.ts'
import {
  type Diff,
  type FileChange,
  NO_CHANGE,
  type Session,
  type TestCounts,
} from '../model/session.ts'
import { lastOf, type TrailLine } from '../model/trail.ts'
import type { FieldReader } from './fields.ts'
import type { YamlValue } from './yaml-scalar.ts'

/**
 * Reads `diff: { file: …, additions: 3, deletions: 1 }`. The files are in the audit trail if several changed, and in
 * `files` in older sessions. The trail also says that nothing changed.
 */
export function readDiff(reader: FieldReader, trail: readonly TrailLine[]): Diff | null {
  const raw = reader.raw('diff')
  const taken = lastOf(trail, 'diff_taken')?.fields
  if (raw === undefined || raw === null) return taken?.files === 0 ? { ...NO_CHANGE } : null
  const total = changeOf(raw)
  if (!total) {
    reader.problem('diff', 'wrong_type', 'diff: expected { file, additions, deletions }')
    return null
  }
  const { files } = raw as { files?: YamlValue }
  const listed = taken?.changed
  if (Array.isArray(listed)) return { ...total, files: changesOf(listed) }
  if (!Array.isArray(files)) return total
  return { ...total, files: changesOf(files) }
}

function changesOf(files: YamlValue[]): FileChange[] {
  return files.map(changeOf).filter((file) => file !== null)
}

function changeOf(raw: YamlValue): FileChange | null {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  const { file, additions, deletions } = raw
  if (typeof additions !== 'number' || typeof deletions !== 'number') return null
  return { file: fileOf(file), additions, deletions }
}

/** Returns a file name as written: `2026` and `no` are names too; a list or map is not. */
function fileOf(file: YamlValue | undefined): string {
  return file === null || file === undefined || typeof file === 'object' ? '' : String(file)
}

export function readTests(reader: FieldReader): TestCounts | null {
  const raw = reader.raw('tests')
  if (raw === undefined || raw === null) return null
  const { run, passed, failed, flaky } = typeof raw === 'object' && !Array.isArray(raw) ? raw : {}
  if (typeof run === 'number' && typeof passed === 'number' && typeof failed === 'number') {
    return countsWith({ run, passed, failed }, typeof flaky === 'number' ? flaky : 0)
  }
  reader.problem('tests', 'wrong_type', 'tests: expected { run, passed, failed }')
  return null
}

/** `flaky` is only there if a test was, so that a file without one reads as it always did. */
export function countsWith({ run, passed, failed }: TestCounts, flaky = 0): TestCounts {
  return flaky > 0 ? { run, passed, failed, flaky } : { run, passed, failed }
}

/**
 * Reads `[{ name: …, message: …, file: …, line: 12 }]` from the audit trail, and from `failed_tests` in older sessions;
 * skips entries without a name.
 */
export function readFailedTests(reader: FieldReader, trail: readonly TrailLine[]): FailedTest[] {
  const listed = lastOf(trail, 'tests_read')?.fields.failed_tests as YamlValue | undefined
  const raw = listed ?? reader.raw('failed_tests')
  if (raw === undefined || raw === null) return []
  if (!Array.isArray(raw)) {
    reader.problem(
      'failed_tests',
      'wrong_type',
      'failed_tests: expected a list of { name, message, file, line }',
    )
    return []
  }
  return raw.map(failedTestOf).filter((test) => test !== null)
}

function failedTestOf(raw: YamlValue): FailedTest | null {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  const name = wordsOf(raw.name)
  if (name === null) return null
  const { line } = raw
  return {
    name,
    message: wordsOf(raw.message),
    file: wordsOf(raw.file),
    line: Number.isSafeInteger(line) && Number(line) > 0 ? Number(line) : null,
  }
}

/** Returns a text as written: `2026` and `no` are texts too. */
function wordsOf(value: YamlValue | undefined): string | null {
  if (value === null || value === undefined || typeof value === 'object') return null
  return String(value) || null
}

/** Limit for each list as JSON, so that both fit into a line of the trail. */
const MAX_FILES_BYTES = 32 * 1024
const MAX_FAILED_TESTS_BYTES = 16 * 1024

/**
 * Returns the diff and the failed tests as the audit trail lists them: of many changed files or failed tests only the
 * first that fit. The totals include all.
 */
export function listedEvidence({
  diff,
  failed_tests,
}: Pick<Session, 'diff' | 'failed_tests'>): Pick<Session, 'diff' | 'failed_tests'> {
  const files = diff?.files && fitting(diff.files.map(change), MAX_FILES_BYTES)
  const tests = failed_tests.map(({ name, message, file, line }) => ({ name, message, file, line }))
  return {
    diff: diff && { ...change(diff), ...(files ? { files } : {}) },
    failed_tests: fitting(tests, MAX_FAILED_TESTS_BYTES),
  }
}

/** Without the list of its files, which is in the audit trail. Null if nothing changed. */
export function diffYaml(diff: Diff | null): YamlValue {
  return diff?.file ? { ...change(diff) } : null
}

export function testsYaml(tests: TestCounts | null): YamlValue {
  return tests && { ...countsWith(tests, tests.flaky) }
}

function change({ file, additions, deletions }: FileChange): FileChange {
  return { file, additions, deletions }
}

function fitting<T>(items: T[], maxBytes: number): T[] {
  let bytes = 0
  const end = items.findIndex((item) => {
    bytes += Buffer.byteLength(JSON.stringify(item)) + 2
    return bytes > maxBytes
  })
  return end < 0 ? items : items.slice(0, end)
}
