import { caseHistory } from '../../http/case-history.ts'
import { caseFacts } from '../../http/case-status.ts'
import type { HttpDeps } from '../../http/deps.ts'
import { etagOf } from '../../http/etag.ts'
import { jsonBody } from '../../http/json-body.ts'
import { caseJson } from '../../http/serializers.ts'
import type { CaseSetup } from '../../init/setup.ts'
import { type Attention, attentionOf, isClosedState } from '../../model/attention.ts'
import { type CaseContents, gateOf } from '../../model/case-contents.ts'
import type { CaseJson } from '../../model/case-json.ts'
import { type StartFacts, statusOf } from '../../model/case-status.ts'
import type { Gate } from '../../model/gate.ts'
import type { HistoryEntry } from '../../model/history.ts'
import type { Status } from '../../model/next-act.ts'
import { isBreaking, type Problem } from '../../model/problem.ts'
import type { Session } from '../../model/session.ts'
import type { Isolation } from '../../model/settings.ts'
import { type ResolvedCase, similarResolvedCases } from '../../sessions/context.ts'
import {
  type StartObjections,
  startObjection,
  startObjections,
} from '../../sessions/start-checks.ts'
import { listMemory, type MemoryListing } from '../../workspace/memory-list.ts'
import { loadProofRows, type ProofRow } from '../proof/data.ts'
import { type ProviderChoice, providerChoices } from '../shell/provider-select.tsx'

/** Everything that the page of a case shows, read once. */
export interface CasePageData {
  id: string
  json: CaseJson
  /** Of the JSON of `GET /cases/:id`: changes are sent with it as If-Match. */
  etag: string
  contents: CaseContents
  gate: Gate
  attention: Attention | null
  status: Status
  /** Why case.md can't be read, and so not be changed here; null if it can. */
  broken: Problem | null
  /** The case folder on the disk. */
  path: string
  /** Newest first. */
  sessions: Session[]
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
  /** How a new session would begin. */
  start: StartFacts
  /** Whether it is known which agents are installed. */
  areKnown: boolean
  /** What a session without an agent would plan with; null if its working folder can't be used. */
  runbook: RunbookSetup | null
  /** Why the newest session can't be planned again; null if it can, or if that doesn't come next. */
  againObjection: string | null
  /** What keeps a new session from starting. */
  objections: StartObjections
  /** The session that waits in line, if it is what the case does now. */
  inLine: { number: number } | null
  /** As casefile.md says. */
  isolation: Isolation
}

export interface RelatedCase {
  id: string
  title: string
  /** Null if there is no such case. */
  state: string | null
}

export async function loadCasePage(
  service: HttpDeps,
  contents: CaseContents,
): Promise<CasePageData> {
  const { id } = contents.case
  const json = caseJson(service, contents)
  const sessions = [...contents.sessions].reverse()
  const settings = await service.settings()
  const startContext = { root: service.layout.root, workdir: contents.case.workdir, settings }
  const agents = service.setup.lastAgents()
  const objections = await startObjections(startContext, service.agents)
  const provider = json.provider ?? settings.provider
  const facts = await caseFacts(service, contents)
  const status = statusOf(contents, facts)
  const isAgain = status.next?.act === 'plan_again'
  return {
    id,
    json,
    contents,
    sessions,
    gate: gateOf(contents),
    attention: attentionOf(contents),
    status,
    inLine: facts.queue && { number: status.session! },
    broken: problemOfCaseFile(service, contents),
    etag: etagOf(jsonBody(json)),
    path: service.layout.caseFolder(id),
    proofs: await loadProofRows(service, contents),
    history: await caseHistory(service, contents),
    files: sortFiles(await listMemory(service, contents)),
    parent: json.parent === null ? null : relatedCase(service, json.parent),
    children: service.catalog
      .children(id)
      .map((child) => relatedCase(service, child))
      .sort((a, b) => (a.title < b.title ? -1 : 1)),
    providers: providerChoices(settings, agents, objections),
    provider,
    areKnown: agents !== null,
    start: facts.start,
    runbook: facts.runbook,
    againObjection: isAgain
      ? await startObjection(sessions[0]!, startContext, { isRunbook: false })
      : null,
    objections,
    isolation: settings.isolation,
  }
}

export type RunbookSetup = Omit<CaseSetup, 'provider'>

function problemOfCaseFile({ catalog }: Pick<HttpDeps, 'catalog'>, contents: CaseContents) {
  const file = catalog.entry(contents.case.id)?.file
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

function relatedCase(service: HttpDeps, id: string): RelatedCase {
  const contents = service.catalog.folder(id)
  if (!contents) return { id, title: id, state: null }
  return { id, title: contents.case.title, state: caseJson(service, contents).state }
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
  if (isClosedState(json.state)) return []
  const isQuick = service.catalog.size() <= FEW_CASES || service.search.isReady()
  if (!isAsked && !isQuick) return null
  try {
    return await similarResolvedCases(service, id, MAX_SIMILAR)
  } catch (error) {
    service.log(`the page of case ${id} is without similar cases: ${String(error)}`)
    return null
  }
}
