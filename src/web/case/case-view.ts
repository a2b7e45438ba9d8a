import { caseHistory } from '../../http/case-history.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { caseJson } from '../../http/serializers.ts'
import { isClosed } from '../../model/attention.ts'
import { type CaseFolder, gateOf } from '../../model/case-folder.ts'
import type { CaseJson } from '../../model/case-json.ts'
import type { Gate } from '../../model/gate.ts'
import type { HistoryEntry } from '../../model/history.ts'
import type { Problem } from '../../model/problem.ts'
import type { Candidate, Session } from '../../model/session.ts'
import { unansweredFailure } from '../../model/session-failure.ts'
import { isOver } from '../../model/session-state.ts'
import { type StartObjections, startObjection, startObjections } from '../../sessions/objections.ts'
import { listProviders } from '../../sessions/providers.ts'
import { listMemory, type MemoryListing } from '../../workspace/memory-files.ts'
import { type ProofView, proofViews } from './proof-view.ts'
import { brokenCase } from './record-file.ts'

/** All that the page of a case shows, read once. */
export interface CaseView {
  id: string
  json: CaseJson
  /** Of the JSON that `GET /cases/:id` answers: what a change of what is shown is held to. */
  etag: string
  folder: CaseFolder
  gate: Gate
  /** Why case.md cannot be read, and so not be changed here; null where it can. */
  broken: Problem | null
  path: string
  /** Newest first. */
  sessions: Session[]
  candidates: SessionCandidates[]
  proofs: ProofView[]
  files: MemoryListing[]
  /** Oldest first. */
  history: HistoryEntry[]
  parent: CaseName | null
  children: CaseName[]
  providers: ProviderChoice[]
  /** What a new session runs with if nothing is chosen. */
  provider: string
  /** The newest session, where it failed and nothing came after it, unless the case is closed. */
  unanswered: Session | null
  /** Why planning that one again would be refused; null if it would not. */
  againObjection: string | null
  /** What keeps a new session from starting. */
  objections: StartObjections
}

export interface SessionCandidates {
  session: Session
  candidates: Candidate[]
}

export interface CaseName {
  id: string
  title: string
  /** Null where there is no such case. */
  state: string | null
}

export interface ProviderChoice {
  id: string
  title: string
  trusted: boolean
}

export async function caseView(service: HttpDeps, folder: CaseFolder): Promise<CaseView> {
  const { id } = folder.case
  const json = caseJson(service, folder)
  const sessions = [...folder.sessions].reverse()
  const settings = await service.settings()
  const place = { root: service.layout.root, workdir: folder.case.workdir, settings }
  const unanswered = isClosed(json.state) ? null : (unansweredFailure(folder) ?? null)
  return {
    ...{ id, json, folder, sessions, gate: gateOf(folder) },
    broken: brokenCase(service, folder),
    etag: etagOf(jsonBody(json)),
    path: service.layout.caseFolder(id),
    candidates: await candidatesOf(service, sessions),
    proofs: await proofViews(service, folder),
    history: await caseHistory(service, folder),
    files: inOrder(await listMemory(service.layout, folder)),
    parent: json.parent === null ? null : nameOf(service, json.parent),
    children: childrenOf(service, id),
    providers: listProviders(settings).map(({ id, spec, trusted }) => ({
      ...{ id, title: spec?.title ?? 'Runbook: Casefile runs the steps itself', trusted },
    })),
    provider: json.provider ?? settings.provider,
    unanswered,
    againObjection:
      unanswered && (await startObjection(unanswered.provider, place, { isRunbook: false })),
    objections: await startObjections(place, service.agents),
  }
}

const KINDS: MemoryListing['kind'][] = ['case', 'notes', 'session']
const byName = new Intl.Collator('en', { numeric: true })

/** case.md, the notes as people count them (9 before 10), the sessions with the newest first. */
function inOrder(files: readonly MemoryListing[]): MemoryListing[] {
  return [...files].sort((a, b) => {
    const names = byName.compare(a.filename, b.filename)
    const kinds = KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)
    return kinds || (a.kind === 'session' ? -names : names)
  })
}

/** Further back, what a session offers is on its own page. */
const MOST_SESSIONS = 5

async function candidatesOf(
  { catalog, texts }: HttpDeps,
  sessions: readonly Session[],
): Promise<SessionCandidates[]> {
  const found: SessionCandidates[] = []
  for (const session of sessions.filter(({ state }) => isOver(state)).slice(0, MOST_SESSIONS)) {
    const record = catalog.entry(session.case_id)?.sessions.get(session.number)
    const reading = record?.value ? await texts.session(session.case_id, record) : null
    const candidates = reading?.value?.candidates ?? []
    if (candidates.length > 0) found.push({ session, candidates })
  }
  return found
}

function childrenOf(service: HttpDeps, id: string): CaseName[] {
  return service.catalog
    .children(id)
    .map((each) => nameOf(service, each))
    .sort((a, b) => (a.title < b.title ? -1 : 1))
}

function nameOf(service: HttpDeps, id: string): CaseName {
  const folder = service.catalog.folder(id)
  if (!folder) return { id, title: id, state: null }
  return { id, title: folder.case.title, state: caseJson(service, folder).state }
}
