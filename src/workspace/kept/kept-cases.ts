import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { TriageRow } from '../../model/triage-row.ts'
import type { Digest } from '../case-digest.ts'
import type { CaseEntry } from '../case-entry.ts'
import { decodeEntry, encodeEntry, isPlain, type KeptCase, printOf, stampsOf } from './kept-case.ts'
import { createKeptFile, type KeptFile, openKeptFile, readKeptFile } from './kept-file.ts'
import { createKeptTexts, type KeptTexts, openKeptTexts, readKeptTexts } from './kept-texts.ts'

/** The parts of a record behind its head, in their order. */
const JSON_TEXT = 1
const ROW = 2
const ENTRY = 3
const TOLD = 4
const VALUES = [JSON_TEXT, ROW, ENTRY, TOLD]

/** What is kept of a case: its values, its texts as they last could be read, what was told of it. */
export interface Keeping {
  entry: CaseEntry
  digest: Pick<Digest, 'json' | 'row'>
  /** Of its record files, by name relative to its folder. */
  texts: Record<string, string>
  told: string
  /** Whether nothing but its files decides what is shown of it. */
  mayRest: boolean
}

/**
 * The cases as they were last read, in two files of the state folder: so that a start reads only what
 * changed, memory holds only what is in use, and a file that a person broke still has its last good
 * value. Lost, it is made again, and nothing but time is lost; but for that last good value.
 */
export interface KeptCases extends KeptReader {
  /** Empties `found`: it is for a start alone, as what is known of a case later is what was read since. */
  forgetFound(): void
  /** Gives what stands for the case now; null where its files were changed too short a time ago, or it may not rest. */
  keep(keeping: Keeping): KeptCase | null
  remove(id: string): void
  close(): void
}

export interface KeptReader {
  /** As of opening: those whose files need not be read again when they have the same stamps. */
  readonly found: ReadonlyMap<string, KeptCase>
  entry(kept: KeptCase): CaseEntry
  /** The case as requests are answered. */
  json(kept: KeptCase): string
  row(kept: KeptCase): TriageRow
  told(kept: KeptCase): string
  /** The last good text of a record file. */
  text(id: string, file: string): string | null
}

interface Head {
  id: string
  /** Null of a case that is gone. */
  kept: Omit<KeptCase, 'at'> | null
}

const FILE = 'cases'
/** Apart from the values, as a start need not read them. */
const TEXTS_FILE = 'texts'
/** Of a case of which only texts are kept. */
const BARE: KeptCase = {
  ...{ at: -1, names: '', print: 0, told: 0, parent: null, created_at: '', textsAt: -1 },
}

/** Outdated records may take this part of the files, and this much besides. */
const MAX_SHARE = 0.5
const SLACK_BYTES = 32 * 1024 * 1024
/** What is known of old texts at a start is that they take far more than the values. */
const TEXTS_SHARE = 3

export function toldSum(told: string): number {
  return crc32(told)
}

/**
 * `title`: what the records depend on besides the files, on one line. A file that cannot be written is said
 * once; then nothing rests, and nothing is lost.
 */
