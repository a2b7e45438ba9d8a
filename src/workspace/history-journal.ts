/**
 * Makes a change and its history line atomic in a crash: the line is stored before the change, and written at the
 * next start if it is missing. Also knows which changes of history.md are the service's own, as these have no event.
 */

import { hash as hashOf } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { syncData } from '../files/descriptors.ts'
import { syncFolder } from '../files/durable-write.ts'
import { hasCode } from '../files/errno.ts'
import { diskError } from '../files/storage-error.ts'
import type { HistoryLines } from '../state/history-lines.ts'

/** A file that a change replaces. `before` is the hash of its old content; null if it did not exist. */
export interface ChangedFile {
  /** Relative to the case folder, as the workspace may move. */
  path: string
  before: string | null
}

/**
 * A change by a person that was seen in the files. It is written once the files stop changing. `key` identifies its
 * subject.
 */
export interface NotedAct {
  key: string
  /** ISO 8601. */
  at: string
  what: string
  /** The state before a state change. */
  from?: string
  /** Whether the reason changed too. */
  hasReason?: boolean
  /** The changed file; for a deleted file, its folder. */
  path?: string
  /** Whether it was changed while no service ran. */
  isOffline?: boolean
}

/**
 * History lines that are not written yet, in the state folder. A service that dies between a change and its line
 * writes the line at the next start, but only if the change was made.
 */
export interface HistoryJournal {
  /** Call before a change. With `change` null the lines are due at once. */
  begin(caseId: string, lines: readonly string[], change: ChangedFile | null): number
  /** Call after the change was made: its lines are due. */
  made(id: number): void
  /** Call if the change was not made. */
  drop(id: number): void
  /** The lines of a case that are due, in order. */
  due(caseId: string): { ids: number[]; lines: string[] }
  /**
   * Call before lines are appended to history.md, with the hash of the present file (empty if there is none), that of
   * the new one, and the lines.
   */
  appending(caseId: string, before: string, after: string, lines: readonly string[]): void
  /** Call when the lines are in the file. */
  written(ids: readonly number[]): void
  /** Whether only the service's own lines were added between these two hashes of history.md. */
  isOwnChange(caseId: string, before: string, after: string): boolean
  /** Call when the history.md with this hash is published and synced: removes its appends. Null if the case is gone. */
  published(caseId: string, hash: string | null): void
  /** Syncs the journal, so that it survives a power cut. Disk errors are logged. */
  sync(): Promise<void>
  /** Stores an act until it is written. An equal act is stored once; for a state change the first one stays. */
  note(caseId: string, act: NotedAct): void
  noted(caseId: string): NotedAct[]
  /** Removes acts that are written or turned out to be no change. */
  settled(caseId: string, acts: readonly NotedAct[]): void
  /** The cases with entries. */
  cases(): string[]
  forget(caseId: string): void
  close(): void
}

interface Entry {
  caseId: string
  lines: readonly string[]
  change: ChangedFile | null
  isDue: boolean
  act: NotedAct | null
  append: Append | null
}

/** Hashes of history.md. */
interface Append {
  before: string
  after: string
}

/** A larger journal is rewritten without finished entries. */
const MAX_BYTES = 1024 * 1024

