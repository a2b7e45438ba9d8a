import type { FailedTest } from './failed-test.ts'
import type { ProofImage } from './picture.ts'

/** Test counts from the report in a proof. */
export interface ReportCounts {
  run: number
  passed: number
  failed: number
  /** How many of the passed tests passed on a retry; missing if none. */
  flaky?: number
  /** Set if the report is cut off, contradicts its own totals, or cannot be read to its end. */
  incomplete?: true
}

/** The fields of `proof/<id>.md`. The content may be large and is read on demand. */
export interface Proof {
  id: string
  case_id: string
  session_id: string | null
  type: string
  created_at: string
  /** The hash in the file; without one, the hash of its content, or of its picture. */
  sha256: string
  verified: boolean
  verified_at: string | null
  /** Who verified it; null if the file does not say it. */
  verified_by: string | null
  /** The checklist items that it met when it was verified. */
  meets: string[]
  /** The name of the artifact that the content comes from, if that is known. */
  artifact?: string | undefined
  /** Null if the content is not a test report. */
  tests: ReportCounts | null
  failed_tests: FailedTest[]
  /** The names of the first flaky tests. */
  flaky_tests: string[]
  /** Exit code of the step that the content comes from; null if it was 0 or is unknown. */
  exit_code: number | null
  /** The operator's reason for accepting a proof that does not support its claim by itself. */
  accepted: string | null
  /** Set if the proof is a picture. Its content is then a line that says so. */
  image: ProofImage | null
  /** False if the content, or the picture, does not match the sha256 in the file. */
  intact: boolean
  /** Whether the file contains its sha256. */
  stamped: boolean
  /** The content is empty. */
  empty: boolean
  /** The content is a diff. */
  is_diff: boolean
  /** Whether the content looks like a test report that the service has not counted yet. */
  uncounted: boolean
  /** The name of the test report that the content seems to be, if Casefile does not read such reports. */
  unread: string | null
}

/** What the service found in content with this hash: its test results, or the size of its picture. */
export interface Counted {
  sha256: string
  image: ProofImage | null
  tests: ReportCounts | null
  failed_tests: FailedTest[]
  flaky_tests: string[]
  unread: string | null
}

/** Whether a proof counts as verified. It does not if its content changed afterwards. */
export function countsAsVerified(proof: Pick<Proof, 'verified' | 'intact'>): boolean {
  return proof.verified && proof.intact
}

/** Whether the service has yet to write the hash or test counts into a file that a person wrote. */
export function isToBeStamped(proof: Proof): boolean {
  return proof.intact && (proof.uncounted || (proof.verified && !proof.stamped))
}

/** Sorts by creation time and id, newest last. "The newest" always means this order. */
export function byCreation(
  a: { created_at: string; id: string },
  b: { created_at: string; id: string },
): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
