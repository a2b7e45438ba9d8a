import type { FailedTest } from './failed-test.ts'

/** What the report in a proof says. */
export interface ReportCounts {
  run: number
  passed: number
  failed: number
  /** Only where the report breaks off, or cannot be read to its end. */
  incomplete?: true
}

/** What `proof/<id>.md` says, without its content, which may be large and is read when asked for. */
export interface Proof {
  id: string
  case_id: string
  session_id: string | null
  type: string
  created_at: string
  /** As the file states it; of a file that states none, the hash of its content. */
  sha256: string
  verified: boolean
  verified_at: string | null
  /** Null where the content is no test report. */
  tests: ReportCounts | null
  failed_tests: FailedTest[]
  /** Of the step that the content comes from; null where that was 0, or is not known. */
  exit_code: number | null
  /** Why the operator accepts it although it does not support its claim by itself. */
  accepted: string | null
  /** False when the content no longer has the sha256 that the file states. */
  intact: boolean
  /** The file states its sha256. */
  stamped: boolean
  /** The content is empty. */
  empty: boolean
  /** The content looks like a test report, and the service has not counted it yet. */
  uncounted: boolean
}

/** What the service found in the content that has this hash. */
export interface Counted {
  sha256: string
  tests: ReportCounts | null
  failed_tests: FailedTest[]
}

/** A verified proof whose content was changed afterwards proves nothing. */
export function countsAsVerified(proof: Pick<Proof, 'verified' | 'intact'>): boolean {
  return proof.verified && proof.intact
}

/** Whether the service still has to write its hash or its counts into a file that a person wrote. */
export function isToBeStamped(proof: Proof): boolean {
  return proof.intact && (proof.uncounted || (proof.verified && !proof.stamped))
}

/** Newest last, by creation and then id: the order in which "the newest" is decided everywhere. */
export function byCreation(
  a: { created_at: string; id: string },
  b: { created_at: string; id: string },
): number {
  if (a.created_at !== b.created_at) return a.created_at < b.created_at ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
