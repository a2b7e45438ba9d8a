/**
 * Creates the parts of the service, each from those above it; they are closed in reverse order. A start after kill
 * -9: the database rolls back; temporary files and the trash are removed; changed files are read; sessions that ran
 * fail, and their processes are killed; what differs from before becomes events.
 */

import { randomUUID } from 'node:crypto'
import { createBus } from './events/bus.ts'
import type { SessionOutput } from './events/envelope.ts'
import { createEventLog } from './events/event-log.ts'
import { createPublisher, type PublishedChanges } from './events/publisher.ts'
import { createWorkspaceProblems } from './events/workspace-problems.ts'
import { createKeyedMutex } from './files/keyed-mutex.ts'
import { emptyTrash } from './files/remove-folder.ts'
import { forEachInTurn } from './files/yielding.ts'
import { createGitActivity, type GitActivity } from './git/activity.ts'
import { isInGit } from './git/contents.ts'
import { createOperatorName } from './git/operator-name.ts'
import type { HttpDeps, StartStage } from './http/deps.ts'
import { createSetup } from './init/setup.ts'
import { useParser } from './markdown/parser-pool.ts'
import { stoppingError } from './model/app-error.ts'
import { createServiceHooks, type ServiceHooks } from './runners/agents/install/service-hooks.ts'
import { TIME_LIMITS } from './runners/time-limits.ts'
import { createSearch } from './search/search.ts'
import type { ServiceOptions } from './service-options.ts'
import { createHandEditHistory } from './sessions/hand-edit-history.ts'
import { createNotifyDeps } from './sessions/notify-deps.ts'
import { createRedactor, type Redactor, redactedUpdates } from './sessions/redaction.ts'
import { createRunGuard, type GuardedRun, type RunGuard } from './sessions/run-guard.ts'
import { createConsoleUse } from './sessions/seen-plans.ts'
import { createSessionParts } from './sessions/sessions.ts'
import { findInstalledAgents } from './sessions/start-checks.ts'
import { findWorkspaceProblems } from './sessions/workspace-problems.ts'
import { openWorkspaceFolders } from './settings/workspace-folders.ts'
import { type Database, openDatabase } from './state/database.ts'
import { createFrozenValuesStore } from './state/frozen-values.ts'
import { createHistoryLines } from './state/history-lines.ts'
import { rememberWorkspace } from './state/known-workspaces.ts'
import { takeOwnership } from './state/owner/ownership.ts'
import { readStoredRows } from './state/record-rows.ts'
import { createUndoStack, type UndoStack } from './stopping.ts'
import { createGitSync } from './sync/git-sync.ts'
import { trustAtStart } from './trust/at-start.ts'
import { type OpenWebhooks, openWebhooks } from './webhooks/webhooks.ts'
import type { CaseChange } from './workspace/case-entry.ts'
import { createFrozenCases } from './workspace/frozen-cases.ts'
import { recordFormat } from './workspace/index/case-rows.ts'
import { createCatalog } from './workspace/index/catalog.ts'
import { createIndexFile } from './workspace/index-file.ts'
import { layoutOf } from './workspace/layout.ts'
import { clearLeftovers } from './workspace/leftovers.ts'
import { createPendingHistory } from './workspace/pending-history.ts'
import { createStepTails } from './workspace/step-tail.ts'
import type { CatalogRefresher } from './workspace/watching/catalog-refresher.ts'
import { watchEntries } from './workspace/watching/entries-watcher.ts'
import { createWorkspaceParts } from './workspace/workspace-parts.ts'
import { createWorktrees } from './worktrees/worktrees.ts'

/** The service with all its parts. */
export interface Service extends HttpDeps {
  stateDir: string
  database: Database
  git: GitActivity
  refresher: CatalogRefresher
  runGuard: RunGuard
  webhooks: OpenWebhooks
  /** What the hooks of agents read, which people run themselves. */
  hooks: ServiceHooks
  /** Resolves when the file watcher is ready, after the start. */
  watched(): Promise<void>
  /** Announces the address to processes that ask for the owner. Webhooks are sent once the start is over. */
  listening(at: { url: string; port: number }): void
  /** Call this before `close` if requests may still be waiting for the start. */
  giveUpStart(): void
  close(): Promise<void>
}

