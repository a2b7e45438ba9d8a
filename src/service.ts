import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Bus, createBus } from './events/bus.ts'
import type { SessionOutput } from './events/envelope.ts'
import { createEventLog } from './events/event-log.ts'
import { createPublishedFacts } from './events/published-facts.ts'
import { type Compared, createPublisher } from './events/publisher.ts'
import { publishWorkspaceProblems } from './events/workspace-problems.ts'
import { createKeyedMutex } from './files/keyed-mutex.ts'
import { emptyTrash } from './files/remove-folder.ts'
import type { HttpNeeds } from './http/needs.ts'
import { useParser } from './markdown/parser-pool.ts'
import type { Maker } from './model/case-facts.ts'
import { stoppingRefusal } from './model/refusal.ts'
import type { Session } from './model/session.ts'
import { createSearch } from './search/search.ts'
import type { ServiceOptions } from './service-options.ts'
import { agentFileProblems, installedReaders } from './sessions/agent-files.ts'
import { createHandActs } from './sessions/hand-acts.ts'
import { createHolds, type Holds } from './sessions/holds.ts'
import { redactedUpdates } from './sessions/redacted-updates.ts'
import { createRedactor, type Redactor } from './sessions/redaction.ts'
import { createSessionParts } from './sessions/session-parts.ts'
import type { Sessions } from './sessions/sessions.ts'
import { createBaselineStore } from './state/baselines.ts'
import { openCaseRows } from './state/cases.ts'
import { type Database, openDatabase } from './state/database.ts'
import { takeOwnership } from './state/owner/ownership.ts'
import { createUndoStack, type UndoStack } from './stopping.ts'
import { trustAtStart } from './trust/at-start.ts'
import { type OpenWebhooks, openWebhooks } from './webhooks/open-webhooks.ts'
import type { Change } from './workspace/case-entry.ts'
import { createCatalog } from './workspace/catalog.ts'
import { createGitActivity, type GitActivity } from './workspace/git/git-activity.ts'
import { isInGit } from './workspace/git/git-contents.ts'
import { createGitDeletions } from './workspace/git/git-deletions.ts'
import { createGitIgnoring } from './workspace/git/git-ignoring.ts'
import { openHistoryJournal } from './workspace/history-journal.ts'
import { createIndexFile } from './workspace/index-file.ts'
import { layoutOf } from './workspace/layout.ts'
import { clearLeftovers } from './workspace/leftovers.ts'
import { createOperatorName } from './workspace/operator-name.ts'
import { openPlaces } from './workspace/settings/places.ts'
import { createStoredCases, storedFormat } from './workspace/stored-cases.ts'
import type { Synchronizer } from './workspace/sync/synchronizer.ts'
import { createWorkspaceParts } from './workspace/workspace-parts.ts'

/** The parts put together. */
export interface Service extends HttpNeeds {
  database: Database
  changes: Bus<Change>
  outputs: Bus<SessionOutput>
  git: GitActivity
  synchronizer: Synchronizer
  holds: Holds
  webhooks: OpenWebhooks
  /** Resolves when the watcher is ready. */
  watched: Promise<void>
  /** Where it answers: told to a second process that asks who the owner is. Webhooks are sent from now on. */
  listening(at: { url: string; port: number }): void
  close(): Promise<void>
}

