/** Answers GET requests about cases from the files, for commands that take no ownership and write nothing. */

import { randomUUID } from 'node:crypto'
import { createBus } from './events/bus.ts'
import { createKeyedMutex } from './files/keyed-mutex.ts'
import { realPathOf } from './files/real-path.ts'
import { createApp } from './http/app.ts'
import type { HttpDeps } from './http/deps.ts'
import { createStreamRegistry } from './http/sse/stream-registry.ts'
import { createSetup } from './init/setup.ts'
import { AppError } from './model/app-error.ts'
import type { FrozenValues } from './model/frozen-values.ts'
import { packageVersion } from './package-files.ts'
import { createSearch } from './search/search.ts'
import type { Folders } from './settings/folders.ts'
import { workspaceFoldersIn } from './settings/workspace-folders.ts'
import { readConversations, readCurrentCases } from './state/conversations.ts'
import type { Database } from './state/database.ts'
import { readFrozenValues } from './state/frozen-values.ts'
import { createHistoryLines } from './state/history-lines.ts'
import { createPlanTexts } from './state/plans.ts'
import {
  emptyDatabase,
  memoryDatabase,
  openToRead,
  type ReadOnlyDatabase,
} from './state/read-database.ts'
import { readStoredRows } from './state/record-rows.ts'
import { copySearchIndex } from './state/search-tables.ts'
import { createWebhookStore } from './state/webhooks.ts'
import { readWebhooks } from './webhooks/read-webhooks.ts'
import { recordFormat } from './workspace/index/case-rows.ts'
import { createCatalog } from './workspace/index/catalog.ts'
import { layoutOf } from './workspace/layout.ts'
import { createTexts } from './workspace/long-texts.ts'
import { createScan } from './workspace/scan.ts'
import { readTrailMemory } from './workspace/trail-memory.ts'
import { trailSources } from './workspace/true-trail.ts'
import { readWorktrees } from './worktrees/worktree-view.ts'

export interface ReadingApp {
  fetch(request: Request, env?: object): Response | Promise<Response>
  close(): void
}

/** The same for a workspace that a killed service left: its sessions that ran count as running. */
export interface ReadingOptions {
  unclean?: boolean
}

/**
 * The HTTP app for the present files of a workspace. Null if a killed service left runs or frozen values, which the
 * next owner must clean up first, unless `unclean` is set.
 */
