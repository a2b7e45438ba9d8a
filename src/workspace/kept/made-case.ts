import type { CaseFolder } from '../../model/case-folder.ts'
import { caseJson } from '../../model/case-json.ts'
import { triageRow } from '../../model/triage-row.ts'
import type { CaseEntry } from '../case-entry.ts'
import { folderOf } from '../case-folder-of.ts'
import { isLatestWrong } from '../latest.ts'
import type { Layout } from '../layout.ts'
import { plainLook } from '../plain-look.ts'
import type { TrailMemory } from '../trail-memory.ts'
import {
  encodeEntry,
  hasPlainFiles,
  type KeptCase,
  LOOK_AGAIN,
  printOf,
  stampsOf,
} from './kept-case.ts'

/** A case as it is kept, made from its files alone, so that any thread can do it. */
export interface MadeCase extends Pick<KeptCase, 'names' | 'print' | 'parent' | 'created_at'> {
  id: string
  /** The parts of its record behind the head. */
  json: string
  row: string
  entry: string
  told: string
  /** The texts of its record files by name, as JSON. */
  texts: string
  /** Folders in it that hold no records. */
  otherFolders: string[]
}

/** What is to be told of a case, as text. */
export type ToldOf = (entry: CaseEntry, folder: CaseFolder) => string

/** Reads a case and makes what is kept of it; null where more has to be known, or it is not plain. */
export function makeCase(
  layout: Layout,
  id: string,
  toldOf: ToldOf,
  trails: Pick<TrailMemory, 'recall'>,
): MadeCase | null {
  const read = plainLook(layout, id, trails)
  if (!read) return null
  const { entry, texts, otherFolders } = read
  const stamps = hasPlainFiles(entry) ? stampsOf(entry) : null
  if (!stamps) return null
  const folder = folderOf(entry, () => false, undefined)
  const json = caseJson(folder, entry.file.mtimeMs)
  const { parent, created_at } = entry.file.value
  return {
    ...{ id, parent, created_at, otherFolders },
    names: stamps.map(([name]) => name).join('\n'),
    // links are set when the start is over: a clone has none
    print: isLatestWrong(entry) ? LOOK_AGAIN : printOf(stamps),
    json: JSON.stringify(json),
    row: JSON.stringify(triageRow(folder, json)),
    entry: encodeEntry(entry),
    told: toldOf(entry, folder),
    texts: JSON.stringify(texts),
  }
}
