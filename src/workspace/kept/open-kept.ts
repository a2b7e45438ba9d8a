import { type Catalog, type CatalogNeeds, createCatalog } from '../catalog.ts'
import { createKeeper, type Keeper, type KeeperNeeds } from './keeper.ts'
import type { KeptCase } from './kept-case.ts'
import { type KeptCases, openKeptCases } from './kept-cases.ts'
import { keptTitle } from './kept-title.ts'

export interface OpenCatalogNeeds
  extends Pick<CatalogNeeds, 'isHeld' | 'pins'>,
    Pick<KeeperNeeds, 'told' | 'isTold'> {
  /** Where in the state folder. */
  folder: string
  memoryRoot: string
  version: string
  log: (line: string) => void
  /** What was kept of these is damaged: they are to be read anew. */
  onLost(lost: ReadonlyMap<string, KeptCase>): void
}

export interface OpenCatalog {
  catalog: Catalog
  keeper: Keeper
  /** Cases as an earlier service read them. */
  found: ReadonlyMap<string, KeptCase>
}

/** The catalog, with a place on the disk for what is not in use. */
export function openCatalog(needs: OpenCatalogNeeds): OpenCatalog {
  const { isHeld, pins, told, isTold, onLost, log } = needs
  const kept = openKept(needs)
  const keeper = createKeeper({
    ...{ kept, told, isTold, log, catalog: () => catalog },
    isPinned: (id) => pins(id) !== undefined,
  })
  const catalog = createCatalog({
    ...{ isHeld, pins, onLost, onDirty: keeper.changed },
    ...(kept ? { shelf: kept } : {}),
  })
  return { catalog, keeper, found: kept?.found ?? new Map() }
}

/** What an earlier service kept; null where the disk does not let us, which is said. */
function openKept({ folder, memoryRoot, version, log }: OpenCatalogNeeds): KeptCases | null {
  try {
    return openKeptCases(folder, keptTitle(memoryRoot, version), log)
  } catch (error) {
    log(`what was read of the cases cannot be kept for the next start: ${String(error)}`)
    return null
  }
}
