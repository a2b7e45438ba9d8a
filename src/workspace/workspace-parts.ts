import type { Ownership } from '../state/owner/ownership.ts'
import type { StateFolder } from '../state/state-folder.ts'
import type { CatalogNeeds } from './catalog.ts'
import type { GitActivity } from './git/git-activity.ts'
import { isInGit } from './git/git-contents.ts'
import { createLatest } from './latest.ts'
import { type CaseLeftovers, createCaseLeftovers } from './leftovers.ts'
import { createSecondLook, type SecondLook } from './rescue/second-look.ts'
import { createScan, type Scan, type ScanNeeds } from './scan.ts'
import { createSettling } from './settling.ts'
import { createStore, type Store, type StoreNeeds } from './store.ts'
import { createTexts, type Texts } from './texts.ts'
import { createTrailMemory } from './trail-memory.ts'
import { createUpkeep, type Upkeep, type UpkeepNeeds } from './upkeep.ts'

/** What stands between the files and the catalog. */
export interface WorkspaceParts {
  /** Looks at files, and tells the catalog. */
  scan: Scan
  /** When they are looked at. */
  upkeep: Upkeep
  /** How they are written. */
  store: Store
  secondLook: SecondLook
  texts: Texts
  leftovers: CaseLeftovers
}

export interface WorkspaceNeeds
  extends Pick<ScanNeeds, 'layout' | 'catalog' | 'mutex' | 'publish' | 'found'>,
    Pick<ScanNeeds, 'lastGood' | 'deletions'>,
    Pick<StoreNeeds, 'onWritten' | 'gitPatienceMs' | 'history'>,
    Pick<UpkeepNeeds, 'isLive'>,
    Pick<CatalogNeeds, 'isHeld'> {
  state: Pick<StateFolder, 'preImages' | 'trash' | 'trails'>
  ownership: Pick<Ownership, 'lost' | 'memoryRootMade'>
  git: GitActivity
  /** Called when the memory root was made, and is owned. */
  onMemoryRoot(): void
  /** Throws from when this service writes nothing any more. */
  mustBeOpen(): void
  now(): string
  log(line: string): void
}

/** The parts that read and write files, with what they share; nothing is looked at yet. */
export function createWorkspaceParts(needs: WorkspaceNeeds): WorkspaceParts {
  const { layout, catalog, mutex, git, log, ownership, state } = needs
  const settling = createSettling()
  const leftovers = createCaseLeftovers(layout, log)
  const latest = createLatest({
    ...{ layout, log, later: (id, ms) => upkeep.later(id, ms) },
    async mayNotWrite() {
      return ownership.lost.aborted || git.isBusy('now')
    },
  })
  const shared = {
    ...needs,
    settling,
    latest,
    isGits: git.touched,
    lastText: needs.lastGood.recall,
    trails: createTrailMemory(state.trails),
    isInGit: (names: readonly string[]) => isInGit(layout.memoryRoot, names),
  }
  const scan = createScan({
    ...{ ...shared, sawFolder: leftovers.saw },
    onUnsettled: (id, wait) => upkeep.later(id, wait),
  })
  const upkeep = createUpkeep({
    ...{ scan, catalog, mutex, settling, git, log },
    isLive: needs.isLive,
    pathOf: layout.caseFolder,
  })
  const texts = createTexts(layout, needs.lastGood)
  const owned = () => {
    if (ownership.lost.aborted) throw ownership.lost.reason
  }
  const secondLook = createSecondLook({
    ...{ layout, mutex, now: needs.now, log, folder: state.preImages },
    async mayWrite() {
      owned()
      if (!(await upkeep.gitDone(10_000))) throw new Error('git is changing the files')
    },
    onRescued: (id) => upkeep.later(id, 0),
  })
  const store = createStore({
    ...{ ...shared, scan, secondLook, texts, trash: state.trash },
    ...{ still: upkeep.still, gitDone: upkeep.gitDone },
    async onMemoryRoot() {
      await ownership.memoryRootMade()
      needs.onMemoryRoot()
    },
    writable() {
      owned()
      needs.mustBeOpen()
    },
  })
  return { scan, upkeep, store, secondLook, texts, leftovers }
}
