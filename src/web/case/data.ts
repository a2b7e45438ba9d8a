import { caseHistory } from '../../http/case-history.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { queuePlace } from '../../http/queue-json.ts'
import { caseJson } from '../../http/serializers.ts'
import type { CaseSetup } from '../../init/setup.ts'
import { AppError } from '../../model/app-error.ts'
import { type Attention, attentionOf, isClosed } from '../../model/attention.ts'
import { type CaseFolder, gateOf } from '../../model/case-folder.ts'
import type { CaseJson } from '../../model/case-json.ts'
import type { Gate } from '../../model/gate.ts'
import type { HistoryEntry } from '../../model/history.ts'
import { isBreaking, type Problem } from '../../model/problem.ts'
import type { Session } from '../../model/session.ts'
import { unansweredFailure } from '../../model/session-failure.ts'
import { isOver } from '../../model/session-state.ts'
import { type Isolation, OWN_PROVIDER } from '../../model/settings.ts'
import { type ResolvedCase, similarResolvedCases } from '../../sessions/context.ts'
import {
  type StartObjections,
  startObjection,
  startObjections,
} from '../../sessions/start-checks.ts'
import { listMemory, type MemoryListing } from '../../workspace/memory-list.ts'
import { unappliedText } from '../../worktrees/worktree-words.ts'
import type { PageDeps } from '../deps.ts'
import { placeText } from '../list/row-facts.ts'
import { type CandidateRow, listCandidates, loadCandidates } from '../proof/candidates.ts'
import { loadProofRows, type ProofRow } from '../proof/data.ts'
import { type ProviderChoice, providerChoices, titleOfProvider } from '../shell/provider-select.tsx'

/** Everything that the page of a case shows, read once. */
export interface CasePageData {
  id: string
  json: CaseJson
  /** Of the JSON of `GET /cases/:id`: changes are sent with it as If-Match. */
  etag: string
  folder: CaseFolder
  gate: Gate
  attention: Attention | null
  /** Why case.md can't be read, and so not be changed here; null if it can. */
  broken: Problem | null
  /** The case folder on the disk. */
  path: string
  /** Newest first. */
  sessions: Session[]
  /** Of the newest sessions. */
  candidates: CandidateRow[]
  /** Newest first. */
  proofs: ProofRow[]
  files: MemoryListing[]
  /** Oldest first. */
  history: HistoryEntry[]
  parent: RelatedCase | null
  children: RelatedCase[]
  providers: ProviderChoice[]
  /** What a new session runs with if nothing is chosen. */
  provider: string
  /** What people call it; null for the runbook. */
  providerTitle: string | null
  /** How that agent is used in the terminal where its hooks are installed; null without hooks, or for a later session. */
  terminal: { isCurrent: boolean } | null
  /** Whether it is known which agents are installed. */
  areKnown: boolean
  /** What a session without an agent would plan with; null if its working folder can't be used. */
  runbook: RunbookSetup | null
  /** The newest session if it failed and nothing came after it, unless the case is closed. */
  failedSession: Session | null
  /** Why that session can't be planned again; null if it can. */
  againObjection: string | null
  /** What keeps a new session from starting. */
  objections: StartObjections
  /** The session that waits in line, if it is what the case does now, and its place. */
  inLine: { number: number; text: string } | null
  /** As casefile.md says. */
  isolation: Isolation
  /** Isolated sessions whose work the working folder does not have, newest first. */
  unapplied: UnappliedWork[]
}

export interface UnappliedWork {
  number: number
  text: string
}

export interface RelatedCase {
  id: string
  title: string
  /** Null if there is no such case. */
  state: string | null
}

export async function loadCasePage(
  { service, setup }: Pick<PageDeps, 'service' | 'setup'>,
  folder: CaseFolder,
): Promise<CasePageData> {
  const { id } = folder.case
  const json = caseJson(service, folder)
  const sessions = [...folder.sessions].reverse()
  const settings = await service.settings()
  const startContext = { root: service.layout.root, workdir: folder.case.workdir, settings }
  const agents = setup.last()?.agents ?? null
  const objections = await startObjections(startContext, service.agents)
  const failedSession = isClosed(json.state) ? null : (unansweredFailure(folder) ?? null)
  const provider = json.provider ?? settings.provider
  const attention = attentionOf(folder)
  return {
    id,
    json,
    folder,
    sessions,
    terminal: sessions.length === 0 ? await terminalOf(service, id, provider) : null,
    failedSession,
    gate: gateOf(folder),
    attention,
    inLine: inLineNow(service, attention),
    broken: problemOfCaseFile(service, folder),
    etag: etagOf(jsonBody(json)),
    path: service.layout.caseFolder(id),
    candidates: await candidatesOf(service, folder, sessions),
    proofs: await loadProofRows(service, folder),
    history: await caseHistory(service, folder),
    files: sortFiles(await listMemory(service, folder)),
    parent: json.parent === null ? null : relatedCase(service, json.parent),
    children: service.catalog
      .children(id)
      .map((child) => relatedCase(service, child))
      .sort((a, b) => (a.title < b.title ? -1 : 1)),
    providers: providerChoices(settings, agents, objections),
    provider,
    providerTitle: titleOfProvider(provider, settings),
    areKnown: agents !== null,
    runbook: await runbookOf(service, folder),
    againObjection:
      failedSession && (await startObjection(failedSession, startContext, { isRunbook: false })),
    objections,
    isolation: settings.isolation,
    unapplied: await unappliedWork(service, sessions),
  }
}