/**
 * Opens a workspace: takes ownership, clears what a service that died left, reads the files, ends
 * the sessions that died with it. What was opened is closed in reverse, by `close` or where opening fails.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const redactor = createRedactor(options.environment ?? process.env)
  const print = options.log ?? ((line) => console.error(`casefile: ${line}`)) // which bears a full disk
  const log = (line: string) => print(redactor.text(line)) // it may quote what a program said
  const undo = createUndoStack()
  try {
    return await open(options, undo, redactor, log)
  } catch (error) {
    await undo.close().catch((failure: unknown) => {
      log(`the service did not open, and not all of it was closed: ${String(failure)}`)
    })
    throw error
  }
}

async function open(
  options: ServiceOptions,
  undo: UndoStack,
  redactor: Redactor,
  log: (line: string) => void,
): Promise<Service> {
  const environment = options.environment ?? process.env
  const now = () => (options.now?.() ?? new Date()).toISOString()
  const newId = options.newId ?? randomUUID
  const places = await openPlaces(options, environment, log)
  const { root, memoryRoot, state, settings } = places
  const kind = options.short ? { short: true } : {}
  let facts: Record<string, unknown> = kind
  const ownership = await takeOwnership({ memoryRoot, stateDir: state.root, describe: () => facts })
  undo.add(ownership.release)
  undo.add(useParser())
  const layout = layoutOf(root, memoryRoot)
  const mutex = createKeyedMutex()
  const onError = (error: unknown) => log(`a listener failed: ${String(error)}`)
  const changes = createBus<Change>(onError)
  const outputs = createBus<SessionOutput>(onError)
  let sessions: Sessions | null = null
  let closed = false
  const isHeld = (id: string) => sessions?.isRunning(id) ?? false
  const build = options.build ?? { version: '0.0.0', commit: null }
  const database = await openDatabase(state.root, log, now)
  undo.add(() => database.close())
  const eventLog = createEventLog(database, { log })
  const published = createPublishedFacts(database)
  const stored = createStoredCases(openCaseRows(database, storedFormat(build.version)))
  const catalog = createCatalog({ isHeld, pins: (id) => holds.pins(id), stored })
  const git = createGitActivity(memoryRoot, log)
  const operator = createOperatorName(root, log)
  const history = openHistoryJournal(state.history, layout.caseFolder, log)
  undo.add(() => history.close())
  const { ensure } = createGitIgnoring(memoryRoot)
  const whyNot = async () =>
    ownership.lost.aborted ? `index.md is not written: ${ownership.lost.reason.message}` : ensure()
  const index = createIndexFile({ layout, catalog, log, whyNot })
  const search = createSearch({
    ...{ layout, catalog, log, file: join(state.search, 'index'), version: build.version },
  })
  undo.add(
    () => index.close(),
    () => search.close(),
  )
  const webhooks = await openWebhooks({
    ...{ folder: state.webhooks, eventLog, now, newId, log, version: build.version },
    ...options.webhookParts,
  })
  undo.add(() => webhooks.close())
  const compared = createBus<Compared>(onError)
  const publisher = createPublisher({ catalog, log: eventLog, facts: published, now, compared })
  let hasBegun = false
  /** Cases in which something may have been asked for by hand while no service ran. */
  const unanswered = new Set<string>()
  eventLog.subscribe(() => index.changed())

  /** The one place that every change of the files comes through (architecture.md). */
  function publish(caseId: string, found: Change[], maker: Maker, wrote?: readonly string[]): void {
    for (const change of found) changes.publish(change)
    if (maker === 'hand') handActs.saw(caseId, found)
    holds.look(caseId)
    publisher.changed(caseId, maker, wrote)
    if (hasBegun) {
      if (maker !== 'service') handEdits.look(caseId)
      return
    }
    if (publisher.isPublished(caseId)) stored.published(caseId)
    if (!catalog.isReproducible(caseId)) unanswered.add(caseId)
  }
  const { scan, synchronizer, store, secondLook, texts, leftovers } = createWorkspaceParts({
    ...{ layout, catalog, mutex, git, state, ownership, publish, isHeld, now, log },
    ...{ found: stored.found, lastGood: stored, gitPatienceMs: options.gitPatienceMs },
    history,
    deletions: {
      published: (id) => published.read(id),
      byGit: createGitDeletions(memoryRoot, log),
    },
    onWritten: (...written) => holds.onWritten(...written),
    mustBeOpen() {
      if (closed) throw stoppingRefusal()
    },
  })
  const records = redactedUpdates(store, redactor)
  const handActs = createHandActs({
    ...{ store, layout, journal: history, operator, isGits: git.touched, now, log },
    isInGit: (names) => isInGit(memoryRoot, names),
  })
  compared.subscribe(handActs.changed)
  changes.subscribe((change) => {
    if (change.kind === 'case' && change.after === null) search.forget(change.case_id)
  })
  const holds: Holds = createHolds({
    ...{ catalog, store: records, scan, synchronizer, git, isHeld, publish, now, log },
    files: createBaselineStore(database, log),
  })
  const sessionTexts = (caseId: string, { number }: Session) =>
    texts.ofSession(caseId, catalog.entry(caseId)?.sessions.get(number))
  const parts = createSessionParts({
    ...{ layout, state, database, settings, environment, redactor, now, newId, log },
    ...{
      catalog,
      store: records,
      outputs,
      sessionTexts,
      holds,
      search,
      texts,
      mount: options.mount ?? true,
    },
    abandonPatienceMs: options.abandonPatienceMs,
    operator,
  })
  const { providers, handEdits, plans } = parts
  sessions = parts.sessions
  const readers = await installedReaders(environment, root)
  const problems = async () => {
    const present = await settings()
    const files = await agentFileProblems(root, readers, present.files)
    return [...present.problems, ...files, ...scan.strangers()]
  }

  undo.add(() => mutex.idle())
  undo.add(() => secondLook.idle())
  undo.add(() => mutex.idle())
  undo.add(() => {
    closed = true
  })
  undo.add(() => holds.idle())
  undo.add(() => handActs.close())
  undo.add(() => handEdits.close())
  undo.add(() => synchronizer.close())
  undo.add(
    () => parts.sessions.close(),
    () => providers.close(),
  )
  undo.add(git.stopWaiting, synchronizer.stopWaiting)

  await emptyTrash(state.trash, layout.cases)
  await clearLeftovers(state, log)
  await secondLook.recover()
  plans.prune()
  if (options.trust) await trustAtStart(places, log)
  await holds.load()
  await database.gather(() => synchronizer.readAll())
  await leftovers.clear()
  await parts.sessions.recover()
  await publisher.begin(await problems())
  hasBegun = true
  stored.begin(catalog.has)
  for (const id of unanswered) handEdits.look(id)
  handActs.begin()
  index.changed() // a clone has none
  synchronizer.start()
  undo.add(publishWorkspaceProblems({ problems, publish: publisher.publishWorkspace, log }))

  return {
    ...{ layout, catalog, store, scan, secondLook, texts, sessionTexts, settings, plans },
    database,
    ...{ sessions, changes, outputs, git, synchronizer, holds, eventLog, problems, search },
    ...{ watching: synchronizer.health, watched: synchronizer.watched() },
    ...{ now, newId, operator, log, dev: options.dev ?? false, startedAt: now() },
    ...{ build, webhooks, providers, agents: readers, close: undo.close },
    listening({ url, port }) {
      facts = { ...kind, url }
      webhooks.begin(port)
    },
  }
}
