import { sha256 } from '../markdown/session-file.ts'
import { type CaseFolder, shownState } from '../model/case-folder.ts'
import type { Problem } from '../model/problem.ts'
import type { Proof } from '../model/proof.ts'
import { hasProof, type Session } from '../model/session.ts'
import { textProblems } from '../sessions/text-problems.ts'
import type { HttpNeeds } from './needs.ts'

/** The shapes of answers (design §4). Key order is that of the design. */
export interface CaseJson {
  id: string
  title: string
  type: string
  description: string
  state: string
  outcome: string | null
  tags: string[]
  parent: string | null
  reason: string | null
  workdir: string | null
  provider: string | null
  created_at: string
  updated_at: string
  problems: Problem[]
}

const shown = new WeakMap<CaseFolder, CaseJson>()

/** A case; computed once for each state of its files. */
export function caseJson({ catalog }: Pick<HttpNeeds, 'catalog'>, folder: CaseFolder): CaseJson {
  const known = shown.get(folder)
  if (known) return known
  const { checklist: _, description, ...fields } = folder.case
  const mtimeMs = catalog.entry(folder.case.id)?.file.mtimeMs ?? 0
  const json: CaseJson = {
    id: fields.id,
    title: fields.title,
    type: fields.type,
    description,
    state: shownState(folder),
    outcome: fields.outcome,
    tags: fields.tags,
    parent: fields.parent,
    reason: fields.reason,
    workdir: fields.workdir,
    provider: fields.provider,
    created_at: fields.created_at,
    updated_at: laterOf(new Date(mtimeMs).toISOString(), fields.created_at),
    problems: folder.problems,
  }
  shown.set(folder, json)
  return json
}

/** The kernel's clock for files may lag a tick behind ours: nothing is updated before it was made. */
function laterOf(a: string, b: string): string {
  return a > b ? a : b
}

/** A session with its sections, which are read now if they have changed. */
export async function sessionJson(service: HttpNeeds, folder: CaseFolder, session: Session) {
  const file = `sessions/${session.number}.md`
  const record = service.catalog.entry(session.case_id)?.sessions.get(session.number)
  const texts = record?.value ? await service.texts.session(session.case_id, record) : null
  const { hypothesis = '', plan = '', output = '', candidates = [] } = texts?.value ?? {}
  return {
    id: session.id,
    case_id: session.case_id,
    number: session.number,
    state: session.state,
    type: session.type,
    hypothesis,
    plan,
    output,
    diff: session.diff,
    tests: session.tests,
    proof_attached: hasProof(session, folder.proofs),
    created_at: session.started_at,
    updated_at: session.trail.at(-1)?.time ?? session.completed_at ?? session.started_at,
    provider: session.provider,
    started_at: session.started_at,
    completed_at: session.completed_at,
    plan_sha256: plan === '' ? null : sha256(plan),
    candidates,
    problems: [
      ...folder.problems.filter((problem) => problem.file === file),
      ...(texts ? await textProblems(texts, session) : []),
    ],
  }
}

export async function proofJson(service: HttpNeeds, proof: Proof) {
  const record = service.catalog.entry(proof.case_id)?.proofs.get(proof.id)
  return {
    id: proof.id,
    case_id: proof.case_id,
    session_id: proof.session_id,
    type: proof.type,
    content: record?.value ? await service.texts.proof(proof.case_id, record) : '',
    verified: proof.verified && proof.intact,
    verified_at: proof.verified_at,
    sha256: proof.sha256,
    created_at: proof.created_at,
    updated_at: proof.verified_at ?? proof.created_at,
  }
}
