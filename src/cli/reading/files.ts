import { join } from 'node:path'
import { entriesIn } from '../../files/folder-names.ts'
import { createKeyedMutex } from '../../files/keyed-mutex.ts'
import { realPathOf } from '../../files/real-path.ts'
import type { Pins } from '../../model/held.ts'
import { packageVersion } from '../../package-files.ts'
import { KEPT_FOLDER, TRAILS_FOLDER } from '../../state/state-folder.ts'
import type { CaseEntry } from '../../workspace/case-entry.ts'
import { type Catalog, createCatalog } from '../../workspace/catalog.ts'
import { isInGit } from '../../workspace/git/git-contents.ts'
import { isPlain, stampsOf } from '../../workspace/kept/kept-case.ts'
import { type KeptReader, readKeptCases } from '../../workspace/kept/kept-reader.ts'
import { keptTitle } from '../../workspace/kept/kept-title.ts'
import { type LastGood, partsOfKey } from '../../workspace/last-good.ts'
import { type Layout, layoutOf } from '../../workspace/layout.ts'
import { createScan } from '../../workspace/scan.ts'
import type { Folders } from '../../workspace/settings/folders.ts'
import { createSettling } from '../../workspace/settling.ts'
import { createTexts, type Texts } from '../../workspace/texts.ts'
import { readTrailMemory } from '../../workspace/trail-memory.ts'

/** The cases of a workspace as its files are now, read as far as they are asked for. */
export interface Files {
  layout: Layout
  catalog: Catalog
  texts: Texts
  /**
   * The texts of record files, by case and by name: of cases that were not found as they were kept, and would be
   * the next time. One that has a problem, say, is read each time.
   */
  anew(): Map<string, Record<string, string>>
  /** Of what is kept; null where more than files decides what counts. */
  title: string | null
  /** Brings every case into the catalog. */
  readAll(): Promise<void>
  /** Brings one case into the catalog, where there is one. */
  read(id: string): Promise<void>
}

/** Null where a service that died left something: only a service may say what became of that. */
export async function openFiles({ root, memoryRoot, stateDir }: Folders): Promise<Files | null> {
  const [runs, displaced, holds] = await Promise.all(
    ['runs', 'pre-images', 'holds'].map((name) => entriesIn(join(stateDir, name))),
  )
  if (runs!.length + displaced!.length > 0 || holds!.includes('watch.json')) return null
  const pins = holds!.length > 0 ? await pinsIn(stateDir) : new Map<string, Pins>()
  const layout = layoutOf(root, memoryRoot)
  const title = keptTitle(memoryRoot, packageVersion())
  const kept = pins.size === 0 ? readKeptCases(join(stateDir, KEPT_FOLDER), title) : null
  const anew = new Map<string, Record<string, string>>()
  const lastGood = readOnly(kept, anew)
  const isHeld = () => false // or there would be a record of its run
  const shelf = kept ? { shelf: kept } : {}
  const catalog = createCatalog({ isHeld, pins: (id) => pins.get(id), ...shelf })
  const scan = createScan({
    ...{ layout, lastGood, isHeld, catalog, mutex: createKeyedMutex() },
    ...(kept ? { found: kept.found } : {}),
    ...{ settling: createSettling(), isGits: () => false },
    lastText: lastGood.recall,
    trails: readTrailMemory(join(stateDir, TRAILS_FOLDER)),
    isInGit: (names) => isInGit(memoryRoot, names),
    publish() {},
    onUnsettled() {}, // everything is taken as it is
  })
  return {
    ...{ layout, catalog, texts: createTexts(layout, lastGood) },
    anew: () => new Map([...anew].filter(([id]) => mayRest(catalog.entry(id)))),
    title: pins.size === 0 ? title : null,
    readAll: () => scan.all(),
    async read(id) {
      // of cases that are reached by a link none is read, and all that is said of that is said by `all`
      if ((await realPathOf(layout.cases)) === layout.cases) await scan.one(id, 'all')
      else await scan.all()
    },
  }
}

function mayRest(entry: CaseEntry | undefined): boolean {
  return entry !== undefined && isPlain(entry) && stampsOf(entry) !== null
}

/** What counts of cases that were changed by hand while a session ran. */
async function pinsIn(stateDir: string): Promise<Map<string, Pins>> {
  const { createHoldFiles } = await import('../../workspace/hold-files.ts')
  const { own } = await createHoldFiles(stateDir, () => {}).read() // the service logs what is damaged
  return own
}

/** What a broken file said before is known, and what is read anew is only noted. */
function readOnly(kept: KeptReader | null, anew: Map<string, Record<string, string>>): LastGood {
  return {
    remember(key, text) {
      const [id, file] = partsOfKey(key)
      anew.set(id, { ...anew.get(id), [file]: text })
    },
    recall(key) {
      return kept?.text(...partsOfKey(key)) ?? null
    },
    forget() {},
  }
}
