/** Collects what a report of a case shows, within limits. */

import { AppError } from '../model/app-error.ts'
import type { CaseContents } from '../model/case-contents.ts'
import type { HistoryEntry } from '../model/history.ts'
import { MAX_PICTURE_BYTES } from '../model/picture.ts'
import { countsAsVerified, type Proof } from '../model/proof.ts'
import { acceptedDespite, objectionTo } from '../model/proof-objections.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import { standingApproval } from '../model/trail.ts'
import { workStepsOf } from '../model/trail-steps.ts'
import { ansiLines } from '../rendering/ansi/lines.ts'
import { type Patch, readPatch } from '../rendering/diff/patch.ts'
import { isArtifactOf, readArtifact } from '../runners/output/artifacts.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import type { Texts } from '../workspace/long-texts.ts'

export interface ReportDeps {
  layout: Layout
  catalog: Catalog
  texts: Texts
}

export interface CaseReport {
  contents: CaseContents
  /** Oldest first, as all that follows. */
  history: readonly HistoryEntry[]
  sessions: SessionReport[]
  proofs: ProofReport[]
  /** How many older ones are left out. */
  leftOut: { history: number; sessions: number; proofs: number }
  madeAt: string
}

export interface SessionReport {
  session: Session
  hypothesis: string
  plan: string
  /** Who approved the plan; null if it was not approved. */
  approved: { at: string; who: string | null; sha256: string | null } | null
  steps: StepReport[]
  output: string
  patch: Patch | null
}

export interface StepReport {
  id: string
  end: string
  durationMs: number | null
}

export interface ProofReport {
  proof: Proof
  verified: boolean
  /** Why it does not count; null if it supports its claim. */
  objection: string | null
  acceptedDespite: string | null
  /** The number of its session. */
  session: number | null
  content: string
  /** Null for a text, and for a picture that is missing or does not fit in the report. */
  picture: Uint8Array | null
}

const MAX_HISTORY = 500
const MAX_SESSIONS = 50
const MAX_PROOFS = 100
const MAX_TEXT = 64 * 1024
const MAX_CONTENT = 16 * 1024
/** Of all pictures together. */
const MAX_PICTURES = 2 * MAX_PICTURE_BYTES
const MAX_PATCH = 2 * 1024 * 1024

export async function loadReport(
  deps: ReportDeps,
  contents: CaseContents,
  { history, madeAt }: { history: readonly HistoryEntry[]; madeAt: string },
): Promise<CaseReport> {
  const sessions: SessionReport[] = []
  for (const session of contents.sessions.slice(-MAX_SESSIONS)) {
    sessions.push(await loadSession(deps, session, history))
  }
  return {
    contents,
    history: history.slice(-MAX_HISTORY),
    sessions,
    proofs: await loadProofs(deps, contents),
    leftOut: {
      history: Math.max(0, history.length - MAX_HISTORY),
      sessions: Math.max(0, contents.sessions.length - MAX_SESSIONS),
      proofs: Math.max(0, contents.proofs.length - MAX_PROOFS),
    },
    madeAt,
  }
}

export async function loadSession(
  { layout, catalog, texts }: ReportDeps,
  session: Session,
  history: readonly HistoryEntry[],
): Promise<SessionReport> {
  const { case_id, number, trail } = session
  const record = catalog.entry(case_id)?.sessions.get(number)
  const reading = record?.value ? await texts.session(case_id, record) : null
  const sections: Partial<SessionTexts> = reading?.value ?? {}
  const approval = standingApproval(trail)
  const entry = history.findLast((each) => each.kind === 'approved' && each.session === number)
  return {
    session,
    hypothesis: cut(sections.hypothesis ?? '', MAX_TEXT),
    plan: cut(sections.plan ?? '', MAX_TEXT),
    approved: approval
      ? {
          at: approval.time,
          who: entry?.who ?? null,
          sha256: session.plan_sha256,
        }
      : null,
    steps: stepsOf(session),
    output: cut(plainOutput(sections.output ?? ''), MAX_CONTENT),
    patch: await loadPatch(layout, session, sections.candidates ?? []),
  }
}

function stepsOf({ number, trail }: Session): StepReport[] {
  return workStepsOf(number, trail).map(({ id, finished }) => {
    if (!finished) return { id, end: 'not finished', durationMs: null }
    const { exit, signal, timed_out, start_error, duration_ms } = finished.fields
    const end = start_error
      ? `could not start: ${String(start_error)}`
      : timed_out
        ? 'timed out'
        : exit === null
          ? `stopped${signal ? ` (${String(signal)})` : ''}`
          : `exit ${String(exit)}`
    return { id, end, durationMs: typeof duration_ms === 'number' ? duration_ms : null }
  })
}

async function loadPatch(
  layout: Layout,
  { case_id, number }: Session,
  candidates: SessionTexts['candidates'],
): Promise<Patch | null> {
  const found = candidates.findLast(
    ({ artifact }) =>
      isArtifactOf(artifact, number) && /^\d+-changes(-\d+)?\.patch$/.test(artifact),
  )
  if (!found) return null
  try {
    const text = await readArtifact(layout, case_id, found.artifact, MAX_PATCH, true)
    return text === null ? null : readPatch(text)
  } catch (error) {
    if (error instanceof AppError) return null // it is too large, or not the file that the service wrote
    throw error
  }
}

async function loadProofs(
  { catalog, texts }: ReportDeps,
  contents: CaseContents,
): Promise<ProofReport[]> {
  const reports: ProofReport[] = []
  let pictureBytes = 0
  // the newest first, so that they get the room for pictures
  for (const proof of contents.proofs.slice(-MAX_PROOFS).reverse()) {
    const record = catalog.entry(proof.case_id)?.proofs.get(proof.id)
    const content = record?.value ? await texts.proof(proof.case_id, record) : ''
    const picture = await pictureOf(texts, proof, MAX_PICTURES - pictureBytes)
    pictureBytes += picture?.byteLength ?? 0
    reports.push({
      proof,
      verified: countsAsVerified(proof),
      objection: objectionTo(proof, contents.sessions)?.text ?? null,
      acceptedDespite: acceptedDespite(proof, contents.sessions),
      session: contents.sessions.find(({ id }) => id === proof.session_id)?.number ?? null,
      content: proof.image ? content : cut(plainOutput(content), MAX_CONTENT),
      picture,
    })
  }
  return reports.reverse()
}

async function pictureOf(texts: Texts, proof: Proof, room: number): Promise<Uint8Array | null> {
  if (!proof.image || proof.image.bytes > room) return null
  try {
    const bytes = await texts.picture(proof.case_id, proof.image)
    return bytes.byteLength > room ? null : bytes
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

/** Without the codes for colours. */
function plainOutput(text: string): string {
  if (!text.includes('\x1b')) return text
  return ansiLines(text)
    .map(({ runs }) => runs.map((run) => run.text).join(''))
    .join('\n')
}

function cut(text: string, limit: number): string {
  if (text.length <= limit) return text
  const left = text.length - limit
  return `${text.slice(0, limit).toWellFormed()}\n… ${left} more characters are left out.`
}