function inLineNow(service: HttpDeps, attention: Attention | null): CasePageData['inLine'] {
  if (attention?.kind !== 'running' || attention.session_id === null) return null
  const place = queuePlace(service, attention.session_id)
  return place && { number: attention.session!, text: placeText(place) }
}

async function unappliedWork(
  { worktrees, log }: HttpDeps,
  sessions: readonly Session[],
): Promise<UnappliedWork[]> {
  const isolated = sessions.filter(({ isolation }) => isolation === 'worktree')
  const found = await Promise.all(
    isolated.map(async (session) => {
      const worktree = await worktrees.view(session).catch((error: unknown) => {
        log(`the worktree of session ${session.id} cannot be read: ${String(error)}`)
        return null
      })
      const text = unappliedText({ number: session.number, worktree })
      return text === null ? [] : [{ number: session.number, text }]
    }),
  )
  return found.flat()
}

async function terminalOf(
  { setup, conversations, layout }: HttpDeps,
  id: string,
  provider: string,
): Promise<CasePageData['terminal']> {
  if (!(await setup.hasHooks(provider))) return null
  return { isCurrent: (await conversations.currentCase(layout.root)).case_id === id }
}

export type RunbookSetup = Omit<CaseSetup, 'provider'>

async function runbookOf(service: HttpDeps, folder: CaseFolder): Promise<RunbookSetup | null> {
  try {
    return await service.setup.ofCase(folder, OWN_PROVIDER)
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function problemOfCaseFile({ catalog }: Pick<HttpDeps, 'catalog'>, folder: CaseFolder) {
  const file = catalog.entry(folder.case.id)?.file
  if (!file || file.readable) return null
  return file.problems.find(isBreaking) ?? file.problems[0] ?? null
}

const KINDS: MemoryListing['kind'][] = ['case', 'notes', 'session']
const byName = new Intl.Collator('en', { numeric: true })

/** case.md, the notes as people count them (9 before 10), then the sessions, newest first. */
function sortFiles(files: readonly MemoryListing[]): MemoryListing[] {
  return [...files].sort((a, b) => {
    const names = byName.compare(a.filename, b.filename)
    const kinds = KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)
    return kinds || (a.kind === 'session' ? -names : names)
  })
}

/** The candidates of older sessions are on their own pages. */
const MAX_SESSIONS = 5

async function candidatesOf(
  service: HttpDeps,
  folder: CaseFolder,
  sessions: readonly Session[],
): Promise<CandidateRow[]> {
  const rows: CandidateRow[] = []
  for (const session of sessions.filter(({ state }) => isOver(state)).slice(0, MAX_SESSIONS)) {
    const candidates = await listCandidates(service, session)
    rows.push(...(await loadCandidates(service, folder, session, candidates)))
  }
  return rows
}

function relatedCase(service: HttpDeps, id: string): RelatedCase {
  const folder = service.catalog.folder(id)
  if (!folder) return { id, title: id, state: null }
  return { id, title: folder.case.title, state: caseJson(service, folder).state }
}

/** With more cases than this the search index takes a while to build, and a page shouldn't wait for it. */
const FEW_CASES = 300
const MAX_SIMILAR = 3

/** Resolved cases like this one; null if the reader has to ask for them first. None for a closed case. */
export async function loadSimilarCases(
  service: HttpDeps,
  { id, json }: CasePageData,
  isAsked: boolean,
): Promise<ResolvedCase[] | null> {
  if (isClosed(json.state)) return []
  const isQuick = service.catalog.size() <= FEW_CASES || service.search.isReady()
  if (!isAsked && !isQuick) return null
  try {
    return await similarResolvedCases(service, id, MAX_SIMILAR)
  } catch (error) {
    service.log(`the page of case ${id} is without similar cases: ${String(error)}`)
    return null
  }
}
