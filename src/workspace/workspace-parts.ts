/** Creates the parts of this folder: scan, refresher, store, late saves. Called by `service.ts`. */

import type { GitActivity } from '../git/activity.ts'
import type { Database } from '../state/database.ts'
import type { Ownership } from '../state/owner/ownership.ts'
import type { StateFolder } from '../state/state-folder.ts'
import type { FrozenCases } from './frozen-cases.ts'
import type { CatalogDeps } from './index/catalog.ts'
import { createLateSaves, type LateSaves } from './late-saves/late-saves.ts'
import { createLatest, type Latest } from './latest.ts'
import { type CaseLeftovers, createCaseLeftovers } from './leftovers.ts'
import { createTexts, type Texts } from './long-texts.ts'
import { createScan, type Scan, type ScanDeps } from './scan.ts'
import { createStore, type Store, type StoreDeps } from './store.ts'
import { createTrailMemory } from './trail-memory.ts'
import { trailSources } from './true-trail.ts'
import { type CatalogRefresher, createCatalogRefresher } from './watching/catalog-refresher.ts'
import { createDueQueue } from './watching/due-queue.ts'

/** The parts between the files and the catalog. */
export interface WorkspaceParts {
  /** Reads files into the catalog. */
  scan: Scan
  /** Decides when they are read. */
  refresher: CatalogRefresher
  /** Writes files. */
  store: Store
  lateSaves: LateSaves
  texts: Texts
  leftovers: CaseLeftovers
  latest: Latest
}

export interface WorkspaceDeps
  extends Pick<ScanDeps, 'layout' | 'catalog' | 'mutex' | 'publish' | 'sawNames' | 'sawText'>,
    Pick<StoreDeps, 'gitTimeoutMs' | 'history'>,
    Pick<CatalogDeps, 'isRunningHere'> {
  frozenCases: Pick<FrozenCases, 'get' | 'written'>
  database: Database
  state: Pick<StateFolder, 'trash'>
  ownership: Pick<Ownership, 'lost' | 'memoryRootMade'>
  git: GitActivity
  /** How long an editor may take to begin a save into a file that was replaced. */
  lateSaveMs: number
  now(): string
  log(line: string): void
}

/** Creates the parts; reads nothing yet. */
export function createWorkspaceParts(deps: WorkspaceDeps): WorkspaceParts {
  const { layout, catalog, mutex, git, log, ownership, state } = deps
  const queue = createDueQueue()
  const leftovers = createCaseLeftovers(layout, log)
  const latest = createLatest({
    layout,
    mutex,
    entry: catalog.entry,
    now: deps.now,
    log,
    later: queue.add,
    async mayNotWrite() {
      return ownership.lost.aborted || git.isBusy('now')
    },
  })
  const shared = {
    ...deps,
    latest,
    isGits: git.touched,
    hasRead: catalog.has,
    isAppending: deps.history.isAppending,
    lastText: catalog.lastText,
    trails: createTrailMemory(deps.database),
    ...trailSources(layout.memoryRoot, deps.frozenCases.get),
  }
  const scan = createScan({
    ...shared,
    sawFolder: leftovers.saw,
    onUnstable: queue.add,
    takeChanged: (id) => refresher.takeChanged(id),
    mustReadAll: (id) => refresher.mustReadAll(id),
  })
  const refresher: CatalogRefresher = createCatalogRefresher({
    layout,
    catalog,
    scan,
    mutex,
    git,
    queue,
    log,
  })
  const texts = createTexts(layout, catalog.lastText)
  const owned = () => {
    if (ownership.lost.aborted) throw ownership.lost.reason
  }
  const lateSaves = createLateSaves({
    layout,
    mutex,
    now: deps.now,
    log,
    async mayWrite() {
      owned()
      if (!(await git.waitUntilIdle(10_000))) throw new Error('git is changing the files')
    },
    onMerged: (id) => queue.add(id, 0),
    recheckMs: deps.lateSaveMs,
  })
  const store = createStore({
    ...shared,
    scan,
    lateSaves,
    texts,
    trash: state.trash,
    refresher,
  })
  return {
    scan,
    refresher,
    store,
    lateSaves,
    texts,
    leftovers,
    latest,
  }
}
