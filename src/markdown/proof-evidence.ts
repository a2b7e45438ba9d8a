import { type FailedTest, MAX_FAILED_TESTS } from '../model/failed-test.ts'
import { PICTURE_TYPES, type ProofImage, pictureName } from '../model/picture.ts'
import type { Counted, Proof, ReportCounts } from '../model/proof.ts'
import type { FieldReader } from './fields.ts'
import { countsWith, readTests } from './session-evidence.ts'
import type { YamlValue } from './yaml-scalar.ts'

/** Reads `tests: { run, passed, failed }`, with `incomplete: true` if the report is cut off. */
export function reportCounts(reader: FieldReader): ReportCounts | null {
  const counts = readTests(reader)
  const raw = reader.raw('tests')
  if (!counts || !isMap(raw) || raw.incomplete !== true) return counts
  return { ...counts, incomplete: true }
}

/** Reads `failed_tests: [{ name, message, file, line }]`. */
export function failedTests(reader: FieldReader): FailedTest[] {
  const raw = reader.raw('failed_tests')
  if (raw === undefined || raw === null) return []
  const tests = Array.isArray(raw) ? raw.map(failedTest) : [null]
  if (tests.every((test) => test !== null)) return tests
  reader.problem(
    'failed_tests',
    'wrong_type',
    'failed_tests: expected a list of { name, message, file, line }',
  )
  return []
}

function failedTest(raw: YamlValue): FailedTest | null {
  if (!isMap(raw) || typeof raw.name !== 'string') return null
  const { name, message, file, line } = raw
  return {
    name,
    message: typeof message === 'string' ? message : null,
    file: typeof file === 'string' ? file : null,
    line: typeof line === 'number' ? line : null,
  }
}

export function exitCode(reader: FieldReader): number | null {
  const raw = reader.raw('exit_code')
  if (raw === undefined || raw === null || Number.isInteger(raw)) return (raw as number) ?? null
  reader.problem('exit_code', 'wrong_type', 'exit_code: expected a whole number')
  return null
}

/** Reads `image: { name, type, width, height, bytes }`. The name must be that of the proof's own picture. */
export function proofImage(reader: FieldReader, proofId: string): ProofImage | null {
  const raw = reader.raw('image')
  if (raw === undefined || raw === null) return null
  const { name, type, width, height, bytes } = isMap(raw) ? raw : {}
  const known = PICTURE_TYPES.find((each) => each === type)
  const numbers = [width, height, bytes].map((each) => (Number.isSafeInteger(each) ? each : 0))
  const isComplete = numbers.every((each) => Number(each) > 0)
  if (known && name === pictureName(proofId, known) && isComplete) {
    const [width, height, bytes] = numbers.map(Number) as [number, number, number]
    return { name, type: known, width, height, bytes }
  }
  reader.problem(
    'image',
    'wrong_type',
    `image: expected { name: ${proofId}.png, type: image/png, width, height, bytes }, or the same of a JPEG (.jpg), WebP or GIF`,
  )
  return null
}

export function imageYaml({ name, type, width, height, bytes }: ProofImage): YamlValue {
  return { name, type, width, height, bytes }
}

/** Only a real boolean verifies a proof, not a word that looks like one. */
export function isVerified(reader: FieldReader): boolean {
  const raw = reader.raw('verified')
  if (raw === undefined || raw === null || typeof raw === 'boolean') return raw === true
  const came = JSON.stringify(raw).slice(0, 60)
  reader.problem('verified', 'wrong_type', `verified: expected true or false, found ${came}`)
  return false
}

/** Reads `flaky_tests: [name]`. */
export function flakyTests(reader: FieldReader): string[] {
  const raw = reader.raw('flaky_tests')
  if (raw === undefined || raw === null) return []
  if (Array.isArray(raw) && raw.every((name) => typeof name === 'string')) return raw
  reader.problem('flaky_tests', 'wrong_type', 'flaky_tests: expected a list of names')
  return []
}

/** Returns the counts as YAML values, in file order. */
export function countsYaml(of: Pick<Counted | Proof, 'tests' | 'failed_tests' | 'flaky_tests'>): {
  tests: YamlValue
  failed_tests: YamlValue
  flaky_tests: YamlValue
} {
  const { tests, failed_tests, flaky_tests } = of
  const counts = tests && { ...countsWith(tests, tests.flaky) }
  const failed = failed_tests
    .slice(0, MAX_FAILED_TESTS)
    .map(({ name, message, file, line }) => ({ name, message, file, line }))
  return {
    tests: counts && tests.incomplete ? { ...counts, incomplete: true } : counts,
    failed_tests: failed.length === 0 ? null : failed,
    flaky_tests: flaky_tests.length === 0 ? null : flaky_tests.slice(0, MAX_FAILED_TESTS),
  }
}

function isMap(raw: YamlValue | undefined): raw is { [key: string]: YamlValue } {
  return typeof raw === 'object' && raw !== null && !Array.isArray(raw)
}
