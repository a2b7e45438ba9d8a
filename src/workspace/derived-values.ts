import type { CaseFolder } from '../model/case-folder.ts'
import { caseJson } from '../model/case-json.ts'
import type { Pins } from '../model/held.ts'
import { type TriageRow, triageRow } from '../model/triage-row.ts'
import { CaseDigest, type Digest, HeldDigests } from './case-digest.ts'
import type { CaseEntry } from './case-entry.ts'
import { folderOf } from './case-folder-of.ts'
import type { KeptCase } from './kept/kept-case.ts'

/** What is computed from the entries of cases, until one changes. */
export interface DerivedValues {
  folder(id: string): CaseFolder | undefined
  digest(id: string): Digest | undefined
  forget(id: string): void
  /** Its entry is let go of: from now on this stands for it. */
  rest(id: string, kept: KeptCase): void
  /** The JSON of one that rests is at hand, until `letGo`. */
  hold(id: string, json: string): void
  letGo(): number
}

export interface DerivedNeeds {
  /** Whether a session plans or works in this process. */
  isHeld(sessionId: string): boolean
  /** What counts of a case, whatever its files say. */
  pins(caseId: string): Pins | undefined
}

interface Entries extends DerivedNeeds {
  entry(id: string): CaseEntry | undefined
  /** What stands for a case while it rests; null for one that is awake or unknown. */
  resting(id: string): KeptCase | null
  shelf: { json(kept: KeptCase): string; row(kept: KeptCase): TriageRow }
}

export function createDerivedValues(needs: Entries): DerivedValues {
  const { entry, resting, shelf, isHeld, pins } = needs
  const folders = new Map<string, CaseFolder>()
  const digests = new Map<string, CaseDigest>()
  const held = new HeldDigests()

  function folder(id: string): CaseFolder | undefined {
    const known = folders.get(id)
    if (known) return known
    const of = entry(id)
    if (!of) return undefined
    const made = folderOf(of, isHeld, pins(id))
    folders.set(id, made)
    return made
  }

  function digest(id: string): Digest | undefined {
    const known = digests.get(id)
    if (known) return known
    const made = digestOf(id)
    if (made) digests.set(id, made)
    return made
  }

  function digestOf(id: string): CaseDigest | undefined {
    const kept = resting(id)
    if (kept) return new CaseDigest({ id, created_at: kept.created_at }, null).rest(shelf, kept)
    const [of, all] = [entry(id), folder(id)]
    if (!of || !all) return undefined
    const json = caseJson(all, of.file.mtimeMs)
    return new CaseDigest(json, { json: JSON.stringify(json), row: triageRow(all, json) })
  }

  return {
    ...{ folder, digest, letGo: () => held.letGo() },
    forget(id) {
      folders.delete(id)
      digests.delete(id)
    },
    rest(id, kept) {
      folders.delete(id)
      digests.get(id)?.rest(shelf, kept)
    },
    hold(id, json) {
      digests.set(id, held.hold(digestOf(id)!, json))
    },
  }
}
