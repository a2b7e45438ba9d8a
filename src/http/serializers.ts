import { sha256 } from '../markdown/session-file.ts'
import { recordedBase, testsBefore } from '../model/before-run.ts'
import type { CaseContents } from '../model/case-contents.ts'
import { caseJson as buildCaseJson, type CaseJson } from '../model/case-json.ts'
import { countComments } from '../model/comment.ts'
import type { Conversation } from '../model/conversation.ts'
import type { ProofImage } from '../model/picture.ts'
import { planViolation } from '../model/plan-violation.ts'
import { countsAsVerified, type Proof } from '../model/proof.ts'
import { objectionTo } from '../model/proof-objections.ts'
import { refusedActions } from '../model/refused-actions.ts'
import { moreRunsLater, readRunsLater, runsLaterArtifact } from '../model/runs-later.ts'
import { outOfScopeCalls, outOfScopeFiles } from '../model/scope.ts'
import { hasProof, type Session } from '../model/session.ts'
import { sessionDurations, stepsTime } from '../model/session-durations.ts'
import { failureText } from '../model/session-failure.ts'
import { sessionUsage } from '../model/session-usage.ts'
import { lastOf } from '../model/trail.ts'
import { goesOn } from '../platform/processes.ts'
import { commentsOfSession } from '../sessions/comments.ts'
import { textProblems } from '../sessions/file-checks.ts'
import { judgeCandidate } from '../sessions/judge-candidates.ts'
import { signatureBeside, signatureOf } from '../signing/approval-signature.ts'
import type { HttpDeps } from './deps.ts'
import { etagOf } from './etag.ts'
import { endLine, jsonBody } from './json-body.ts'
import { queuePlace } from './queue-json.ts'
import type { ConversationJson } from './schemas/conversation.ts'
import type { ProofHeadJson, ProofJson } from './schemas/proof.ts'
import type { SessionHeadJson, SessionJson } from './schemas/session.ts'
import { shownFolder } from './shown-folder.ts'

const caseJsons = new WeakMap<CaseContents, CaseJson>()

/** The API's JSON of a case, computed once for each state of its files. */
export function caseJson({ catalog }: Pick<HttpDeps, 'catalog'>, contents: CaseContents): CaseJson {
  const known = caseJsons.get(contents)
  if (known) return known
  const json = buildCaseJson(contents, catalog.entry(contents.case.id)?.file.mtimeMs ?? 0)
  caseJsons.set(contents, json)
  return json
}

/** A case as the body of a response, with its ETag. */
export interface CaseBody {
  text: string
  etag: string
}

const bodies = new WeakMap<CaseContents, CaseBody>()

/** A case as the body of a response, serialized once for each state of its files. */
export function caseBody(service: Pick<HttpDeps, 'catalog'>, contents: CaseContents): CaseBody {
  const known = bodies.get(contents)
  if (known) return known
  const { id } = contents.case
  const isCurrent = service.catalog.folder(id) === contents // then the catalog has its JSON
  const text = isCurrent
    ? endLine(service.catalog.json(id)!)
    : jsonBody(caseJson(service, contents))
  const body: CaseBody = {
    text,
    etag: etagOf(text),
  }
  bodies.set(contents, body)
  return body
}