export function openKeptCases(
  folder: string,
  title: string,
  log: (line: string) => void,
): KeptCases {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, FILE)
  const found = new Map<string, KeptCase>()
  /** What stands in the file, by case; without names where it is not to be believed. */
  const standing = new Map<string, KeptCase>()
  let outdated = 0
  let isFailing = false
  /** Of what was deleted, no copy stays longer than until the service stops. */
  let hasRemoved = false
  let file: KeptFile = openKeptFile(path, title, (at, head) => {
    if (!noteHead(standing, at, head)) hasRemoved = true
  })
  for (const [id, kept] of standing) if (kept.names !== '') found.set(id, kept)
  const bare = (id: string, textsAt: number) => void standing.set(id, { ...BARE, textsAt })
  let texts = openKeptTexts(join(folder, TEXTS_FILE), file.size === 0 ? bare : null)
  outdated += Math.max(0, texts.size - TEXTS_SHARE * file.size)
  const append = (parts: readonly string[]) => file.append(parts.map((part) => Buffer.from(part)))

  function put(head: Head, parts: readonly string[]): number {
    const before = standing.get(head.id)
    if (before && before.at >= 0) outdated += file.sizeOf(before.at)
    if (before && before.textsAt !== head.kept?.textsAt)
      outdated += texts.sizeOf(head.id, before.textsAt)
    return append([JSON.stringify(head), ...parts])
  }

  /** What is outdated goes; whoever holds a kept case finds it in its new place. */
  function compact(): void {
    const nextTexts = createKeptTexts(join(folder, `${TEXTS_FILE}.new`))
    const next = createKeptFile(`${path}.new`, title)
    const moved: [KeptCase, number, number][] = []
    for (const [id, kept] of standing) {
      const textsAt = texts.copyTo(nextTexts, id, kept.textsAt)
      const { at, ...rest } = kept
      const head = JSON.stringify({ id, kept: { ...rest, textsAt } } satisfies Head)
      const parts = (at < 0 ? [] : VALUES).map((part) => file.read(at, part))
      moved.push([kept, at < 0 ? at : next.append([Buffer.from(head), ...parts]), textsAt])
    }
    nextTexts.replace(join(folder, TEXTS_FILE))
    next.replace(path)
    texts.close()
    file.close()
    texts = nextTexts
    file = next
    for (const [kept, at, textsAt] of moved) Object.assign(kept, { at, textsAt })
    outdated = 0
  }

  /** Null where the disk does not let us. */
  function unlessFailing<T>(work: () => T): T | null {
    try {
      const result = work()
      isFailing = false
      return result
    } catch (error) {
      if (!isFailing) log(`what was read of the cases is not kept for the next start: ${error}`)
      isFailing = true
      return null
    }
  }

  return {
    found,
    forgetFound: () => found.clear(),
    keep({ entry, digest, texts: fresh, told, mayRest }) {
      const { id } = entry
      const stamps = mayRest && isPlain(entry) ? stampsOf(entry) : null
      return unlessFailing(() => {
        const kept = {
          names: stamps ? interned(stamps.map(([name]) => name).join(',')) : '',
          print: stamps ? printOf(stamps) : 0,
          told: toldSum(told),
          parent: entry.file.value.parent,
          created_at: entry.file.value.created_at,
          textsAt: texts.keep(id, namesOf(entry), fresh, standing.get(id)?.textsAt),
        }
        const row = JSON.stringify(digest.row)
        const at = put({ id, kept }, [digest.json, row, encodeEntry(entry), told])
        const stands = { ...kept, at }
        standing.set(id, stands)
        if (outdated > MAX_SHARE * (file.size + texts.size) + SLACK_BYTES) compact()
        return stamps ? stands : null
      })
    },
    remove(id) {
      if (!standing.has(id)) return
      unlessFailing(() => put({ id, kept: null }, []))
      standing.delete(id)
      hasRemoved = true
    },
    ...readerOf(() => ({ file, texts }), standing),
    close() {
      unlessFailing(() => {
        if (hasRemoved) compact()
        texts.close()
        file.close()
      })
    },
  }
}

/** The same to be read alone, beside a service or without one; null where nothing is kept. */
export function readKeptCases(folder: string, title: string): KeptReader | null {
  const standing = new Map<string, KeptCase>()
  const noted = (at: number, head: Buffer) => void noteHead(standing, at, head)
  const file = readKeptFile(join(folder, FILE), title, noted)
  if (!file) return null
  const texts = readKeptTexts(join(folder, TEXTS_FILE))
  const found = new Map([...standing].filter(([, kept]) => kept.names !== ''))
  return { found, ...readerOf(() => ({ file, texts }), standing) }
}

/** False for a case that is gone. */
function noteHead(standing: Map<string, KeptCase>, at: number, head: Buffer): boolean {
  const { id, kept } = JSON.parse(head.toString()) as Head
  if (kept) standing.set(id, { ...kept, names: interned(kept.names), at })
  else standing.delete(id)
  return kept !== null
}

function readerOf(
  files: () => { file: KeptFile; texts: KeptTexts | null },
  standing: ReadonlyMap<string, KeptCase>,
): Omit<KeptReader, 'found'> {
  const read = (at: number, part: number) => files().file.read(at, part).toString()
  return {
    entry: ({ at }) => decodeEntry(read(at, ENTRY), read(at, JSON_TEXT)),
    json: ({ at }) => read(at, JSON_TEXT),
    row: ({ at }) => JSON.parse(read(at, ROW)),
    told: ({ at }) => read(at, TOLD),
    text(id, name) {
      const kept = standing.get(id)
      return (kept && files().texts?.read(id, kept.textsAt)?.[name]) ?? null
    },
  }
}

/** Of its record files. */
function namesOf({ sessions }: CaseEntry): string[] {
  return ['case.md', ...[...sessions.keys()].map((number) => `sessions/${number}.md`)]
}

/** Most cases have the same few names, which then take memory once. */
const NAMES = new Map<string, string>()

function interned(names: string): string {
  if (names.length > 40) return names
  const known = NAMES.get(names)
  if (known === undefined) NAMES.set(names, names)
  return known ?? names
}
