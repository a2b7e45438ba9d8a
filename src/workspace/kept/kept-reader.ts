import { join } from 'node:path'
import type { TriageRow } from '../../model/triage-row.ts'
import type { CaseEntry } from '../case-entry.ts'
import { decodeEntry, type KeptCase } from './kept-case.ts'
import { KeptDamage } from './kept-damage.ts'
import { type KeptFile, readKeptFile } from './kept-file.ts'
import { type KeptTexts, readKeptTexts } from './kept-texts.ts'

/** The parts of a record behind its head, in their order. */
const JSON_TEXT = 1
const ROW = 2
const ENTRY = 3
const TOLD = 4

export interface KeptReader {
  /** As of opening: those whose files need not be read again when they have the same stamps. */
  readonly found: ReadonlyMap<string, KeptCase>
  entry(kept: KeptCase): CaseEntry
  /** The case as requests are answered. */
  json(kept: KeptCase): string
  row(kept: KeptCase): TriageRow
  told(kept: KeptCase): string
  /** Whether its record stands where it was put; what else is asked for throws `KeptDamage` where it does not. */
  isSound(kept: KeptCase): boolean
  /** The last good text of a record file. */
  text(id: string, file: string): string | null
}

/** The first part of a record. */
export interface Head {
  id: string
  /** Null of a case that is gone. */
  kept: Omit<KeptCase, 'at'> | null
}

export const FILE = 'cases'
/** Apart from the values, as a start need not read them. */
export const TEXTS_FILE = 'texts'

/** What the records of a file say of its cases, when all are noted, oldest first. */
export interface Standing {
  /** Where each stands; without names where it is not to be believed. */
  cases: Map<string, KeptCase>
  /** What was deleted: no copy of it stays longer than until the service stops. */
  gone: Set<string>
  note(at: number, head: Buffer): void
}

export function createStanding(): Standing {
  const cases = new Map<string, KeptCase>()
  const gone = new Set<string>()
  return {
    ...{ cases, gone },
    note(at, head) {
      const { id, kept } = JSON.parse(head.toString()) as Head
      if (!kept) {
        gone.add(id)
        cases.delete(id)
        return
      }
      gone.delete(id)
      cases.set(id, { ...kept, names: interned(kept.names), at })
    },
  }
}

/** Those whose files need not be read again when they have the same stamps. */
export function foundIn({ cases }: Standing): Map<string, KeptCase> {
  return new Map([...cases].filter(([, kept]) => kept.names !== ''))
}

/** The same to be read alone, beside a service or without one; null where nothing is kept. */
export function readKeptCases(folder: string, title: string): KeptReader | null {
  const standing = createStanding()
  const file = readKeptFile(join(folder, FILE), title, standing.note)
  const texts = readKeptTexts(join(folder, TEXTS_FILE))
  if (!file && !texts) return null
  return { found: foundIn(standing), ...readerOf(() => ({ file: file!, texts }), standing) }
}

export interface ReaderOfKept extends Omit<KeptReader, 'found'> {
  /** Where the last good texts of a case stand. */
  textsAt(id: string): number | undefined
  /** The files are others: what was looked for in them is to be looked for again. */
  moved(): void
}

/** There is a file where a case stands in it. */
export function readerOf(
  files: () => { file: KeptFile; texts: KeptTexts | null },
  { cases, gone }: Standing,
): ReaderOfKept {
  function read(at: number, part: number): string {
    const text = files().file.readSure(at)?.[part]?.toString()
    if (text === undefined) throw new KeptDamage()
    return text
  }

  /** Of cases whose records were lost, or were cut off from their texts by a crash: looked for once, when needed. */
  let strays: Map<string, number> | null = null

  function textsOf(id: string): { at: number; texts: Record<string, string> } | null {
    const { texts } = files()
    if (!texts || gone.has(id)) return null
    const at = cases.get(id)?.textsAt ?? -1
    const known = texts.read(id, at)
    if (known) return { at, texts: known }
    strays ??= texts.places()
    const strayAt = strays.get(id) ?? -1
    const stray = texts.read(id, strayAt)
    return stray && { at: strayAt, texts: stray }
  }

  return {
    entry: ({ at }) => decodeEntry(read(at, ENTRY), read(at, JSON_TEXT)),
    json: ({ at }) => read(at, JSON_TEXT),
    row: ({ at }) => JSON.parse(read(at, ROW)),
    told: ({ at }) => read(at, TOLD),
    isSound: ({ at }) => files().file.readSure(at) !== null,
    text: (id, name) => textsOf(id)?.texts[name] ?? null,
    textsAt: (id) => textsOf(id)?.at,
    moved() {
      strays = null
    },
  }
}

/** Most cases have the same few names, which then take memory once. */
const NAMES = new Map<string, string>()

export function interned(names: string): string {
  if (names.length > 40) return names
  const known = NAMES.get(names)
  if (known === undefined) NAMES.set(names, names)
  return known ?? names
}
