import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { type Bus, createBus } from './events/bus.ts'
import type { SessionOutput } from './events/envelope.ts'
import type { Build, HttpNeeds } from './http/needs.ts'
import { closeParser } from './markdown/parser-pool.ts'
import { Refusal } from './model/refusal.ts'
import type { Session } from './model/session.ts'
import { createSessions, type Sessions } from './sessions/sessions.ts'
import { type Change, createCatalog } from './workspace/catalog.ts'
import { createFreshness } from './workspace/freshness.ts'
import { createKeyedMutex } from './workspace/keyed-mutex.ts'
import { createLastGood } from './workspace/last-good.ts'
import { layoutOf } from './workspace/layout.ts'
import { clearLeftovers } from './workspace/leftovers.ts'
import { takeOwnership } from './workspace/ownership.ts'
import { emptyTrash } from './workspace/remove-folder.ts'
import { createRunRecords } from './workspace/run-records.ts'
import { createScan } from './workspace/scan.ts'
import { createSettings } from './workspace/settings.ts'
import { defaultStateFolder, openStateFolder } from './workspace/state-folder.ts'
import { createStore } from './workspace/store.ts'
import { createTexts } from './workspace/texts.ts'
import { memoryRootAt, workspaceRoot } from './workspace/workdir.ts'

interface ServiceOptions {
  root: string
  memoryRoot?: string | undefined
  stateDir?: string | undefined
  dev?: boolean
  build?: Build
  environment?: NodeJS.ProcessEnv
  /** What is not deterministic, for tests. */
  now?: () => Date
  newId?: () => string
  log?: (line: string) => void
}

/** The parts put together. */
export interface Service extends HttpNeeds {
  changes: Bus<Change>
  outputs: Bus<SessionOutput>
  /** Told to a second process that asks who the owner is. */
  describe(facts: { url: string }): void
  close(): Promise<void>
}

/**
 * Opens a workspace: takes ownership, clears what a service that died left, reads the files, ends
 * the sessions that died with it. What was opened is closed in reverse by `close`.
 */
export async function openService(options: ServiceOptions): Promise<Service> {
  const environment = options.environment ?? process.env
  const log = options.log ?? ((line) => process.stderr.write(`casefile: ${line}\n`))
  const now = () => (options.now?.() ?? new Date()).toISOString()
  const newId = options.newId ?? randomUUID
  const root = await workspaceRoot(options.root)
  const settings = createSettings(root)
  const wanted = options.memoryRoot ?? (await settings()).memoryRoot ?? 'memory'
  const memoryRoot = await memoryRootAt(resolve(root, wanted))
  const given = options.stateDir !== undefined
  const stateDir = options.stateDir ?? (await defaultStateFolder(memoryRoot, environment))
  const state = await openStateFolder(resolve(stateDir), {
    memoryRoot,
    ...(given ? { workspaceRoot: root } : {}),
  })
  let facts: Record<string, unknown> = {}
  const ownership = await takeOwnership({ memoryRoot, stateDir: state.root, describe: () => facts })

  const layout = layoutOf(root, memoryRoot)
  const lastGood = createLastGood(state.lastGood)
  const mutex = createKeyedMutex()
  const changes = createBus<Change>((error) => log(`a listener failed: ${String(error)}`))
  const outputs = createBus<SessionOutput>((error) => log(`a listener failed: ${String(error)}`))
  let sessions: Sessions | null = null
  let closed = false
  const isHeld = (id: string) => sessions?.isRunning(id) ?? false
  const catalog = createCatalog(isHeld)
  const needs = { layout, lastGood, isHeld }
  const publish = (found: Change[]) => {
    for (const change of found) changes.publish(change)
  }
  const scan = createScan({ ...needs, catalog, mutex, publish })
  const texts = createTexts(layout, lastGood)
  const store = createStore({
    ...needs,
    catalog,
    scan,
    mutex,
    texts,
    trash: state.trash,
    publish,
    log,
    onMemoryRoot: () => ownership.memoryRootMade(),
    writable() {
      if (ownership.lost.aborted) throw ownership.lost.reason
      if (closed)
        throw new Refusal('stopping', 'The service is stopping; try again when it is back.')
    },
  })
  const freshness = createFreshness(scan, catalog, log)
  const sessionTexts = (caseId: string, { number }: Session) =>
    texts.ofSession(caseId, catalog.entry(caseId)?.sessions.get(number))
  sessions = createSessions({
    ...{ layout, state, store, catalog, outputs, settings, environment, now, newId, log },
    runs: createRunRecords(state.runs, log),
    sessionTexts,
  })
  const running = sessions

  async function close(): Promise<void> {
    await running.close()
    closed = true
    await freshness.close()
    await mutex.idle()
    await lastGood.idle()
    await ownership.release()
    await closeParser()
  }

  try {
    await emptyTrash(state.trash, layout.cases)
    await clearLeftovers(layout, state)
    await freshness.whole()
    await running.recover()
  } catch (error) {
    await close()
    throw error
  }
  return {
    ...{
      layout,
      catalog,
      store,
      scan,
      texts,
      sessionTexts,
      freshness,
      sessions,
      settings,
      changes,
      outputs,
    },
    ...{ now, newId, log, dev: options.dev ?? false, startedAt: now(), close },
    build: options.build ?? { version: '0.0.0', commit: null },
    describe(told) {
      facts = told
    },
  }
}
