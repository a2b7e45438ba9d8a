/** Appends lines to history.md, which a person may be editing. */

import { setTimeout as delay } from 'node:timers/promises'
import { hasCode } from '../files/errno.ts'
import { isOfRegularFile, stampNow } from '../files/read-now.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { type StagedFile, stageChange, stageNew } from '../files/staged-file.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import {
  actLinesInSteps,
  historyInSteps,
  historyLine,
  withHistory,
} from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { HISTORY_FILE, type HistoryEntry, SERVICE_ACTOR } from '../model/history.ts'
import type { CaseEntry } from './case-entry.ts'
import { readBlobs } from './git/git-contents.ts'
import type { HistoryJournal } from './history-journal.ts'
import type { ReplacedFileTrackers } from './late-saves/trackers.ts'
import type { Layout } from './layout.ts'
import { MAX_MEMORY_BYTES } from './memory-files.ts'
import type { NoteFile } from './notes.ts'
import { hashOf } from './record.ts'
import { endingOf } from './sync/stability.ts'

/** Number of attempts if somebody keeps saving the file. */
const ATTEMPTS = 20
const PAUSE_MS = 10

/** A history.md that is written but not yet placed. */
export interface StagedHistory extends StagedFile {
  path: string
  text: string
  /** Hash of the file before; empty if there was none. */
  before: string
  /** The hash of `text`. */
  after: string
  /** The lines that it has more than the file before. */
  added: readonly string[]
}

interface HistoryDeps {
  layout: Layout
  lateSaves: ReplacedFileTrackers
  history: Pick<HistoryJournal, 'appending'>
}

/**
 * Stages a history.md with appended lines; creates the file if there is none. Throws `unreadable_file` for a file to
 * which text cannot be appended, and leaves it unchanged.
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
    // the author of an older or manually created case is unknown
    const created = { what: 'created', who: 'unknown' }
    const begin = historyLine(created, SERVICE_ACTOR, file.value.created_at)
    const text = withHistory(null, [begin, ...lines])
    const bytes = Buffer.from(text)
    const staged = await stageNew(path, bytes, { within })
    return { ...staged, path, text, before: '', after: hashOf(bytes), added: [begin, ...lines] }
  }
  if (!isOfRegularFile(stamp)) throw unreadable('it is not a regular file')
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
  return { ...staged, path, text, before, after, added: lines }
}

const TOO_LARGE = 'it would be over 10 MiB'

/**
 * Places the lines, which may be staged already. If somebody saved the file since, they are appended to the new
 * version. The caller must sync and close the result.
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
      deps.history.appending(entry.id, staged.before, staged.after, staged.added)
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

/** Returns the text if lines can be appended to it, else throws. */
function sound(bytes: Buffer): string {
  const text = decodeUtf8(bytes)
  if (!text.ok) throw unreadable(`line ${text.line} is not UTF-8`)
  const line = conflictLine(text.text)
  if (line !== null) throw unreadable(`line ${line} is a git conflict marker`)
  return text.text
}

function unreadable(why: string): AppError {
  return new AppError('unreadable_file', `Lines cannot be appended to ${HISTORY_FILE}: ${why}.`)
}

/** Returns the memory file as a scan would read it, but without a stamp, so that the next scan reads it. */
export function noteOf(path: string, text: string, hash = hashOf(Buffer.from(text))): NoteFile {
  const mtimeMs = stampNow(path)?.mtimeMs ?? 0
  return { stamp: null, mtimeMs, hash, ending: endingOf(text), problems: [] }
}

/**
 * Reads the history of a case, oldest entry first; null if there is no readable history.md. `isOwn` says which lines this
 * machine wrote; of others git is asked.
 */
export async function historyOf(
  layout: Layout,
  id: string,
  isOwn?: (line: string) => boolean,
): Promise<HistoryEntry[] | null> {
  const path = layout.memoryFile(id, HISTORY_FILE)
  const within = layout.caseFolder(id)
  const read = await readRegular(path, { maxBytes: MAX_MEMORY_BYTES, within })
  const text = read.ok ? decodeUtf8(read.bytes) : null
  if (!text?.ok) return null
  const entries = await inTurn(historyInSteps(text.text, isOwn))
  if (!isOwn || entries.every(({ kind, recorded }) => kind === 'note' || recorded)) return entries
  const committed = await committedLines(layout, id)
  return inTurn(historyInSteps(text.text, isOwn, (line) => committed.has(line)))
}

/** Lets requests go first between the steps. */
async function inTurn<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
    await yieldIfBusy()
  }
}

async function committedLines(layout: Layout, id: string): Promise<Set<string>> {
  const name = `HEAD:./cases/${id}/${HISTORY_FILE}`
  try {
    const bytes = (await readBlobs(layout.memoryRoot, [name])).get(name)
    return new Set(await inTurn(actLinesInSteps(bytes?.toString() ?? '')))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return new Set()
    throw error
  }
}
