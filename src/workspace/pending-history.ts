/**
 * Lines on their way into history.md: each is a row of the transaction of its events, then it is appended, and a
 * second later the file is synced. A start appends what a crash kept from the file. The transaction says what history.md
 * will be with them, so the lines of the service are no change that has an event.
 */

import type { OpenAppendix } from '../files/append-file.ts'
import { hashOf } from '../files/decoded.ts'
import { hasCode } from '../files/errno.ts'
import { diskError } from '../files/storage-error.ts'
import { hasLine, shortTimes, withHistory } from '../markdown/history-file.ts'
import { AppError } from '../model/app-error.ts'
import { actText, type HistoryAct } from '../model/history-act.ts'
import type { Database, Run } from '../state/database.ts'
import type { HistoryLines, SettledLines } from '../state/history-lines.ts'
import {
  type GitLooks,
  hasHistory,
  isHistoryByGit,
  openHistory,
  syncHistory,
} from './history-append.ts'
import type { Layout } from './layout.ts'

/** What a person changed, as seen in the files. It is written once they stop changing. `key` names its subject. */
export interface NotedAct {
  key: string
  /** ISO 8601. */
  at: string
  /** None for a state change and for audit lines, which are compared with the history then. */
  act?: HistoryAct
  /** The state before a state change, or the number of the last published audit line. */
  from?: string
  /** Whether the reason changed too. */
  hasReason?: boolean
  /** The changed file; for a deleted file, its folder. */
  path?: string
  /** Whether it was changed while no service ran. */
  isOffline?: boolean
}

export interface PendingHistory {
  /**
   * Adds lines, with their times cut to the minute, to the transaction of what is published in this turn; after it they
   * are appended. Returns what history.md will have then; null if its hash is not `known` ('' without a file), or if lines cannot be appended to it.
   */
  add(caseId: string, lines: readonly string[], known: string): Buffer | null
  /** Whether history.md does not have lines yet that `add` returned it with. Appends what it can. */
  isAppending(caseId: string): boolean
  /** Same, for lines of a file that is made with them. */
  made(caseId: string, lines: readonly string[]): void
  /** Resolves when all lines that were added are in their files, or cannot be. */
  appended(): Promise<void>
  /** Stores an act until it is written. An equal act is stored once; for a state change the first one stays. */
  note(caseId: string, act: NotedAct): void
  noted(caseId: string): NotedAct[]
  /** Removes acts that are written or turned out to be no change. */
  settled(caseId: string, acts: readonly NotedAct[]): void
  /** The cases with acts. */
  notedCases(): string[]
  forget(caseId: string): void
  /** What stores that lines are synced or acts written; null if there is nothing new. May be lost with a power cut. */
  takeSettled(): ((run: Run) => void) | null
  /** Whether lines that are in their file will be settled later. */
  hasUnsynced(): boolean
  /** Appends the lines that a service which died left. Call before the files are read. */
  recover(): void
  close(): Promise<void>
}

export interface PendingHistoryDeps {
  database: Pick<Database, 'write' | 'writeDerived' | 'flushed'>
  lines: HistoryLines
  layout: Layout
  git: GitLooks
  log(line: string): void
}

interface Line {
  id: number
  text: string
  isCommitted: boolean
  /** Whether what is published of history.md has it. */
  isPublished: boolean
}

const SYNC_MS = 1000
const RETRY_MS = 10_000

