/**
 * Lines on their way into history.md: each is a row of the transaction of its events, then it is appended, and a
 * second later the file is synced. A start appends what a crash kept from the file. It also knows which changes of
 * history.md are the service's own, as these have no event.
 */

import { hasCode } from '../files/errno.ts'
import { diskError } from '../files/storage-error.ts'
import { AppError } from '../model/app-error.ts'
import type { Database, Run } from '../state/database.ts'
import type { HistoryLines } from '../state/history-lines.ts'
import { appendHistory, hasHistory, historyHashes, syncHistory } from './history-append.ts'
import type { Layout } from './layout.ts'

/** What a person changed, as seen in the files. It is written once they stop changing. `key` names its subject. */
export interface NotedAct {
  key: string
  /** ISO 8601. */
  at: string
  what: string
  /** The state before a state change; the last audit line that was told. */
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
  /** Call when the history.md with this hash is published. Null if the case is gone. */
  published(caseId: string, hash: string | null): void
  /** Stores an act until it is written. An equal act is stored once; for a state change the first one stays. */
  note(caseId: string, act: NotedAct): void
  noted(caseId: string): NotedAct[]
  /** Removes acts that are written or turned out to be no change. */
  settled(caseId: string, acts: readonly NotedAct[]): void
  /** The cases with acts. */
  notedCases(): string[]
  forget(caseId: string): void
  /** Appends the lines that a service which died left. Call before the files are read. */
  recover(): void
  close(): Promise<void>
}

export interface PendingHistoryDeps {
  database: Pick<Database, 'write' | 'flushed'>
  lines: HistoryLines
  layout: Layout
  log(line: string): void
}

interface Line {
  id: number
  text: string
  isCommitted: boolean
}

const SYNC_MS = 1000

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
  /** Rows that are synced, or published too and needed no more: the next transaction says so. */
  let marked: number[] = []
  let done: number[] = []
  let next = 1
  let timer: NodeJS.Timeout | undefined
  let syncing: Promise<void> = Promise.resolve()
  for (const { id, case_id, kind, text } of stored.rows()) {
    next = Math.max(next, id + 1)
    if (kind === 'act') acts.set(id, { caseId: case_id, act: JSON.parse(text) })
    else push(kind === 'line' ? waiting : synced, case_id, { id, text, isCommitted: true })
  }

  function write(work: (run: Run) => void, onWritten?: () => void): void {
    const ids = { synced: marked, removed: done }
    marked = []
    done = []
    database.write((run) => {
      stored.settle(run, ids)
      work(run)
    }, onWritten)
  }

  function add(caseId: string, texts: readonly string[]): void {
    if (texts.length === 0) return
    const added = texts.map((text): Line => ({ id: next++, text, isCommitted: false }))
    for (const line of added) push(waiting, caseId, line)
    write(
      (run) => {
        stored.wrote(run, caseId, texts)
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
      const texts = ready.map(({ text }) => text)
      const { hashes, isNew } = appendHistory(layout, caseId, texts)
      noteOwn(caseId, hashes)
      if (isNew) made.add(caseId)
      moved(caseId, ready)
    } catch (error) {
      if (isGone(error)) return
      const problem = error instanceof AppError ? error : diskError(error)
      if (!problem) throw error
      log(
        `the history of case ${caseId} could not be written and will be written later: ${problem.message}`,
      )
    }
  }

  function moved(caseId: string, lines: readonly Line[]): void {
    const rest = (waiting.get(caseId) ?? []).filter((line) => !lines.includes(line))
    if (rest.length > 0) waiting.set(caseId, rest)
    else waiting.delete(caseId)
    for (const line of lines) push(unsynced, caseId, line)
    timer ??= setTimeout(() => {
      syncing = syncing.then(sync)
    }, SYNC_MS).unref()
  }

  function noteOwn(caseId: string, hashes: string[]): void {
    if (hashes.length === 0) return // the file cannot be read
    const known = own.get(caseId)
    if (known?.at(-1) === hashes[0]) known!.push(...hashes.slice(1))
    else own.set(caseId, hashes)
  }

  /** Syncs the files that were appended to; who saved one of them from before gets the lines again. */
  async function sync(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    for (const [caseId, lines] of [...unsynced]) {
      unsynced.delete(caseId)
      try {
        await syncHistory(layout, caseId, made.delete(caseId))
        if (
          !hasHistory(
            layout,
            caseId,
            lines.map(({ text }) => text),
          )
        ) {
          for (const line of lines) push(waiting, caseId, line)
          append(caseId)
        } else if (own.has(caseId)) {
          for (const line of lines) push(synced, caseId, line)
          marked.push(...lines.map(({ id }) => id))
        } else done.push(...lines.map(({ id }) => id))
      } catch (error) {
        if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP') && !diskError(error)) throw error
        for (const line of lines) push(waiting, caseId, line)
      }
    }
  }

  return {
    add,
    made(caseId, texts) {
      write((run) => stored.wrote(run, caseId, texts))
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
      const at = hash === null ? -1 : hashes.indexOf(hash)
      if (at < 0) return
      if (at < hashes.length - 1) return void own.set(caseId, hashes.slice(at))
      own.delete(caseId)
      done.push(...(synced.get(caseId) ?? []).map(({ id }) => id))
      synced.delete(caseId)
    },
    note(caseId, act) {
      const isKnown = [...acts.values()].some(
        (each) => each.caseId === caseId && each.act.key === act.key && each.act.what === act.what,
      )
      if (isKnown) return
      const id = next++
      acts.set(id, { caseId, act })
      write((run) =>
        stored.add(run, { id, case_id: caseId, kind: 'act', text: JSON.stringify(act) }),
      )
    },
    noted: (caseId) =>
      [...acts.values()].filter((each) => each.caseId === caseId).map(({ act }) => act),
    settled(_caseId, written) {
      for (const [id, { act }] of acts) {
        if (!written.includes(act)) continue
        acts.delete(id)
        done.push(id)
      }
    },
    notedCases: () => [...new Set([...acts.values()].map(({ caseId }) => caseId))],
    forget(caseId) {
      for (const map of [waiting, unsynced, synced, own]) map.delete(caseId)
      for (const [id, act] of acts) if (act.caseId === caseId) acts.delete(id)
      write((run) => stored.forget(run, caseId))
    },
    recover() {
      for (const [caseId, lines] of synced) {
        noteOwn(
          caseId,
          historyHashes(
            layout,
            caseId,
            lines.map(({ text }) => text),
          ),
        )
      }
      for (const caseId of [...waiting.keys()]) append(caseId)
    },
    async close() {
      await syncing
      if (timer) await sync()
      if (marked.length + done.length > 0) write(() => {})
    },
  }
}

function push(map: Map<string, Line[]>, caseId: string, line: Line): void {
  const lines = map.get(caseId)
  if (lines) lines.push(line)
  else map.set(caseId, [line])
}

/** Whether the case is gone, and its history with it. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && error.code === 'changed_meanwhile'
}
