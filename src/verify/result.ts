import type { CheckedSignature } from '../model/approval-statement.ts'
import type { TestsBefore } from '../model/before-run-text.ts'
import type { CommitTrailer } from '../model/commit-trailer.ts'
import type { TestCounts } from '../model/session.ts'

/** Why a claim is false. */
export const FAILURE_CODES = [
  'bad_trailer', // the line cannot be read
  'no_case',
  'no_session',
  'unreadable', // the case or session has a problem that keeps it from being read
  'not_approved',
  'other_plan', // another plan was approved than the commit names
  'plan_changed', // the plan in the file is not the one that was approved
  'not_complete', // the run failed, was abandoned, or has not ended
  'not_sealed',
  'seal_broken',
  'trail_gap', // the trail is not one that the service writes
  'trail_changed', // lines that git has are gone
  'proof_missing', // the gate is shut
  'proof_changed',
  'other_files', // the session changed no file of the commit
  'bad_signature',
  'unknown_signer',
  'unsigned', // only with --require-signature
  'no_claim', // only with --require-trailer
  'not_from_session', // only with --require-trailer
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]

export interface Failure {
  code: FailureCode
  /** A sentence that names the file, lines or hashes. */
  message: string
}

/** What the record says of the session that a commit names. */
export interface ClaimedSession {
  case_title: string
  session_id: string
  /** Its number now, which differs from the trailer's if it was renumbered. */
  number: number
  /** Relative to the top of the code's repository if it is below it, else to the memory root. */
  file: string
  file_sha256: string
  provider: string
  state: string
  plan_sha256: string | null
  approved_at: string | null
  /** Null in a record of a version that did not write it. */
  approved_by: string | null
  approved_via: string | null
  completed_at: string | null
  tests: TestCounts | null
  /** Before the run, if the plan asked for that. */
  tests_before: TestsBefore | null
  signature: CheckedSignature | null
}

/** https://github.com/in-toto/attestation/blob/main/spec/v1/resource_descriptor.md */
export interface ResourceDescriptor {
  name?: string
  digest: Record<string, string>
  annotations?: Record<string, string | number | boolean>
}

export interface Claim {
  /** The value of the trailer as written. */
  text: string
  trailer: CommitTrailer | null
  session: ClaimedSession | null
  /** Those of its case. */
  proofs: ResourceDescriptor[]
  failures: Failure[]
  /** What a reader should know, and what makes no claim false. */
  notes: string[]
}

export type CommitResult = 'passed' | 'failed' | 'no_claim' | 'exempt'

export interface VerifiedCommit {
  commit: string
  subject: string
  author: string
  authored_at: string
  result: CommitResult
  claims: Claim[]
  /** Failures of the commit itself. */
  failures: Failure[]
  notes: string[]
}

export interface Verification {
  /** The range as git takes it. */
  range: string
  /** The commits in it, newest first. */
  commits: VerifiedCommit[]
  /** About the whole range, such as a history that is not all here. */
  notes: string[]
  ok: boolean
}
