import type { Diff, FileChange, Session, TestCounts } from '../model/session.ts'
import type { FieldReader } from './fields.ts'
import type { YamlValue } from './yaml-scalar.ts'

/** `diff: { file: …, additions: 3, deletions: 1 }`, with `files` where several changed. */
export function diffOf(reader: FieldReader): Diff | null {
  const raw = reader.raw('diff')
  if (raw === undefined || raw === null) return null
  const total = changeOf(raw)
  if (!total) {
    reader.problem('diff', 'wrong_type', 'diff: expected { file, additions, deletions }')
    return null
  }
  const files = (raw as { files?: YamlValue }).files
  if (!Array.isArray(files)) return total
  return { ...total, files: files.map(changeOf).filter((file) => file !== null) }
}

function changeOf(raw: YamlValue): FileChange | null {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return null
  const { file, additions, deletions } = raw
  if (typeof additions !== 'number' || typeof deletions !== 'number') return null
  return { file: fileOf(file), additions, deletions }
}

/** A name as it is written: `2026` and `no` are files too. A list or a map is none, and no text. */
function fileOf(file: YamlValue | undefined): string {
  return file === null || file === undefined || typeof file === 'object' ? '' : String(file)
}

export function testsOf(reader: FieldReader): TestCounts | null {
  const raw = reader.raw('tests')
  if (raw === undefined || raw === null) return null
  const { run, passed, failed } = typeof raw === 'object' && !Array.isArray(raw) ? raw : {}
  if (typeof run === 'number' && typeof passed === 'number' && typeof failed === 'number') {
    return { run, passed, failed }
  }
  reader.problem('tests', 'wrong_type', 'tests: expected { run, passed, failed }')
  return null
}

/** Of the list of changed files as JSON: it must fit into the frontmatter with all else. */
const MAX_FILES_BYTES = 32 * 1024

/**
 * Evidence as YAML values, in the order in which it is written. Of very many changed files the first
 * that fit are listed; the totals count all.
 */
export function evidenceYaml(session: Pick<Session, 'diff' | 'tests'>): {
  diff: YamlValue
  tests: YamlValue
} {
  const change = ({ file, additions, deletions }: FileChange) => ({ file, additions, deletions })
  const { diff, tests } = session
  return {
    diff: diff && {
      ...change(diff),
      ...(diff.files ? { files: fitting(diff.files.map(change)) } : {}),
    },
    tests: tests && { run: tests.run, passed: tests.passed, failed: tests.failed },
  }
}

function fitting<T>(files: T[]): T[] {
  let bytes = 0
  const end = files.findIndex((file) => {
    bytes += Buffer.byteLength(JSON.stringify(file)) + 2
    return bytes > MAX_FILES_BYTES
  })
  return end < 0 ? files : files.slice(0, end)
}