export function openHistoryJournal(
  path: string,
  caseFolder: (caseId: string) => string,
  log: (line: string) => void,
  written?: Pick<HistoryLines, 'add' | 'forget'>,
): HistoryJournal {
  const entries = new Map<number, Entry>()
  /** Removed from `entries` but not yet from the file. */
  const removed = new Set<number>()
  let next = 1
  let size = 0
  let limit = MAX_BYTES
  let isNameSynced = false
  for (const [id, entry] of readEntries(path, log)) {
    next = Math.max(next, id + 1)
    if (!entry) continue
    const { caseId, change, isDue, act, append } = entry
    if (act || append) entries.set(id, entry)
    else if (isDue || wasMade(caseFolder(caseId), change))
      entries.set(id, { ...entry, isDue: true })
  }
  let file = rewrite()

  /** Replaces the journal atomically, so that a kill or an error leaves the old or the new one. */
  function rewrite(): number {
    const fresh = `${path}.new`
    const text = [...entries].map(([id, entry]) => recordText([id, stored(entry)])).join('')
    const opened = openSync(fresh, 'w', 0o600)
    try {
      writeFileSync(opened, text)
      fdatasyncSync(opened)
      renameSync(fresh, path)
    } catch (error) {
      closeSync(opened)
      throw error
    }
    isNameSynced = false
    size = Buffer.byteLength(text)
    limit = Math.max(MAX_BYTES, 2 * size)
    return opened
  }

  function append(record: [id: number, entry: Stored | null]): void {
    const text = recordText(record)
    writeFileSync(file, text)
    size += Buffer.byteLength(text)
  }

  function add(entry: Entry): number {
    writeRemoved()
    const id = next++
    append([id, stored(entry)])
    entries.set(id, entry)
    return id
  }

  function remove(ids: readonly number[]): void {
    for (const id of ids) if (entries.delete(id)) removed.add(id)
    logged(writeRemoved)
  }

  function writeRemoved(): void {
    for (const id of removed) {
      append([id, null])
      removed.delete(id)
    }
    if (size <= limit) return
    const old = file
    file = rewrite()
    closeSync(old)
  }

  /** Logs disk errors instead of throwing, as the change or its line is already written. */
  function logged(write: () => void): void {
    try {
      write()
    } catch (error) {
      logDiskError(error)
    }
  }

  function logDiskError(error: unknown): void {
    const storageProblem = diskError(error)
    if (!storageProblem && !hasCode(error, 'ENOENT')) throw error // the state folder may be missing for a moment
    log(`${path} could not be written: ${(storageProblem ?? (error as Error)).message}`)
  }

  /** Opens the journal again, as `file` may be closed during the sync. Rewrites it if it was deleted. */
  function openedToSync(): number {
    try {
      return openSync(path, 'r')
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      const old = file
      file = rewrite()
      closeSync(old)
      return openSync(path, 'r')
    }
  }

  async function sync(): Promise<void> {
    try {
      const opened = openedToSync()
      try {
        await syncData(opened)
      } finally {
        closeSync(opened)
      }
      if (isNameSynced) return
      await syncFolder(dirname(path))
      isNameSynced = true
    } catch (error) {
      logDiskError(error)
    }
  }

  const idsOf = (caseId: string) =>
    [...entries].filter(([, entry]) => entry.caseId === caseId).map(([id]) => id)

  /** Returns all appends of a case, in order, and those that lead on from this hash. */
  function appendsFrom(caseId: string, hash: string | null) {
    const all = idsOf(caseId).filter((id) => entries.get(id)!.append)
    let last = hash
    const following = all.filter((id) => {
      const { before, after } = entries.get(id)!.append!
      if (before !== last) return false
      last = after
      return true
    })
    return { all, following }
  }

  return {
    begin: (caseId, lines, change) =>
      add({ ...NO_ENTRY, caseId, lines, change, isDue: change === null }),
    appending(caseId, before, after, lines) {
      written?.add(caseId, lines)
      logged(() => add({ ...NO_ENTRY, caseId, append: { before, after } }))
    },
    isOwnChange: (caseId, before, after) =>
      appendsFrom(caseId, before).following.some((id) => entries.get(id)!.append!.after === after),
    published(caseId, hash) {
      const { all, following } = appendsFrom(caseId, hash)
      if (all.length > following.length) remove(all.filter((id) => !following.includes(id)))
    },
    made(id) {
      const entry = entries.get(id)
      if (entry) entry.isDue = true
    },
    drop: (id) => remove([id]),
    due(caseId) {
      const ids = idsOf(caseId).filter((id) => entries.get(id)!.isDue)
      return { ids, lines: ids.flatMap((id) => entries.get(id)!.lines) }
    },
    written: remove,
    sync,
    note(caseId, act) {
      const isKnown = [...entries.values()].some(
        (entry) =>
          entry.caseId === caseId && entry.act?.key === act.key && entry.act.what === act.what,
      )
      if (!isKnown) add({ ...NO_ENTRY, caseId, act })
    },
    noted: (caseId) =>
      idsOf(caseId)
        .map((id) => entries.get(id)!.act)
        .filter((act) => act !== null),
    settled(caseId, acts) {
      remove(idsOf(caseId).filter((id) => acts.some((act) => act === entries.get(id)!.act)))
    },
    cases: () => [
      ...new Set([...entries.values()].filter(({ append }) => !append).map(({ caseId }) => caseId)),
    ],
    forget(caseId) {
      written?.forget(caseId)
      remove(idsOf(caseId))
    },
    close: () => closeSync(file),
  }
}

const NO_ENTRY = {
  lines: [],
  change: null,
  isDue: false,
  act: null,
  append: null,
} satisfies Omit<Entry, 'caseId'>

/** Journals of older versions have no appends. */
type Stored = Pick<Entry, 'caseId' | 'lines' | 'change' | 'act'> & Partial<Pick<Entry, 'append'>>

/** The leading line break ends a line that a crash left half-written. */
function recordText(record: [id: number, entry: Stored | null]): string {
  return `\n${JSON.stringify(record)}\n`
}

function stored({ caseId, lines, change, act, append }: Entry): Stored {
  return { caseId, lines, change, act, append }
}

/** Reads the last record of each id. A line cut short by a kill was not acted on. */
function readEntries(path: string, log: (line: string) => void): Map<number, Entry | null> {
  const found = new Map<number, Entry | null>()
  if (!existsSync(path)) return found
  for (const line of readFileSync(path, 'utf8')
    .split('\n')
    .filter((each) => each !== '')) {
    try {
      const [id, entry] = JSON.parse(line) as [number, Stored | null]
      found.set(id, entry && { append: null, ...entry, isDue: isDueAtOnce(entry) })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      log(`a line of ${path} is unreadable and was skipped`)
    }
  }
  return found
}

function isDueAtOnce({ change, act, append }: Stored): boolean {
  return change === null && act === null && !append
}

function wasMade(folder: string, change: ChangedFile | null): boolean {
  return change !== null && hashNow(join(folder, change.path)) !== change.before
}

function hashNow(path: string): string | null {
  try {
    return hashOf('sha256', readFileSync(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP')) return null
    throw error
  }
}
