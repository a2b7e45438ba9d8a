/** Whole cases, in memory only while they are in use or are not stored yet, and loaded from casefile.db again. */

import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { CaseContents } from '../../model/case-contents.ts'
import { type CaseJson, caseJson } from '../../model/case-json.ts'
import { type Reading, readingOf } from '../../model/changes.ts'
import type { FrozenValues } from '../../model/frozen-values.ts'
import type { StoredRows } from '../../state/record-rows.ts'
import { buildCaseContents } from '../build-case-contents.ts'
import type { CaseEntry } from '../case-entry.ts'
import { addRecords, decodeFolder, fileHashes, toReadAgain } from './case-rows.ts'

export interface Loaded {
  /** Null if the case is gone. */
  entry: CaseEntry | null
  /** What the rows in the database were made of; null if there are none. */
  stored: CaseEntry | null
  /** What was published last; null if nothing was. */
  published: Reading | null
  /** Whether it has changed since that was published. */
  isUnpublished: boolean
  contents: CaseContents | null
  json: string | null
}

/** The same, of a case that is not gone. */
export type Present = Loaded & { entry: CaseEntry }

export interface LoadedCases {
  /** `isSeen`: whether this start has looked at the case. */
  load(id: string, isSeen: boolean): Loaded | undefined
  /** The same before it is needed, without a long pause for a case with many files. */
  loadInParts(id: string, isSeen: () => boolean): Promise<void>
  /** The case, only if it is in memory. */
  inMemory(id: string): Loaded | undefined
  use(id: string, loaded: Loaded): void
  /** Keeps a case in memory until its rows are written. */
  keep(id: string, loaded: Loaded): void
  /** Call when the rows of a case that is kept are written. */
  release(id: string): void
  kept: ReadonlyMap<string, Loaded>
  folder(loaded: Present): CaseContents
  caseJson(loaded: Present): CaseJson
  /** The JSON of `GET /cases/:id`. */
  json(loaded: Present): string
}

export interface LoadedCasesDeps {
  /** Whether a session runs in this process. */
  isRunningHere(sessionId: string): boolean
  /** The frozen values of a case. */
  frozen(caseId: string): FrozenValues | undefined
  /** Cases that are not in use; without it all stay in memory. */
  stored?: StoredRows
}

/** Number of recently used cases in memory. */
const MAX_RECENT = 300
const AT_ONCE = 2000

export function createLoadedCases(deps: LoadedCasesDeps): LoadedCases {
  const { isRunningHere, frozen, stored } = deps
  const recent = new LRUCache<string, Loaded>({ max: MAX_RECENT })
  const kept = new Map<string, Loaded>()

  function build(entry: CaseEntry): CaseContents {
    return buildCaseContents(entry, isRunningHere, frozen(entry.id))
  }

  function folder(loaded: Present): CaseContents {
    loaded.contents ??= build(loaded.entry)
    return loaded.contents
  }

  function add(
    id: string,
    isSeen: boolean,
    { entry, published }: ReturnType<typeof decodeFolder>,
  ): Loaded {
    const contents = build(entry)
    const { proofs, notes, ...others } = published
    const unreadable = { proofs: new Map(proofs), notes: new Map(notes) }
    const loaded: Loaded = {
      entry: isSeen ? entry : toReadAgain(entry, stored!.isOtherFormat),
      stored: entry,
      published: { ...readingOf(contents, fileHashes(entry), unreadable), ...others },
      isUnpublished: false,
      contents: isSeen ? contents : null,
      json: null,
    }
    recent.set(id, loaded)
    return loaded
  }

  const asJson = (loaded: Present) => caseJson(folder(loaded), loaded.entry.file.mtimeMs)

  return {
    load(id, isSeen) {
      const known = kept.get(id) ?? recent.get(id)
      const folder = known ? undefined : stored?.folder(id)
      if (folder === undefined) return known
      // read first: SQLite says where the file is damaged
      const records = stored!.records(id)
      const decoded = decodeFolder(folder)
      addRecords(decoded.entry, records)
      return add(id, isSeen, decoded)
    },
    async loadInParts(id, isSeen) {
      const row = kept.has(id) || recent.has(id) ? undefined : stored?.folder(id)
      if (row === undefined) return
      let records = stored!.records(id, '', AT_ONCE)
      const decoded = decodeFolder(row)
      addRecords(decoded.entry, records)
      while (records.length === AT_ONCE) {
        await setImmediate()
        records = stored!.records(id, records.at(-1)!.file, AT_ONCE)
        addRecords(decoded.entry, records)
      }
      const isSame = !kept.has(id) && !recent.has(id) && stored!.folder(id) === row
      if (isSame) add(id, isSeen(), decoded)
    },
    inMemory: (id) => kept.get(id) ?? recent.peek(id),
    use: (id, loaded) => void recent.set(id, loaded),
    keep(id, loaded) {
      recent.delete(id)
      kept.set(id, loaded)
    },
    release(id) {
      const loaded = kept.get(id)
      kept.delete(id)
      if (loaded?.entry) recent.set(id, loaded)
    },
    kept,
    folder,
    caseJson: asJson,
    json(loaded) {
      loaded.json ??= JSON.stringify(asJson(loaded))
      return loaded.json
    },
  }
}
