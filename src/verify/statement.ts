/**
 * What was verified, or what a session proved, as in-toto statements: Statement v1 with the predicate
 * https://in-toto.io/attestation/test-result/v0.1.
 */

import type { TestsBefore } from '../model/before-run-text.ts'
import type {
  ClaimedSession,
  Failure,
  FailureCode,
  ResourceDescriptor,
  Verification,
} from './result.ts'

export interface Statement {
  _type: 'https://in-toto.io/Statement/v1'
  subject: ResourceDescriptor[]
  predicateType: 'https://in-toto.io/attestation/test-result/v0.1'
  predicate: {
    result: 'PASSED' | 'WARNED' | 'FAILED'
    configuration: ResourceDescriptor[]
    passedTests: string[]
    warnedTests: string[]
    failedTests: string[]
  }
}

export function statementOf(
  subject: readonly ResourceDescriptor[],
  predicate: Statement['predicate'],
): Statement {
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...subject],
    predicateType: 'https://in-toto.io/attestation/test-result/v0.1',
    predicate,
  }
}

/** The checks of a claim, with the failures that each may give. Their names are the tests of a statement. */
const CHECKS: Record<string, readonly FailureCode[]> = {
  trailer: ['bad_trailer', 'no_claim'],
  record: ['no_case', 'no_session', 'unreadable'],
  approved: ['not_approved'],
  plan: ['other_plan', 'plan_changed'],
  completed: ['not_complete'],
  sealed: ['not_sealed', 'seal_broken'],
  trail: ['trail_gap', 'trail_changed'],
  proved: ['proof_missing', 'proof_changed'],
  files: ['other_files', 'not_from_session'],
  signature: ['bad_signature', 'unknown_signer', 'unsigned'],
}

/** One statement for each session that a commit names; a session that is not in the record has nothing to describe. */
export function verificationStatements({ commits }: Verification): Statement[] {
  return commits.flatMap(({ commit, claims }) =>
    claims.map(({ text, session, proofs, failures, notes }) => {
      const subject = [{ digest: gitDigest(commit) }]
      const configuration = session ? [...describedSession(session), ...proofs] : []
      const named = session ? '' : ` ${text}`
      const isFailed = (name: string) => isAmong(failures, CHECKS[name]!)
      const names = Object.keys(CHECKS)
      return statementOf(subject, {
        result: failures.length > 0 ? 'FAILED' : notes.length > 0 ? 'WARNED' : 'PASSED',
        configuration,
        passedTests: session
          ? names.filter((name) => !isFailed(name) && (name !== 'signature' || session.signature))
          : [],
        warnedTests: [],
        failedTests: names.filter(isFailed).map((name) => name + named),
      })
    }),
  )
}

function isAmong(failures: readonly Failure[], codes: readonly FailureCode[]): boolean {
  return failures.some(({ code }) => codes.includes(code))
}

/** Git names commits by SHA-1, or by SHA-256 in newer repositories; both are `gitCommit` in in-toto. */
export function gitDigest(commit: string): Record<string, string> {
  return { gitCommit: commit }
}

function beforeAnnotations(before: TestsBefore | null): Record<string, number> {
  if (before === null) return {}
  const { run, failed, compared } = before
  return {
    tests_run_before: run,
    tests_failed_before: failed,
    ...(compared
      ? { tests_fixed: compared.fixed, tests_broken: compared.broken, tests_gone: compared.gone }
      : {}),
  }
}

/** The session file and the approved plan, by their hashes. */
export function describedSession(session: ClaimedSession): ResourceDescriptor[] {
  const { file, file_sha256, plan_sha256, signature } = session
  const described: ResourceDescriptor[] = [
    {
      name: file,
      digest: { sha256: file_sha256 },
      annotations: {
        case_title: session.case_title,
        session: session.number,
        session_id: session.session_id,
        provider: session.provider,
        state: session.state,
        ...(session.completed_at === null ? {} : { completed_at: session.completed_at }),
        ...(session.tests
          ? {
              tests_run: session.tests.run,
              tests_passed: session.tests.passed,
              tests_failed: session.tests.failed,
            }
          : {}),
        ...beforeAnnotations(session.tests_before),
      },
    },
  ]
  if (plan_sha256 !== null) {
    described.push({
      name: `${file}#plan`,
      digest: { sha256: plan_sha256 },
      annotations: {
        ...(session.approved_at === null ? {} : { approved_at: session.approved_at }),
        ...(session.approved_by === null ? {} : { approved_by: session.approved_by }),
        ...(session.approved_via === null ? {} : { approved_via: session.approved_via }),
        signature: signature?.state ?? 'none',
        ...(signature?.signer ? { signer: signature.signer } : {}),
        ...(signature?.key ? { key: signature.key } : {}),
      },
    })
  }
  return described
}