/**
 * Opens a workspace: takes ownership and creates the parts. The start continues in the background (`start.begun`): it
 * cleans up after a service that died. Everything is closed in reverse order, by `close` or if opening fails.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const redactor = createRedactor(options.environment ?? process.env)
  const print = options.log ?? ((line) => console.error(`casefile: ${line}`)) // which bears a full disk
  const log = (line: string) => print(redactor.text(line)) // it may quote a program's output
  const undo = createUndoStack()
  try {
    return await open(options, undo, redactor, log)
  } catch (error) {
    await undo.close().catch((failure: unknown) => {
      log(`the service could not start, and some parts could not be closed: ${String(failure)}`)
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
  const limits = { ...TIME_LIMITS, ...options.limits }
  const onError = (error: unknown) => log(`a listener failed: ${String(error)}`)

  // the folders, and the ownership that allows writing to them
  const folders = await openWorkspaceFolders(options, environment, log)
  const { root, memoryRoot, state, settings } = folders
  const layout = layoutOf(root, memoryRoot)
  const ownership = await takeOwnership({
    memoryRoot,
    stateDir: state.root,
    short: options.short ?? false,
  })
  undo.add(ownership.release)
  await rememberWorkspace(state.root, { root, memoryRoot })
  if (options.trust) await trustAtStart(folders, log)
  const installedAgents = await findInstalledAgents(environment, root)
  undo.add(useParser())
  const database = await openDatabase(state.root, log, now)
  undo.add(() => database.close())
  const build = (await options.build) ?? { version: '0.0.0', commit: null }

  // parts that others share
  const mutex = createKeyedMutex()
  const running = new Set<string>()
  const caseChanges = createBus<CaseChange>(onError)
  const publishedChanges = createBus<PublishedChanges>(onError)
  const outputs = createBus<SessionOutput>(onError)
  const isRunningHere = (id: string) => running.has(id)
  const git = createGitActivity(memoryRoot, log)
  const operator = createOperatorName(root, log)
  const historyLines = createHistoryLines(database)
  const history = createPendingHistory({ database, lines: historyLines, layout, git, log })
  undo.add(() => history.close())
  const eventLog = createEventLog(database, { log })
  const frozenStore = createFrozenValuesStore(database, log)
  const frozenCases = createFrozenCases<GuardedRun>(frozenStore, running)

  // cases: index, reading and writing
  const format = recordFormat(build.version)
  const stored = readStoredRows(database, format)
  const catalog = createCatalog({ isRunningHere, frozen: frozenCases.of, stored })
  const { lists } = catalog
  const search = createSearch({ layout, database, catalog, lists, log })
  const { scan, refresher, store, lateSaves, texts, leftovers, latest } = createWorkspaceParts({
    layout,
    database,
    catalog,
    mutex,
    git,
    state,
    ownership,
    publish: caseChanges.publish,
    sawNames: () => problems.readSoon(),
    isRunningHere,
    now,
    log,
    lateSaveMs: limits.lateSave,
    gitTimeoutMs: options.gitTimeoutMs,
    history,
    frozenCases,
    sawText: search.sawText,
  })
  const sessionTexts = (caseId: string, { number }: { number: number }) =>
    texts.ofSession(caseId, catalog.entry(caseId)?.sessions.get(number))

  // derived from the cases
  const index = createIndexFile({ layout, lists, ownership, limits, log })
  undo.add(() => Promise.all([index.close(), search.close()]))
  const { consoleAddress, seenPlans } = createConsoleUse()
  const notified = { settings, environment, redactor, catalog, seenPlans, sessionTexts }
  const webhooks = openWebhooks({
    database,
    eventLog,
    now,
    newId,
    log,
    version: build.version,
    consoleAddress,
    notify: createNotifyDeps({ root, ...notified }),
    ...options.webhookParts,
  })
  undo.add(() => webhooks.close())
  const withTail = createStepTails(layout, redactor.text)
  const publisher = createPublisher({
    withTail,
    catalog,
    log: eventLog,
    database,
    stored,
    format,
    history,
    now,
    publishedChanges,
  })
  undo.add(() => publisher.close())

  // sessions, and edits by hand
  const records = redactedUpdates(store, redactor)
  const handEditHistory = createHandEditHistory({
    store,
    layout,
    history,
    operator,
    git,
    limits,
    now,
    log,
    isInGit: (names) => isInGit(memoryRoot, names),
  })
  const runGuard = createRunGuard({
    catalog,
    store: records,
    scan,
    refresher,
    git,
    publish: caseChanges.publish,
    leftProcesses: options.leftProcesses,
    now,
    log,
    frozenCases,
    files: frozenStore,
  })
  const { sessions, comments, conversations, providers, handEdits, plans } = createSessionParts({
    layout,
    state,
    database,
    settings,
    environment,
    redactor,
    now,
    newId,
    log,
    catalog,
    lists,
    store: records,
    outputs,
    caseChanges,
    running,
    sessionTexts,
    withTail,
    runGuard,
    search,
    texts,
    isGits: git.touched,
    mount: options.mount ?? true,
    limits,
    operator,
  })
  const find = () =>
    findWorkspaceProblems({ root, settings, installedAgents, scan, database, environment })
  const problems = createWorkspaceProblems({ find, publisher, log })
  const worktrees = createWorktrees(folders, { store: records, isRunningHere, sessions, now, log })
  const sync = createGitSync({
    layout,
    stateDir: state.root,
    mutex,
    redactor,
    lateSaves,
    isRunningHere,
    refresher,
    entry: catalog.entry,
    lastNumber: sessions.lastNumber,
    writeIndex: index.write,
    now,
    log,
  })

  // every change, by a request or by hand, takes this path
  caseChanges.subscribe(({ caseId }) => search.onCaseChange(caseId))
  caseChanges.subscribe(({ caseId }) => runGuard.onCaseChange(caseId))
  caseChanges.subscribe(publisher.onCaseChange)
  // made one by one during the start, because all at once would block requests
  const stopPreparing = caseChanges.subscribe(({ caseId }) => void catalog.row(caseId))
  publishedChanges.subscribe(handEditHistory.onPublished)
  eventLog.subscribe(() => index.writeSoon())

  undo.add(() => lateSaves.idle())
  undo.add(() => mutex.idle())
  undo.add(() => sync.idle())
  undo.add(() => store.close())
  undo.add(() => runGuard.idle())
  undo.add(() => handEditHistory.close())
  undo.add(() => handEdits.close())
  undo.add(() => refresher.close())
  undo.add(
    () => sessions.close(),
    () => providers.close(),
  )
  let stage: StartStage = 'indexing'
  const giveUp = new AbortController()

  /** Cleans up after a service that died, and reads all files. */
  async function readFiles({ signal }: AbortController): Promise<void> {
    await emptyTrash(state.trash, layout.cases)
    await clearLeftovers(state, root, log)
    for (const part of [worktrees, sync, history]) await part.recover()
    plans.prune()
    runGuard.load()
    await refresher.readAll(signal)
    await leftovers.clear()
    await sessions.recover().then(worktrees.recoverHistory)
    stage = 'publishing'
  }

  /** Publishes what changed while no service ran, stores what was read, and starts the watcher. */
  async function publishAndStore({ signal }: AbortController): Promise<void> {
    const linked = await latest.begin(signal)
    search.begin() // before what was read is stored
    await publisher.begin(await problems.read(), scan.canList(), signal)
    // updating the links has changed their folders
    await forEachInTurn(linked, signal, (id) => mutex.run(id, () => scan.readCase(id)))
    // an edit by hand may have been made while no service ran
    const unanswered = catalog.readAtStart()
    catalog.endStart()
    stopPreparing()
    caseChanges.subscribe(({ caseId, source }) => {
      if (source !== 'service') handEdits.onFileEdit(caseId)
    })
    for (const id of unanswered) handEdits.onFileEdit(id)
    handEditHistory.begin()
    refresher.start()
    void refresher.watched().then(index.write) // a clone has no index.md
    problems.begin()
    undo.add(problems.close, watchEntries(root, problems.readSoon, log))
    stage = 'begun'
  }

  const indexed = readFiles(giveUp)
  const begun = indexed.then(() => database.gather(() => publishAndStore(giveUp)))
  const ended = begun.catch(() => {}) // callers that wait for `begun` get the error
  const giveUpStart = () => giveUp.abort(stoppingError())
  undo.add(() => ended)
  undo.add(giveUpStart)
  undo.add(git.stopWaiting, refresher.stopWaiting)

  return {
    layout,
    stateDir: state.root,
    database,
    catalog,
    lists,
    store,
    scan,
    lateSaves,
    texts,
    sessionTexts,
    withTail,
    settings,
    plans,
    historyLines,
    sessions,
    comments,
    conversations,
    running,
    caseChanges,
    outputs,
    git,
    refresher,
    runGuard,
    consoleAddress,
    seenPlans,
    eventLog,
    problems: problems.read,
    search,
    watching: refresher.health,
    watched: refresher.watched,
    start: { indexed, begun, stage: () => stage },
    now,
    newId,
    operator,
    log,
    dev: options.dev ?? false,
    startedAt: now(),
    build,
    webhooks,
    hooks: createServiceHooks({ root, stateDir: state.root, environment }, log),
    providers,
    sync,
    worktrees,
    setup: createSetup({ ...folders, layout, environment, providers }),
    agents: installedAgents,
    close: undo.close,
    listening({ url, port }) {
      ownership.announce(url)
      void ended.then(() => {
        if (stage === 'begun') webhooks.begin(port)
      })
    },
    giveUpStart,
  }
}
