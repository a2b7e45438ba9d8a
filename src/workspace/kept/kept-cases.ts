import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Digest } from '../case-digest.ts'
import type { CaseEntry } from '../case-entry.ts'
import { encodeEntry, isPlain, type KeptCase, printOf, stampsOf } from './kept-case.ts'
import { createKeptFile, type KeptFile, openKeptFile } from './kept-file.ts'
import {
  createStanding,
  FILE,
  foundIn,
  type Head,
  interned,
  type KeptReader,
  readerOf,
  TEXTS_FILE,
} from './kept-reader.ts'
import { createKeptTexts, type KeptTexts, openKeptTexts } from './kept-texts.ts'

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
  /**
   * Gives what stands for the case now, the same object for as long as there is one; without names where its files
   * were changed too short a time ago, or it may not rest. Null where the disk does not let us.
   */
  keep(keeping: Keeping): KeptCase | null
  remove(id: string): void
  /** Forgets the record of a case, which is damaged; its last good texts stay. */
  drop(id: string): void
  /** Puts what is kept so far where a service that dies leaves it. */
  flush(): void
  close(): void
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
  slackBytes = SLACK_BYTES,
): KeptCases {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, FILE)
  const textsPath = join(folder, TEXTS_FILE)
  const standing = createStanding()
  const { cases, gone } = standing
  const lengths = new Map<number, number>()
  let file: KeptFile = openKeptFile(path, title, (at, head, length) => {
    standing.note(at, head)
    lengths.set(at, length)
  })
  const found = foundIn(standing)
  let texts = openKeptTexts(textsPath)
  let outdated = Math.max(0, texts.size - TEXTS_SHARE * file.size) + file.size
  for (const { at } of cases.values()) outdated -= lengths.get(at)!
  lengths.clear()
  let isFailing = false
  let hasRemoved = gone.size > 0
  const reader = readerOf(() => ({ file, texts }), standing)

  function put(head: Head, parts: readonly string[]): number {
    const before = cases.get(head.id)
    if (before && file.readSure(before.at)) outdated += file.sizeOf(before.at)
    if (before && before.textsAt !== head.kept?.textsAt)
      outdated += texts.sizeOf(head.id, before.textsAt)
    return file.append([JSON.stringify(head), ...parts])
  }

  /** What stands for a case now, when its record is made and put. */
  function stand(
    id: string,
    make: () => { kept: Omit<KeptCase, 'at'>; parts: readonly string[] },
  ): KeptCase | null {
    const stands = unlessFailing(() => {
      const { kept, parts } = make()
      const at = put({ id, kept }, parts)
      const now = Object.assign(cases.get(id) ?? {}, { ...kept, at })
      cases.set(id, now)
      gone.delete(id)
      return now
    })
    if (stands && outdated > MAX_SHARE * (file.size + texts.size) + slackBytes) {
      unlessFailing(compact)
      outdated = 0 // where that failed, it is tried again after as much
    }
    return stands
  }

  /** What is outdated goes; whoever holds a kept case finds it in its new place. */
  function compact(): void {
    const nextTexts = createKeptTexts(`${textsPath}.new`)
    const next = unless(nextTexts.discard, () => createKeptFile(`${path}.new`, title))
    const discard = () => {
      nextTexts.discard()
      next.discard()
    }
    const moved = unless(discard, () => copied(next, nextTexts))
    nextTexts.replace(textsPath)
    next.replace(path)
    texts.close()
    file.close()
    texts = nextTexts
    file = next
    for (const [kept, at, textsAt] of moved) Object.assign(kept, { at, textsAt })
    gone.clear()
    reader.moved()
    outdated = 0
  }

  /** The places that the cases have in the other files. */
  function copied(next: KeptFile, nextTexts: KeptTexts): [KeptCase, number, number][] {
    // texts of which no record tells are those of records that were lost
    for (const [id, at] of texts.places()) {
      if (!cases.has(id) && !gone.has(id)) texts.copyTo(nextTexts, id, at)
    }
    const moved = [...cases].map(([id, kept]): [KeptCase, number, number] => {
      const textsAt = texts.copyTo(nextTexts, id, reader.textsAt(id) ?? -1)
      const { at, ...rest } = kept
      const head = JSON.stringify({ id, kept: { ...rest, textsAt } } satisfies Head)
      const parts = file.readSure(at)
      // one that is damaged stands nowhere from now on, and is read anew when it is asked for
      return [kept, parts ? next.append([head, ...parts.slice(1)]) : -1, textsAt]
    })
    nextTexts.flush()
    next.flush()
    return moved
  }

  /** Null where the disk does not let us. */
  function unlessFailing<T>(work: () => T): T | null {
    try {
      return work()
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
      return stand(id, () => {
        const kept = {
          names: stamps ? interned(stamps.map(([name]) => name).join('\n')) : '',
          print: stamps ? printOf(stamps) : 0,
          told: toldSum(told),
          parent: entry.file.value.parent,
          created_at: entry.file.value.created_at,
          textsAt: texts.keep(id, namesOf(entry), fresh, () => reader.textsAt(id)),
        }
        const row = JSON.stringify(digest.row)
        return { kept, parts: [digest.json, row, encodeEntry(entry), told] }
      })
    },
    remove(id) {
      if (cases.has(id)) unlessFailing(() => put({ id, kept: null }, []))
      cases.delete(id)
      gone.add(id)
      hasRemoved = true
    },
    drop: (id) => void cases.delete(id),
    ...reader,
    flush: () => void unlessFailing(flush),
    close() {
      if (hasRemoved) unlessFailing(compact)
      unlessFailing(texts.close)
      unlessFailing(file.close)
    },
  }

  function flush(): void {
    texts.flush() // before the records that tell where they are
    file.flush()
    isFailing = false // no sooner: what is appended is in memory
  }
}

/** Throws on what the work throws, after the other. */
function unless<T>(otherwise: () => void, work: () => T): T {
  try {
    return work()
  } catch (error) {
    otherwise()
    throw error
  }
}

/** Of its record files. */
function namesOf({ sessions }: CaseEntry): string[] {
  return ['case.md', ...[...sessions.keys()].map((number) => `sessions/${number}.md`)]
}