/** The API's JSON of a session. Reads its sections from the file if they have changed. */
export async function serializeSession(
  service: Pick<HttpDeps, 'catalog' | 'layout' | 'texts' | 'plans' | 'sessions' | 'worktrees'>,
  contents: CaseContents,
  session: Session,
): Promise<SessionJson> {
  const file = `sessions/${session.number}.md`
  const record = service.catalog.entry(session.case_id)?.sessions.get(session.number)
  const texts = record?.value ? await service.texts.session(session.case_id, record) : null
  const { hypothesis = '', plan = '', output = '', candidates = [] } = texts?.value ?? {}
  const usage = sessionUsage(session.trail)
  const comments = await commentsOfSession(service, session)
  const planSha256 = sha256(plan)
  const later = lastOf(session.trail, 'runs_later')?.fields
  return {
    id: session.id,
    case_id: session.case_id,
    number: session.number,
    state: session.state,
    type: session.type,
    hypothesis,
    plan,
    output,
    failure: session.state === 'failed' ? failureText(session) : null,
    diff: session.diff?.file ? session.diff : null,
    tests: session.tests,
    failed_tests: session.failed_tests,
    base: recordedBase(session.trail),
    tests_before: testsBefore(session.trail),
    findings: {
      refused: refusedActions(session.trail),
      runs_later: readRunsLater(later),
      runs_later_more: moreRunsLater(later),
      runs_later_artifact: runsLaterArtifact(later),
      out_of_scope: outOfScopeFiles(session.trail),
      out_of_scope_calls: outOfScopeCalls(session.trail),
      plan_violation: planViolation(session),
    },
    proof_attached: hasProof(session, contents.proofs),
    created_at: session.started_at,
    updated_at: session.trail.at(-1)?.time ?? session.completed_at ?? session.started_at,
    provider: session.provider,
    origin: session.origin ?? 'service',
    isolation: session.isolation ?? null,
    worktree: await service.worktrees.view(session, contents.case.workdir),
    completed_at: session.completed_at,
    durations: { ...sessionDurations(session.trail), steps_ms: stepsTime(session) },
    usage,
    plan_sha256: plan === '' ? null : planSha256,
    queue: queuePlace(service, session.id),
    signature: signatureBeside(planSha256, await signatureOf(service.layout, session), session),
    candidates: candidates.map((candidate) => judgeCandidate(session, candidate)),
    comments: { ...countComments(comments), list: comments },
    problems: [
      ...contents.problems.filter((problem) => problem.file === file),
      ...(texts ? await textProblems(texts, session) : []),
    ],
  }
}

export function withoutTexts({
  hypothesis: _h,
  plan: _p,
  output: _o,
  comments: { list: _l, ...comments },
  ...head
}: SessionJson): SessionHeadJson {
  return { ...head, comments }
}

/** A proof without its content. */
export function serializeProofHead(contents: CaseContents, proof: Proof): ProofHeadJson {
  const objection = objectionTo(proof, contents.sessions)
  return {
    id: proof.id,
    case_id: proof.case_id,
    session_id: proof.session_id,
    type: proof.type,
    verified: countsAsVerified(proof),
    verified_at: proof.verified_at,
    verified_by: proof.verified_by,
    meets: proof.meets,
    tests: proof.tests,
    failed_tests: proof.failed_tests,
    flaky_tests: proof.flaky_tests,
    unread: proof.unread,
    exit_code: proof.exit_code,
    accepted: proof.accepted,
    supports: objection === null,
    why_not: objection?.text ?? null,
    image: proof.image && imageJson(proof, proof.image),
    sha256: proof.sha256,
    created_at: proof.created_at,
    updated_at: proof.verified_at ?? proof.created_at,
  }
}

function imageJson(
  { id, case_id }: Proof,
  { type, width, height, bytes }: ProofImage,
): ProofHeadJson['image'] {
  return {
    type,
    width,
    height,
    bytes,
    url: `/cases/${case_id}/proof/${id}/content`,
  }
}

/** A proof with its content. */
export async function serializeProof(
  service: Pick<HttpDeps, 'catalog' | 'texts'>,
  contents: CaseContents,
  proof: Proof,
): Promise<ProofJson> {
  const record = service.catalog.entry(proof.case_id)?.proofs.get(proof.id)
  const content = record?.value ? await service.texts.proof(proof.case_id, record) : ''
  const { id, case_id, session_id, type, ...others } = serializeProofHead(contents, proof)
  return {
    id,
    case_id,
    session_id,
    type,
    content,
    ...others,
  }
}

/** The API's JSON of a conversation with an agent in a terminal. */
export function serializeConversation(
  { layout: { root }, conversations }: Pick<HttpDeps, 'layout' | 'conversations'>,
  found: Conversation,
): ConversationJson {
  const { pid, process_start, transcript, message, approved, told_case_id, is_put_off, ...shown } =
    found
  // an agent that is killed does not report its end
  const isGone = pid !== null && process_start !== null && !goesOn(pid, process_start)
  const is_running = found.agent_session !== null && found.ended_at === null && !isGone
  return {
    ...shown,
    folder: shownFolder(root, found.folder),
    // without a case nothing is denied
    is_gated: found.is_gated && found.case_id !== null,
    needs_case: conversations.isDone(found),
    is_running,
  }
}
