import type { MemoryFileJson } from '../../http/schemas/memory.ts'
import type { ProofHeadJson, ProofJson } from '../../http/schemas/proof.ts'
import type { SessionHeadJson, SessionJson } from '../../http/schemas/session.ts'
import { usageTotal } from '../../model/usage.ts'
import { partOf, withCutTexts } from './truncate.ts'
import { memoryUri, proofUri, sessionUri } from './uris.ts'

/** A session in a list, without its texts. */
export function sessionRow(session: SessionHeadJson) {
  const { id, case_id, number, state, type, provider, proof_attached, tests, diff } = session
  const { created_at, updated_at, completed_at, plan_sha256, usage, problems } = session
  return {
    id,
    number,
    state,
    type,
    provider,
    started_at: created_at,
    updated_at,
    completed_at,

    plan_sha256,
    proof_attached,
    tests,
    diff,
    problems: problems.length,
    usage_total: usageTotal(usage),
    uri: sessionUri(case_id, id),
  }
}

/** A session, with long texts shortened. Its comments have their own tool, which leaves drafts out. */
export function sessionView(session: SessionJson) {
  const { case_id, id, number } = session
  const { list: _, ...comments } = session.comments
  const shown = withCutTexts(
    { ...session, comments },
    ['hypothesis', 'plan', 'output'],
    () => `Read the memory file ${number}.md for the whole text.`,
  )
  return { ...shown, uri: sessionUri(case_id, id), file: memoryUri(case_id, `${number}.md`) }
}

/** A proof in a list, without its content. */
export function proofRow(proof: ProofHeadJson) {
  return { ...proof, uri: proofUri(proof.case_id, proof.id) }
}

/** A proof with a part of its content. */
export function proofView(proof: ProofJson, offset?: number, limit?: number) {
  const { text, ...range } = partOf(proof.content, offset, limit)
  return { ...proofRow(proof), content: text, ...range }
}

export function memoryRow(caseId: string, file: MemoryFileJson) {
  return { ...file, uri: memoryUri(caseId, file.filename) }
}
