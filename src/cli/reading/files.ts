import { join } from 'node:path'
import { entriesIn } from '../../files/folder-names.ts'
import { createKeyedMutex } from '../../files/keyed-mutex.ts'
import { realPathOf } from '../../files/real-path.ts'
import type { Baseline } from '../../model/baseline.ts'
import { packageVersion } from '../../package-files.ts'
import type { Baselines } from '../../state/baselines.ts'
import { type CaseLists, createCaseLists } from '../../state/case-lists.ts'
import { readCaseRows } from '../../state/cases.ts'
import { type Database, emptyDatabase, openToRead, readDatabase } from '../../state/database.ts'
import { TRAILS_FOLDER } from '../../state/state-folder.ts'
import { type Catalog, createCatalog } from '../../workspace/catalog.ts'
import { isInGit } from '../../workspace/git/git-contents.ts'
import { type Layout, layoutOf } from '../../workspace/layout.ts'
import { createScan } from '../../workspace/scan.ts'
import type { Folders } from '../../workspace/settings/folders.ts'
import { readStoredCases, storedFormat } from '../../workspace/stored-cases.ts'
import { createStabilityDetector } from '../../workspace/sync/stability.ts'
import { createTexts, type Texts } from '../../workspace/texts.ts'
import { readTrailMemory } from '../../workspace/trail-memory.ts'

/** The cases of a workspace as its files are now, read as far as they are asked for. */
export interface Files {
  layout: Layout
  catalog: Catalog
  lists: CaseLists
  texts: Texts
  /** Brings every case into the catalog. */
  readAll(): Promise<void>
  /** Brings one case into the catalog, where there is one. */
  read(id: string): Promise<void>
}

/** Null where a service that died left something: only a service may say what became of that. */
export async function openFiles({ root, memoryRoot, stateDir }: Folders): Promise<Files | null> {
  const database = openToRead(stateDir) ?? emptyDatabase()
  const notes = countNotes(database)
  if (notes.runs > 0 || (await entriesIn(join(stateDir, 'pre-images'))).length > 0) return null
  const baselines = notes.baselines > 0 ? await baselinesIn(stateDir) : null
  if (baselines?.watch) return null
  const pins = baselines?.own ?? new Map<string, Baseline>()
  const layout = layoutOf(root, memoryRoot)
  const isRunningHere = () => false // or there would be a record of its run
  const stored = readStoredCases(readCaseRows(database, storedFormat(packageVersion())))
  const lists = createCaseLists(database, stored.unsaved)
  const catalog = createCatalog({
    isRunningHere,
    pins: (id) => pins.get(id),
    stored,
    lists,
  })
  const scan = createScan({
    layout,
    lastGood: stored,
    isRunningHere,
    catalog,
    mutex: createKeyedMutex(),
    // values that are frozen count whatever a row says
    ...(pins.size === 0 ? { rowFromLastRun: stored.rowFromLastRun } : {}),
    stability: createStabilityDetector(),
    isGits: () => false,
    lastText: stored.recall,
    trails: readTrailMemory(join(stateDir, TRAILS_FOLDER)),
    isInGit: (names) => isInGit(memoryRoot, names),
    publish() {},
    onUnstable() {}, // everything is taken as it is
  })
  return {
    layout,
    catalog,
    lists,
    texts: createTexts(layout, stored),
    async readAll() {
      await scan.all()
      stored.allRead((id) => scan.canList() && !catalog.has(id))
    },
    async read(id) {
      // of cases that are reached by a link none is read, and all that is said of that is said by `all`
      if ((await realPathOf(layout.cases)) === layout.cases) await scan.one(id, 'anything')
      else await scan.all()
    },
  }
}

function countNotes(database: Pick<Database, 'all'>) {
  const [counts] = database.all<{ runs: number; baselines: number }>(
    'SELECT (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM baselines) AS baselines',
  )
  return counts!
}

/** Values that are frozen since a session could write the files of a case: seldom there, so loaded only then. */
async function baselinesIn(stateDir: string): Promise<Baselines | null> {
  const { readBaselines } = await import('../../state/baselines.ts')
  return readDatabase(stateDir, (database) => readBaselines(database, () => {}))
}
