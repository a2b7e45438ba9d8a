import { join } from 'node:path'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import { stampNow } from '../files/read-now.ts'
import { useParser } from '../markdown/parser-pool.ts'
import { AppError } from '../model/app-error.ts'
import type { Problem } from '../model/problem.ts'
import { SETTINGS_FILE } from '../model/settings.ts'
import type { FolderOptions } from '../settings/folders.ts'
import { findWorkspaceFolders } from '../settings/workspace-folders.ts'
import { readFrozenValues } from '../state/frozen-values.ts'
import { emptyDatabase, hasDatabase, openToRead, readDatabase } from '../state/read-database.ts'
import { partsOfKey, readStoredRows } from '../state/record-rows.ts'
import { readRuns } from '../state/runs.ts'
import { type Catalog, createCatalog } from '../workspace/index/catalog.ts'
import { type Layout, layoutOf, MEMORY_ROOT_FILES } from '../workspace/layout.ts'
import { createTexts, type Texts } from '../workspace/long-texts.ts'
import { createScan } from '../workspace/scan.ts'
import { readTrailMemory } from '../workspace/trail-memory.ts'
import { trailSources } from '../workspace/true-trail.ts'

/** A workspace as its files are now, read without a service or next to a running one. */
export interface Snapshot {
  layout: Layout
  /** The folder of this machine's state. It may be missing, and is not created. */
  stateDir: string
  /** Whether a service on this machine has served the workspace. */
  hasServed: boolean
  catalog: Catalog
  texts: Texts
  /** Whether a run record says that the session is running on this machine. */
  isRunningHere(sessionId: string): boolean
  /** Problems in casefile.md. */
  settingsProblems: Problem[]
  /** Entries in the cases folder that are not cases. */
  unknownEntries: Problem[]
}

/** Reads a workspace, chosen as for `serve`, and passes the snapshot to `work`. Throws if it is not a folder. */
export async function withSnapshot<T>(
  choice: FolderOptions,
  environment: NodeJS.ProcessEnv,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const leaveParser = useParser()
  try {
    return await work(await openSnapshot(choice, environment))
  } finally {
    await leaveParser()
  }
}

async function openSnapshot(
  choice: FolderOptions,
  environment: NodeJS.ProcessEnv,
): Promise<Snapshot> {
  const ignored = () => {} // damage in the state folder is logged by the service
  const { root, memoryRoot, stateDir, settings } = await findWorkspaceFolders(
    choice,
    environment,
    ignored,
  )
  const layout = layoutOf(root, memoryRoot)
  await mustBeWorkspace(layout)

  const held = new Set<string>()
  const isRunningHere = (id: string) => held.has(id)
  const lookForRuns = async () => {
    const runs = readDatabase(stateDir, (database) => readRuns(database, ignored)) ?? []
    for (const { session_id } of runs) held.add(session_id)
  }
  const frozenCases = readDatabase(stateDir, (database) => readFrozenValues(database, ignored))
  const pins = new Map([
    ...Object.entries(frozenCases?.watch?.cases ?? {}),
    ...(frozenCases?.own ?? []),
  ])
  const catalog = createCatalog({ isRunningHere, frozen: (id) => pins.get(id) })
  const database = openToRead(stateDir) ?? emptyDatabase()
  const stored = readStoredRows(database)
  const scan = createScan({
    layout,
    isRunningHere,
    catalog,
    mutex: createKeyedMutex(),
    isGits: () => false,
    trails: readTrailMemory(database),
    hasRead: () => false,
    // only for audit trails: the earlier content of a broken file is not in the snapshot
    lastText: (key) => stored.text(...partsOfKey(key)),
    ...trailSources(memoryRoot, (id) => pins.get(id)),
    publish() {},
    onUnstable() {}, // every file is taken as it is
  })
  await lookForRuns()
  await scan.readAll()
  await lookForRuns() // a run may have begun meanwhile
  // a service may have published more since a file was read
  for (const { id, sessions } of catalog.ids().map((id) => catalog.entry(id)!)) {
    if (![...sessions.values()].some(isTrailChanged)) continue
    await scan.readCase(id, 'anything')
  }
  database.close()
  return {
    layout,
    stateDir,
    catalog,
    isRunningHere,
    hasServed: hasDatabase(stateDir),
    texts: createTexts(layout, () => null),
    settingsProblems: (await settings()).problems,
    unknownEntries: scan.unknownEntries(),
  }
}

function isTrailChanged({ problems }: { problems: readonly Problem[] }): boolean {
  return problems.some(({ code }) => code === 'trail_changed')
}

function isThere(path: string): boolean {
  return stampNow(path) !== null
}

/** Throws if the folder has no cases: it is probably the wrong one, and "no problems" would mislead. */
async function mustBeWorkspace({ root, memoryRoot, cases }: Layout): Promise<void> {
  const isNew = join(root, 'memory') === memoryRoot && isThere(join(root, SETTINGS_FILE))
  const places = [cases, ...Object.keys(MEMORY_ROOT_FILES).map((name) => join(memoryRoot, name))]
  if (isNew || places.some((path) => isThere(path))) return
  throw new AppError(
    'not_found',
    `There are no cases in ${memoryRoot}. Name the workspace with --root, or the folder that contains cases/ with --memory-root. To create a workspace, run: casefile init.`,
  )
}