export function createPendingHistory(deps: PendingHistoryDeps): PendingHistory {
  const { database, lines: stored, layout, log } = deps
  /** Lines that their file may not have yet. */
  const waiting = new Map<string, Line[]>()
  /** Lines that are appended but not synced. */
  const unsynced = new Map<string, Line[]>()
  /** Cases whose history.md was made with them. */
  const made = new Set<string>()
  const acts = new Map<number, { caseId: string; act: NotedAct }>()
  let settled = nothing()
  let next = 1
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  for (const { id, case_id, kind, text } of stored.rows()) {
    next = Math.max(next, id + 1)
    if (kind === 'act') acts.set(id, { caseId: case_id, act: JSON.parse(text) })
    else push(waiting, case_id, [{ id, text, isCommitted: true, isPublished: true }])
  }

  function takeSettled(): ((run: Run) => void) | null {
    const taken = settled
    if (taken.done.length === 0) return null
    settled = nothing()
    return (run) => stored.settle(run, taken)
  }

  function add(caseId: string, exact: readonly string[], known: string): Buffer | null {
    // a service that was killed may have written an act and not have noted that
    const texts = exact.filter((text) => !stored.has(caseId, text))
    if (texts.length === 0) return null
    const earlier = textsOf(waiting.get(caseId) ?? [])
    const others = [...earlier, ...textsOf(unsynced.get(caseId) ?? [])].join('\n')
    let written: string[] | null = null
    const file = opened(caseId, earlier, (present) => {
      written ??= shortTimes(texts, (line) => hasLine(present, line) || hasLine(others, line))
      return written
    })
    const isPublished = file !== null && hashesWith(file.present, earlier).includes(known)
    // if the file cannot be read, with their exact times, which no other line has
    const added = (written ?? texts).map((text) => ({
      id: next++,
      text,
      isCommitted: false,
      isPublished,
    }))
    push(waiting, caseId, added)
    database.write(
      (run) => {
        for (const { id, text } of added)
          stored.add(run, { id, case_id: caseId, kind: 'line', text })
        stored.wrote(run, caseId, texts)
      },
      () => {
        for (const line of added) line.isCommitted = true
        if (file) append(caseId, file)
      },
    )
    return isPublished ? file.bytes : null
  }

  /** Null if lines cannot be appended to the file now. */
  function opened(
    caseId: string,
    earlier: readonly string[],
    added: (present: string) => string[],
  ): OpenAppendix | null {
    try {
      return openHistory(layout, caseId, { earlier, added })
    } catch (error) {
      failed(caseId, 'written', error)
      return null
    }
  }

  /** Appends what waits for a case. What cannot be appended waits for the next line, or the next start. */
  function append(caseId: string, file: OpenAppendix | null = null, isRetry = false): void {
    const ready = (waiting.get(caseId) ?? []).filter(({ isCommitted }) => isCommitted)
    if (ready.length === 0) {
      file?.close()
      return
    }
    try {
      if ((file ?? openHistory(layout, caseId, { earlier: textsOf(ready) })).write())
        made.add(caseId)
      takeFrom(waiting, caseId, ready)
      push(unsynced, caseId, ready)
      syncIn(SYNC_MS)
    } catch (error) {
      if (!isRetry) failed(caseId, 'written', error)
    }
  }

  function hasPublished(caseId: string): boolean {
    return waiting.get(caseId)?.some(({ isPublished }) => isPublished) === true
  }

  /** Also within a callback of the database, which must not throw. */
  function failed(caseId: string, what: string, error: unknown): void {
    if (isGone(error)) return
    const { message } = error instanceof AppError ? error : (diskError(error) ?? (error as Error))
    log(`the history of case ${caseId} could not be ${what} and will be ${what} later: ${message}`)
  }

  function syncIn(ms: number): void {
    timer ??= setTimeout(() => {
      syncing = syncing.then(sync)
    }, ms).unref()
  }

  function settle(caseId: string, lines: readonly Line[]): void {
    settled.done.push(...lines.map(({ id }) => id))
    settled.wrote.push([caseId, textsOf(lines)])
  }

  /**
   * Syncs the files that were appended to. If an editor saved an older version since, its lines are appended again; what
   * git checked out stays.
   */
  async function sync(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    for (const [caseId, all] of [...unsynced]) {
      const lines = [...all]
      try {
        await syncHistory(layout, caseId, made.has(caseId))
        if (!unsynced.has(caseId)) continue // forgotten meanwhile
        const isLost = !hasHistory(layout, caseId, textsOf(lines))
        const isByGit = isLost && (await isHistoryByGit(layout, caseId, deps.git))
        if (isByGit === null) {
          syncIn(SYNC_MS)
          continue
        }
        made.delete(caseId)
        takeFrom(unsynced, caseId, lines)
        if (isLost && !isByGit) {
          push(waiting, caseId, lines)
          append(caseId)
          continue
        }
        settle(caseId, lines)
      } catch (error) {
        if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) {
          takeFrom(unsynced, caseId, lines) // the file was removed, and the lines with it
          settle(caseId, lines)
        } else {
          failed(caseId, 'synced', error)
          syncIn(RETRY_MS)
        }
      }
    }
  }

  return {
    add,
    isAppending(caseId) {
      if (hasPublished(caseId)) append(caseId, null, true)
      return hasPublished(caseId)
    },
    takeSettled,
    hasUnsynced: () => unsynced.size > 0,
    made(caseId, texts) {
      database.write((run) => stored.wrote(run, caseId, texts))
    },
    async appended() {
      if (waiting.size > 0) await database.flushed()
    },
    note(caseId, act) {
      const isKnown = [...acts.values()].some(
        (each) =>
          each.caseId === caseId && each.act.key === act.key && isSame(each.act.act, act.act),
      )
      if (isKnown) return
      const id = next++
      acts.set(id, { caseId, act })
      database.write((run) =>
        stored.add(run, { id, case_id: caseId, kind: 'act', text: JSON.stringify(act) }),
      )
    },
    noted: (caseId) =>
      [...acts.values()].filter((each) => each.caseId === caseId).map(({ act }) => act),
    settled(_caseId, written) {
      const done = [...acts].filter(([, { act }]) => written.includes(act)).map(([id]) => id)
      for (const id of done) acts.delete(id)
      // at once: for the next start an act that is left stands for the next equal one
      if (done.length > 0)
        database.writeDerived((run) => stored.settle(run, { ...nothing(), done }))
    },
    notedCases: () => [...new Set([...acts.values()].map(({ caseId }) => caseId))],
    forget(caseId) {
      for (const map of [waiting, unsynced]) map.delete(caseId)
      for (const [id, act] of acts) if (act.caseId === caseId) acts.delete(id)
      settled.wrote = settled.wrote.filter(([id]) => id !== caseId)
      database.write((run) => stored.forget(run, caseId))
    },
    recover() {
      for (const caseId of [...waiting.keys()]) append(caseId)
    },
    async close() {
      if (timer) syncing = syncing.then(sync)
      await syncing
      const last = takeSettled()
      if (last) database.write(last)
    },
  }
}

function nothing() {
  return { done: [], wrote: [] } as SettledLines
}

type Lines = Map<string, Line[]>

function push(map: Lines, caseId: string, lines: readonly Line[]): void {
  map.set(caseId, [...(map.get(caseId) ?? []), ...lines])
}

function takeFrom(map: Lines, caseId: string, lines: readonly Line[]): void {
  const rest = (map.get(caseId) ?? []).filter((line) => !lines.includes(line))
  if (rest.length > 0) map.set(caseId, rest)
  else map.delete(caseId)
}

/** The hashes of a history.md, and of it with these lines; '' without a file. */
function hashesWith(present: Buffer | null, lines: readonly string[]): string[] {
  const hash = present ? hashOf(present) : ''
  if (lines.length === 0) return [hash]
  return [hash, hashOf(Buffer.from(withHistory(present?.toString() ?? null, lines)))]
}

const textsOf = (lines: readonly Line[]) => lines.map(({ text }) => text)

/** Whether the case is gone, and its history with it. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'changed_meanwhile'
}

function isSame(one: HistoryAct | undefined, other: HistoryAct | undefined): boolean {
  return (one && actText(one)) === (other && actText(other))
}
