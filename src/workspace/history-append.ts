/** Appends lines to history.md, which a person may be editing. */

import { type OpenAppendix, openToAppend, syncAppended } from '../files/append-file.ts'
import { hashOf } from '../files/decoded.ts'
import { hasCode } from '../files/errno.ts'
import { readNow, stampNow } from '../files/read-now.ts'
import { decodeUtf8, readRegular } from '../files/safe-read.ts'
import { yieldIfBusy } from '../files/yielding.ts'
import type { GitActivity } from '../git/activity.ts'
import { gitNamesOf, isInGit, readBlobs } from '../git/contents.ts'
import { conflictLine } from '../markdown/conflict-markers.ts'
import { actLinesInSteps, historyInSteps, withHistory } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { HISTORY_FILE, type HistoryEntry } from '../model/history.ts'
import type { Layout } from './layout.ts'
import { MAX_MEMORY_BYTES } from './memory-files.ts'
import type { NoteFile } from './notes.ts'
import { endingOf } from './watching/stability.ts'

/**
 * Opens history.md to append the `earlier` lines, if it does not have them, and those that are `added`; it is made if
 * there is none. Throws `unreadable_file` for a
 * file to which text cannot be appended, and leaves it unchanged.
 */
export function openHistory(
  layout: Layout,
  id: string,
  { earlier, added }: { earlier: readonly string[]; added?: (present: string) => string[] },
): OpenAppendix {
  const options = { maxBytes: MAX_MEMORY_BYTES, within: layout.caseFolder(id) }
  return openToAppend(layout.memoryFile(id, HISTORY_FILE), options, (present) => {
    const keep = present ? soundLength(present, earlier) : 0
    const text = present && sound(present.subarray(0, keep))
    const lines = [...earlier, ...(added?.(text ?? '') ?? [])]
    if (text === null) return { keep, bytes: Buffer.from(withHistory(null, lines)) }
    return { keep, bytes: Buffer.from(withHistory(text, lines).slice(text.length)) }
  })
}

/** Returns the length without what a power cut left of an appended line: a part of it, and zeros. */
function soundLength(bytes: Buffer, lines: readonly string[]): number {
  if (bytes.length === 0 || bytes.at(-1) === LINE_FEED) return bytes.length
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1
  const written = bytes.subarray(0, end)
  for (const line of lines.map((text) => Buffer.from(text))) {
    const start = written.lastIndexOf(line.subarray(0, LINE_START))
    const rest = written.subarray(start)
    if (start >= 0 && rest.equals(line.subarray(0, rest.length))) return start
  }
  return end
}

const LINE_FEED = 0x0a
/** So many bytes of a line are its time, at least. */
const LINE_START = '- 2026-01-01 00:00'.length

export function syncHistory(layout: Layout, id: string, isNew: boolean): Promise<void> {
  return syncAppended(layout.memoryFile(id, HISTORY_FILE), isNew)
}

/** Whether history.md has all of these lines. */
export function hasHistory(layout: Layout, id: string, lines: readonly string[]): boolean {
  const text = textNow(layout, id)
  return text !== null && withHistory(text, lines) === text
}

export type GitLooks = Pick<GitActivity, 'isBusy' | 'touched' | 'hasRunSince'>

/**
 * Whether git made the last change of history.md; null while git is changing files. Where several commands came one
 * after another, only the last one is seen: then it is git's if git ran since and has this text.
 */
export async function isHistoryByGit(
  layout: Layout,
  id: string,
  git: GitLooks,
): Promise<boolean | null> {
  if (await git.isBusy('now')) return null
  const ctimeMs = stampNow(layout.memoryFile(id, HISTORY_FILE))?.ctimeMs ?? 0
  if (git.touched(ctimeMs) || !git.hasRunSince(ctimeMs)) return git.touched(ctimeMs)
  const text = textNow(layout, id)
  return text !== null && isInGit(layout.memoryRoot, gitNamesOf(text))
}

function textNow(layout: Layout, id: string): string | null {
  const read = readNow(layout.memoryFile(id, HISTORY_FILE), MAX_MEMORY_BYTES, layout.caseFolder(id))
  const text = read.ok ? decodeUtf8(read.bytes) : null
  return text?.ok ? text.text : null
}

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
export function noteOf(bytes: Buffer): NoteFile {
  return {
    stamp: null,
    mtimeMs: Date.now(),
    hash: hashOf(bytes),
    ending: endingOf(bytes.subarray(-ENDING_BYTES).toString()),
    problems: [],
  }
}

/** More than `endingOf` takes. */
const ENDING_BYTES = 256

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
