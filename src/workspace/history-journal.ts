import { hash as hashOf } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { hasCode } from './disk/errno.ts'

/** A file that a change replaces: `before` is the hash of what stood there, null for nothing. */
export interface ChangedFile {
  path: string
  before: string | null
}

/** An act that was seen in the files and is written when they stand still; `key` says what it is about. */
export interface NotedAct {
  key: string
  /** ISO 8601. */
  at: string
  what: string
  /** Of a change of state: the state before. */
  from?: string
  /** Whether the reason was changed with it. */
  hasReason?: boolean
  /** The file that was changed, where there is one. */
  path?: string
  /** Seen at a start: it was changed while no service ran. */
  isAway?: boolean
}

/**
 * Lines of histories that are still to be written, kept in the state folder: a service that dies between a
 * change and its line writes the line at the next start, and only if the change was made.
 */
export interface HistoryJournal {
  /** Before a change is made. With `change` null the lines count at once. */
  begin(caseId: string, lines: readonly string[], change: ChangedFile | null): number
  /** The change was made: its lines are due. */
  made(id: number): void
  /** The change was not made. */
  drop(id: number): void
  /** The lines of a case that are due, in order. */
  due(caseId: string): { ids: number[]; lines: string[] }
  /** The lines are in the file. */
  written(ids: readonly number[]): void
  /** The lines cannot be written for now: they are to outlast a power cut. */
  sync(): void
  /** Keeps an act until it is written; of two about the same thing, the first. */
  note(caseId: string, act: NotedAct): void
  noted(caseId: string): NotedAct[]
  /** The acts are in lines by now, or are no acts after all. */
  settled(caseId: string, acts: readonly NotedAct[]): void
  /** The cases that something is kept of. */
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
}

/** A file that grew larger is written again with what is still needed. */
const MAX_BYTES = 1024 * 1024

export function openHistoryJournal(path: string, log: (line: string) => void): HistoryJournal {
  const entries = new Map<number, Entry>()
  let next = 1
  let size = 0
  for (const [id, entry] of readEntries(path, log)) {
    next = Math.max(next, id + 1)
    if (entry && (entry.isDue || entry.act || wasMade(entry.change))) {
      entries.set(id, { ...entry, isDue: entry.act === null })
    }
  }
  const file = openSync(path, 'a', 0o600)
  rewrite()

  function rewrite(): void {
    ftruncateSync(file, 0)
    size = 0
    for (const [id, entry] of entries) append([id, stored(entry)])
  }

  function append(record: unknown): void {
    size += writeSync(file, `${JSON.stringify(record)}\n`)
  }

  function add(entry: Entry): number {
    const id = next++
    append([id, stored(entry)])
    entries.set(id, entry)
    return id
  }

  function remove(ids: readonly number[]): void {
    for (const id of ids) if (entries.delete(id)) append([id, null])
    if (size > 0 && (entries.size === 0 || size > MAX_BYTES)) rewrite()
  }

  const idsOf = (caseId: string) =>
    [...entries].filter(([, entry]) => entry.caseId === caseId).map(([id]) => id)

  return {
    begin: (caseId, lines, change) =>
      add({ caseId, lines, change, isDue: change === null, act: null }),
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
    sync: () => fdatasyncSync(file),
    note(caseId, act) {
      const isKnown = [...entries.values()].some(
        (entry) => entry.caseId === caseId && entry.act?.key === act.key,
      )
      if (!isKnown) add({ caseId, lines: [], change: null, isDue: false, act })
    },
    noted: (caseId) =>
      idsOf(caseId)
        .map((id) => entries.get(id)!.act)
        .filter((act) => act !== null),
    settled(caseId, acts) {
      remove(idsOf(caseId).filter((id) => acts.some((act) => act === entries.get(id)!.act)))
    },
    cases: () => [...new Set([...entries.values()].map(({ caseId }) => caseId))],
    forget: (caseId) => remove(idsOf(caseId)),
    close: () => closeSync(file),
  }
}

type Stored = Pick<Entry, 'caseId' | 'lines' | 'change' | 'act'>

function stored({ caseId, lines, change, act }: Entry): Stored {
  return { caseId, lines, change, act }
}

/** The last record of each id; a line that was cut short by a kill was not acted on. */
function readEntries(path: string, log: (line: string) => void): Map<number, Entry | null> {
  const found = new Map<number, Entry | null>()
  if (!existsSync(path)) return found
  for (const line of readFileSync(path, 'utf8')
    .split('\n')
    .filter((each) => each !== '')) {
    try {
      const [id, entry] = JSON.parse(line) as [number, Stored | null]
      found.set(id, entry && { ...entry, isDue: entry.change === null && entry.act === null })
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      log(`a line of ${path} cannot be read and is passed over`)
    }
  }
  return found
}

function wasMade(change: ChangedFile | null): boolean {
  return change !== null && hashNow(change.path) !== change.before
}

function hashNow(path: string): string | null {
  try {
    return hashOf('sha256', readFileSync(path))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'ELOOP')) return null
    throw error
  }
}