export async function openReadOnlyApp(
  folders: Folders,
  log: (line: string) => void,
  { unclean = false }: ReadingOptions = {},
): Promise<ReadingApp | null> {
  const { root, memoryRoot, stateDir } = folders
  const database = openToRead(stateDir) ?? emptyDatabase()
  const left = database.all<{ session_id: string }>('SELECT session_id FROM runs')
  const frozenCases = readFrozenValues(database, () => {})
  if (!unclean && (left.length > 0 || frozenCases.watch)) {
    database.close()
    return null
  }
  const pins = new Map<string, FrozenValues>([
    ...Object.entries(frozenCases.watch?.cases ?? {}),
    ...frozenCases.own,
  ])
  const runs = new Set(left.map(({ session_id }) => session_id))
  const layout = layoutOf(root, memoryRoot)
  const isRunningHere = (id: string) => runs.has(id) // a running session has a run record
  const catalog = createCatalog({
    isRunningHere,
    frozen: (id) => pins.get(id),
    stored: readStoredRows(database, recordFormat(packageVersion())),
  })
  const search = createSearch({
    layout,
    database: searchIndexOf(database),
    catalog,
    lists: catalog.lists,
    log,
  })
  const scan = createScan({
    layout,
    isRunningHere,
    catalog,
    mutex: createKeyedMutex(),
    isGits: () => false,
    hasRead: catalog.has,
    lastText: catalog.lastText,
    trails: readTrailMemory(database),
    ...trailSources(memoryRoot, (id) => pins.get(id)),
    publish: ({ caseId }) => search.onCaseChange(caseId),
    sawText: search.sawText,
    onUnstable() {}, // every file is taken as it is
  })
  const texts = createTexts(layout, catalog.lastText)

  const readAll = once(async () => void (await scan.readAll()))
  const areLinked = once(async () => (await realPathOf(layout.cases)) !== layout.cases)
  const known = new Map<string, Promise<void>>()
  /** Cases behind a symbolic link are not read; only `readAll` reports that. */
  async function readCase(id: string): Promise<void> {
    if (await areLinked()) await readAll()
    else await scan.readCase(id, 'anything')
  }

  async function read(id: string) {
    if (!known.has(id)) known.set(id, readCase(id))
    await known.get(id)
    const contents = catalog.folder(id)
    if (contents) return contents
    throw new AppError('not_found', `There is no case ${id}.`)
  }

  const webhooks = createWebhookStore(database)
  const places = workspaceFoldersIn(folders, log)
  const begun = Promise.resolve()
  const service = only<HttpDeps>({
    layout,
    catalog,
    lists: catalog.lists,
    texts,
    store: only<HttpDeps['store']>({ read }),
    refresher: { freshen: readCase, freshenAll: readAll } as HttpDeps['refresher'],
    start: {
      stage: () => 'begun',
      indexed: begun,
      begun,
    },
    search: { ...search, isReady: () => true },
    plans: createPlanTexts(readOnly(database), log),
    historyLines: createHistoryLines(readOnly(database)),
    sessionTexts: (caseId, { number }) =>
      texts.ofSession(caseId, catalog.entry(caseId)?.sessions.get(number)),
    settings: places.settings,
    setup: createSetup({
      ...places,
      state: { root: stateDir },
      layout,
      environment: process.env,
      providers: only({}),
    }),
    eventLog: only<HttpDeps['eventLog']>({ subscribe: () => () => {} }),
    caseChanges: createBus(ignore),
    outputs: createBus(ignore),
    running: new Set<string>(),
    sessions: only<HttpDeps['sessions']>({
      standing: () => null,
      obstacle: () => null,
      walls: () => Promise.reject(new AppError('stopping', 'Only a running service knows that.')),
    }),
    comments: only<HttpDeps['comments']>({}),
    seenPlans: only<HttpDeps['seenPlans']>({ isSeen: () => false }),
    conversations: only<HttpDeps['conversations']>({
      notUnderstood: { add: ignore, list: () => [] },
      ofSession: (id) =>
        readConversations(database, log).find(({ session_id }) => session_id === id) ?? null,
      currentCase: async (folder) => ({
        folder,
        case_id: readCurrentCases(database).get(folder) ?? null,
      }),
    }),
    webhooks: only<HttpDeps['webhooks']>({
      ...readWebhooks(webhooks, new Map(webhooks.all().map((each) => [each.webhook.id, each]))),
      syncNotify: async () => {},
    }),
    worktrees: only<HttpDeps['worktrees']>(readWorktrees(stateDir, places)),
    now: () => new Date().toISOString(),
    newId: randomUUID,
    log,
    dev: false,
  })
  const { fetch } = createApp(service, { port: () => 0, streams: createStreamRegistry() })
  return { fetch, close: database.close }
}

/** A dependency that throws for members only an owner has. Using one is a bug of the reading command. */
function only<T extends object>(members: Partial<T>): T {
  return new Proxy(members, {
    get(target, name) {
      if (name in target) return Reflect.get(target, name)
      throw new Error(`a command that only reads has no ${String(name)}`)
    },
  }) as T
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined
  return () => (made ??= make())
}

function readOnly({ all, get }: ReadOnlyDatabase): Database {
  return only<Database>({ all, get })
}

function ignore(): void {} // nothing is published

/** The search index that a service stored, copied into memory if it is written. */
function searchIndexOf(disk: ReadOnlyDatabase): Database {
  let copy: ReturnType<typeof memoryDatabase> | undefined
  return only<Database>({
    all: (sql, ...values) => (copy ?? disk).all(sql, ...values),
    get: (sql, ...values) => (copy ?? disk).get(sql, ...values),
    writeDerived(work) {
      if (!copy) {
        copy = memoryDatabase()
        copySearchIndex(disk, copy)
      }
      copy.write(work)
    },
    flushed: async () => {},
    failure: null,
  })
}
