/** Appends lines to history.md, which a person may be editing. */

import { setTimeout as delay } from 'node:timers/promises'
import { isOfRegularFile, stampNow } from '../files/read-now.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { type StagedFile, stageChange, stageNew } from '../files/staged-file.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import { historyLine, readHistory, withHistory } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { HISTORY_FILE, type HistoryEntry, SERVICE_ACTOR } from '../model/history.ts'
import type { CaseEntry } from './case-entry.ts'
import type { HistoryJournal } from './history-journal.ts'
import type { ReplacedFileTrackers } from './late-saves/pre-images.ts'
import type { Layout } from './layout.ts'
import { MAX_MEMORY_BYTES } from './memory-files.ts'
import type { NoteFile } from './notes.ts'
import { hashOf } from './record.ts'
import { endingOf } from './sync/stability.ts'

/** How often lines are placed again if somebody keeps saving the file. */
const ATTEMPTS = 20
const PAUSE_MS = 10

/** What history.md says once it is placed. */
export interface StagedHistory extends StagedFile {
  path: string
  text: string
  /** The hash of what was there before; empty if nothing was. */
  before: string
  /** The hash of `text`. */
  after: string
}

interface HistoryDeps {
  layout: Layout
  lateSaves: ReplacedFileTrackers
  history: Pick<HistoryJournal, 'appending'>
}

/**
 * Lines appended to a case's history.md, for which the file is made where there is none. Refuses with
 * `unreadable_file` one that is no text to append to: it is left as it is.
 */
export async function stageHistory(
  { layout, lateSaves }: Pick<HistoryDeps, 'layout' | 'lateSaves'>,
  { id, file }: Pick<CaseEntry, 'id' | 'file'>,
  lines: readonly string[],
): Promise<StagedHistory> {
  const path = layout.memoryFile(id, HISTORY_FILE)
  const within = layout.caseFolder(id)
  const stamp = stampNow(path)
  if (!stamp) {
    // an older case, or one that a person made, has no record of its author
    const created = { what: 'created', who: 'unknown' }
    const begin = historyLine(created, SERVICE_ACTOR, file.value.created_at)
    const text = withHistory(null, [begin, ...lines])
    const bytes = Buffer.from(text)
    const staged = await stageNew(path, bytes, { within })
    return { ...staged, path, text, before: '', after: hashOf(bytes) }
  }
  if (!isOfRegularFile(stamp)) throw unreadable('it is no regular file')
  if (stamp.size > MAX_MEMORY_BYTES) throw unreadable(TOO_LARGE)
  let text = ''
  let before = ''
  let after = ''
  const trackerFor = (present: Buffer) => lateSaves.trackerFor({ id, file: HISTORY_FILE }, present)
  const staged = await stageChange(
    path,
    { maxBytes: MAX_MEMORY_BYTES, within, trackerFor },
    async (present) => {
      before = hashOf(present)
      text = withHistory(sound(present), lines)
      const bytes = Buffer.from(text)
      if (bytes.length > MAX_MEMORY_BYTES) throw unreadable(TOO_LARGE)
      after = hashOf(bytes)
      return bytes
    },
  )
  return { ...staged, path, text, before, after }
}

const TOO_LARGE = 'it would be over 10 MiB'

/**
 * Places the lines, which may be staged already; where somebody saved the file meanwhile, they are appended to that.
 * What it gives is to be synced and closed.
 */
export async function placeHistory(
  deps: HistoryDeps,
  entry: Pick<CaseEntry, 'id' | 'file'>,
  lines: readonly string[],
  first: StagedHistory | null = null,
): Promise<StagedHistory> {
  for (let attempt = 1; ; attempt++) {
    try {
      const staged = (attempt === 1 && first) || (await stageHistory(deps, entry, lines))
      deps.history.appending(entry.id, staged.before, staged.after)
      await staged.place()
      return staged
    } catch (error) {
      const isRetried = error instanceof AppError && RETRIED.has(error.code)
      if (!isRetried || attempt >= ATTEMPTS) throw error
      await delay(PAUSE_MS)
    }
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

function unreadable(why: string): AppError {
  return new AppError(
    'unreadable_file',
    `${HISTORY_FILE} cannot be appended to as it stands: ${why}.`,
  )
}

/** As another look would read it; no stamp, so that this look is made. */
export function noteOf(path: string, text: string, hash = hashOf(Buffer.from(text))): NoteFile {
  const mtimeMs = stampNow(path)?.mtimeMs ?? 0
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
