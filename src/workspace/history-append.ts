/** Appends lines to history.md, which a person may be editing. */

import { setTimeout as delay } from 'node:timers/promises'
import { changeDurable } from '../files/change-durable.ts'
import { placeNewDurable } from '../files/durable-write.ts'
import { stampNow } from '../files/read-now.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import { historyLine, readHistory, withHistory } from '../markdown/history-file.ts'
import { HISTORY_FILE, type HistoryEntry, SERVICE_ACTOR } from '../model/history.ts'
import { Refusal } from '../model/refusal.ts'
import type { CaseEntry } from './case-entry.ts'
import type { Keepers } from './late-saves/pre-images.ts'
import type { Layout } from './layout.ts'
import { MAX_MEMORY_BYTES } from './memory-files.ts'
import type { NoteFile } from './notes.ts'
import { hashOf } from './record.ts'
import { endingOf } from './sync/stability.ts'

/** How often an append is tried again if somebody keeps saving the file. */
const ATTEMPTS = 20
const PAUSE_MS = 10

/** What `appendHistory` has written, as the catalog keeps it. */
export interface WrittenHistory {
  note: NoteFile
  /** The hash of what stood there before; empty where nothing did. */
  before: string
}

/**
 * Appends lines to a case's history.md, and makes the file where there is none. Refuses with `unreadable_file`
 * one that is no text to append to: it is left as it is. The lines get their place after `first`, which must be on the
 * disk before them.
 */
export async function appendHistory(
  { layout, lateSaves }: { layout: Layout; lateSaves: Keepers },
  { id, file }: Pick<CaseEntry, 'id' | 'file'>,
  lines: readonly string[],
  first?: Promise<void>,
): Promise<WrittenHistory> {
  const path = layout.memoryFile(id, HISTORY_FILE)
  const within = layout.caseFolder(id)
  for (let attempt = 1; ; attempt++) {
    try {
      return await appendOnce()
    } catch (error) {
      const isRetried = error instanceof Refusal && RETRIED.has(error.code)
      if (!isRetried || attempt >= ATTEMPTS) throw error
      await delay(PAUSE_MS)
    }
  }

  async function appendOnce(): Promise<WrittenHistory> {
    const read = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
    if (!read.ok && read.reason === 'missing') {
      // an older case, or one that a person made, has no record of its author
      const created = { what: 'created', who: 'unknown' }
      const begin = historyLine(created, SERVICE_ACTOR, file.value.created_at)
      const text = withHistory(null, [begin, ...lines])
      await first
      const { synced } = await placeNewDurable(path, Buffer.from(text), { within })
      await synced
      return { note: noteOf(path, text), before: '' }
    }
    if (!read.ok) throw unreadable(read.detail)
    let text = ''
    let before = ''
    const place = { id, file: HISTORY_FILE }
    const { synced } = await changeDurable(
      path,
      {
        maxBytes: MAX_MEMORY_BYTES,
        within,
        keeperOf: (present) => lateSaves.keeperOf(place, present),
      },
      async (present) => {
        before = hashOf(present)
        text = withHistory(sound(present), lines)
        const bytes = Buffer.from(text)
        if (bytes.length > MAX_MEMORY_BYTES) throw unreadable('it would be over 10 MiB')
        return { bytes, first }
      },
    )
    await synced
    return { note: noteOf(path, text), before }
  }
}

const RETRIED: ReadonlySet<string> = new Set(['changed_meanwhile', 'already_exists'])

/** The text, if lines can be appended to it. */
function sound(bytes: Buffer): string {
  const text = decodeUtf8(bytes)
  if (!text.ok) throw unreadable(`line ${text.line} is not UTF-8`)
  const line = conflictLine(text.text)
  if (line !== null) throw unreadable(`line ${line} is a conflict marker of git`)
  return text.text
}

function unreadable(why: string): Refusal {
  return new Refusal(
    'unreadable_file',
    `${HISTORY_FILE} cannot be appended to as it stands: ${why}.`,
  )
}

/** As another look would read it; no stamp, so that this look is made. */
export function noteOf(path: string, text: string): NoteFile {
  const mtimeMs = stampNow(path)?.mtimeMs ?? 0
  const hash = hashOf(Buffer.from(text))
  return { stamp: null, mtimeMs, hash, ending: endingOf(text), problems: [] }
}

/** What a case's history.md says, oldest first; null where there is none that can be read. */
export async function historyOf(layout: Layout, id: string): Promise<HistoryEntry[] | null> {
  const path = layout.memoryFile(id, HISTORY_FILE)
  const within = layout.caseFolder(id)
  const read = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  return text?.ok ? readHistory(text.text) : null
}
