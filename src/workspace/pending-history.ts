/**
 * Lines on their way into history.md: each is a row of the transaction of its events, then it is appended, and a
 * second later the file is synced. A start appends what a crash kept from the file. It also knows which changes of
 * history.md are the service's own, as these have no event.
 */

import { hasCode } from '../files/errno.ts'
import { diskError } from '../files/storage-error.ts'
import { AppError } from '../model/app-error.ts'
import type { Database, Run } from '../state/database.ts'
import type { HistoryLines, SettledLines } from '../state/history-lines.ts'
import {
  appendHistory,
  type GitLooks,
  hasHistory,
  historyHashes,
  isHistoryByGit,
  syncHistory,
} from './history-append.ts'
import type { Layout } from './layout.ts'

/** What a person changed, as seen in the files. It is written once they stop changing. `key` names its subject. */
export interface NotedAct {
  key: string
  /** ISO 8601. */
  at: string
  what: string
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
  /** Adds lines to the transaction of what is published in this turn; after it they are appended. */
  add(caseId: string, lines: readonly string[]): void
  /** Same, for lines of a file that is made with them. */
  made(caseId: string, lines: readonly string[]): void
  /** Resolves when all lines that were added are in their files, or cannot be. */
  appended(): Promise<void>
  /** Whether only the service's own lines were added between these two hashes of history.md. */
  isOwnChange(caseId: string, before: string, after: string): boolean
  /** Call when the row that says that the history.md with this hash is published is in a transaction. */
  published(caseId: string, hash: string): void
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
  /** Lines whose file is synced, but not published with them. */
  const synced = new Map<string, Line[]>()
  /** The hashes of history.md from what is published to what was appended since, each by lines of the service. */
  const own = new Map<string, string[]>()
  const acts = new Map<number, { caseId: string; act: NotedAct }>()
  let settled = nothing()
  let next = 1
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  for (const { id, case_id, kind, text } of stored.rows()) {
    next = Math.max(next, id + 1)
    if (kind === 'act') acts.set(id, { caseId: case_id, act: JSON.parse(text) })
    else push(kind === 'line' ? waiting : synced, case_id, [{ id, text, isCommitted: true }])
  }

  function takeSettled(): ((run: Run) => void) | null {
    const taken = settled
    if (taken.synced.length + taken.done.length === 0) return null
    settled = nothing()
    return (run) => stored.settle(run, taken)
  }

  function add(caseId: string, texts: readonly string[]): void {
    if (texts.length === 0) return
    const added = texts.map((text): Line => ({ id: next++, text, isCommitted: false }))
    push(waiting, caseId, added)
    database.write(
      (run) => {
        for (const { id, text } of added)
          stored.add(run, { id, case_id: caseId, kind: 'line', text })
      },
      () => {
        for (const line of added) line.isCommitted = true
        append(caseId)
      },
    )
  }

  /** Appends what waits for a case. What cannot be appended waits for the next line, or the next start. */
  function append(caseId: string): void {
    const ready = (waiting.get(caseId) ?? []).filter(({ isCommitted }) => isCommitted)
    if (ready.length === 0) return
    try {
      const earlier = [...(synced.get(caseId) ?? []), ...(unsynced.get(caseId) ?? [])]
      const { hashes, isNew } = appendHistory(layout, caseId, textsOf(ready), textsOf(earlier))
      noteOwn(caseId, hashes)
      if (isNew) made.add(caseId)
      takeFrom(waiting, caseId, ready)
      push(unsynced, caseId, ready)
      syncIn(SYNC_MS)
    } catch (error) {
      failed(caseId, 'written', error)
    }
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

  /** Adds what was appended to the hashes that lead on from what is published. */
  function noteOwn(caseId: string, hashes: string[]): void {
    if (hashes.length === 0) return // the file cannot be read
    const known = own.get(caseId) ?? []
    const at = hashes.indexOf(known.at(-1) ?? '')
    const goesOn = known.length > 0 && at >= 0
    own.set(caseId, goesOn ? [...known, ...hashes.slice(at + 1)] : hashes)
  }

  function settle(caseId: string, lines: readonly Line[], ids: number[]): void {
    ids.push(...lines.map(({ id }) => id))
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
        const isUnpublished = !isLost && own.has(caseId)
        if (isUnpublished) push(synced, caseId, lines)
        settle(caseId, lines, isUnpublished ? settled.synced : settled.done)
      } catch (error) {
        if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) {
          takeFrom(unsynced, caseId, lines) // the file was removed, and the lines with it
          settle(caseId, lines, settled.done)
        } else {
          failed(caseId, 'synced', error)
          syncIn(RETRY_MS)
        }
      }
    }
  }

  return {
    add,
    takeSettled,
    hasUnsynced: () => unsynced.size > 0,
    made(caseId, texts) {
      database.write((run) => stored.wrote(run, caseId, texts))
    },
    async appended() {
      if (waiting.size > 0) await database.flushed()
    },
    isOwnChange(caseId, before, after) {
      const hashes = own.get(caseId) ?? []
      const at = hashes.indexOf(before)
      return at >= 0 && hashes.indexOf(after, at) > at
    },
    published(caseId, hash) {
      const hashes = own.get(caseId) ?? []
      const at = hashes.indexOf(hash)
      if (at < 0) return
      if (at < hashes.length - 1) return void own.set(caseId, hashes.slice(at))
      own.delete(caseId)
      settled.done.push(...(synced.get(caseId) ?? []).map(({ id }) => id))
      synced.delete(caseId)
    },
    note(caseId, act) {
      const isKnown = [...acts.values()].some(
        (each) => each.caseId === caseId && each.act.key === act.key && each.act.what === act.what,
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
      for (const map of [waiting, unsynced, synced, own]) map.delete(caseId)
      for (const [id, act] of acts) if (act.caseId === caseId) acts.delete(id)
      settled.wrote = settled.wrote.filter(([id]) => id !== caseId)
      database.write((run) => stored.forget(run, caseId))
    },
    recover() {
      for (const [caseId, lines] of synced)
        noteOwn(caseId, historyHashes(layout, caseId, textsOf(lines)))
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
  return { synced: [], done: [], wrote: [] } as SettledLines
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

const textsOf = (lines: readonly Line[]) => lines.map(({ text }) => text)

/** Whether the case is gone, and its history with it. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'changed_meanwhile'
}
