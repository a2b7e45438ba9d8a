import { readPlan } from '../markdown/plan-steps.ts'
import { type CaseContents, gateOf } from '../model/case-contents.ts'
import type { PlanStep } from '../model/plan-step.ts'
import { countsAsVerified, type Proof } from '../model/proof.ts'
import { acceptedDespite } from '../model/proof-objections.ts'
import { outOfScopeText } from '../model/scope.ts'
import type { Session } from '../model/session.ts'
import { type TrailStep, workStepsOf } from '../model/trail-steps.ts'
import { approvedHash, isProved } from './claim.ts'
import { fileName, type ReadContext, type ReadSession, readSession } from './read-session.ts'
import type { ResourceDescriptor } from './result.ts'
import { describedSession, gitDigest, type Statement, statementOf } from './statement.ts'

/**
 * What a sealed session proved, about the commits that name it; without commits, about its own file. Null if its file
 * cannot be read.
 */
export async function sessionStatement(
  contents: CaseContents,
  session: Session,
  commits: readonly string[],
  context: ReadContext,
): Promise<Statement | null> {
  const record = await readSession(contents, session, context)
  if (!record) return null
  const { described } = record
  const tests = await collectTests(contents, session, record)
  const ownFile = { name: described.file, digest: { sha256: described.file_sha256 } }
  const subject =
    commits.length > 0 ? commits.map((commit) => ({ digest: gitDigest(commit) })) : [ownFile]
  return statementOf(subject, {
    result: resultOf(contents, session, tests),
    configuration: [...describedSession(described), ...describedProofs(contents, context)],
    passedTests: unique(tests.passed),
    warnedTests: unique(tests.warned),
    failedTests: unique(tests.failed),
  })
}

interface Tests {
  passed: string[]
  warned: string[]
  failed: string[]
}

/** By kind and name: `step`, `test` (only failed tests are recorded by name), `checklist`, and what Casefile checks. */
async function collectTests(
  contents: CaseContents,
  session: Session,
  { plan, changed, described }: ReadSession,
): Promise<Tests> {
  const tests: Tests = { passed: [], warned: [], failed: [] }
  const planned = new Map((await readPlan(plan)).steps.map((step) => [step.id, step]))
  const steps = approvedHash(session) === null ? [] : workStepsOf(session.number, session.trail)
  for (const step of steps) {
    tests[stepResult(step, planned.get(step.id))].push(`step: ${step.id}`)
  }
  for (const { name } of session.failed_tests) tests.failed.push(`test: ${name}`)
  const gate = gateOf(contents)
  for (const { description, required, satisfied_by } of gate.items) {
    if (satisfied_by !== null) tests.passed.push(`checklist: ${description}`)
    else if (required) tests.warned.push(`checklist: ${description}`)
  }
  tests[session.state === 'complete' ? 'passed' : 'failed'].push('completed')
  tests[changed.length === 0 ? 'passed' : 'failed'].push('sealed')
  tests[gate.open ? 'passed' : 'warned'].push('proved')
  if (described.signature) {
    const { state } = described.signature
    const result = state === 'valid' ? 'passed' : state === 'invalid' ? 'failed' : 'warned'
    tests[result].push('signature')
  }
  return tests
}

function stepResult({ finished }: TrailStep, planned: PlanStep | undefined): keyof Tests {
  if (!finished) return 'failed'
  const { exit, timed_out, ended_by_service, start_error } = finished.fields
  const isExpected = typeof exit === 'number' && (planned?.expect ?? [0]).includes(exit)
  if (isExpected && !timed_out && !ended_by_service && !start_error) return 'passed'
  return planned?.continue ? 'warned' : 'failed'
}

/** A step that failed in a run that completed is a warning: its report, if it has one, decides. */
function resultOf(
  contents: CaseContents,
  session: Session,
  { failed, warned }: Tests,
): Statement['predicate']['result'] {
  const isFailed = failed.some((name) => !name.startsWith('step: '))
  if (isFailed || (session.tests?.failed ?? 0) > 0) return 'FAILED'
  const isNoted =
    failed.length + warned.length > 0 ||
    !isProved(session, contents) ||
    outOfScopeText(session.trail) !== '' ||
    contents.proofs.some(
      (proof) =>
        proof.session_id === session.id && acceptedDespite(proof, contents.sessions) !== null,
    )
  return isNoted ? 'WARNED' : 'PASSED'
}

/** The proofs of a case, each by the hash of its content, or of its picture. */
export function describedProofs(
  contents: CaseContents,
  context: ReadContext,
): ResourceDescriptor[] {
  return contents.proofs.map((proof) => describedProof(proof, contents, context))
}

function describedProof(
  proof: Proof,
  { sessions }: CaseContents,
  { snapshot: { layout }, top }: ReadContext,
): ResourceDescriptor {
  const { id, case_id, type, sha256, accepted, image, session_id } = proof
  const path = image ? layout.picture(case_id, image.name) : layout.proofFile(case_id, id)
  const name = fileName(path, top, layout.memoryRoot)
  const session = sessions.find((each) => each.id === session_id)
  return {
    name: image ? name : `${name}#content`,
    digest: { sha256 },
    annotations: {
      type,
      verified: countsAsVerified(proof),
      ...(accepted === null ? {} : { accepted }),
      ...(session ? { session: session.number } : {}),
    },
  }
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.toWellFormed()))]
}
