/**
 * Where every change becomes an event: a request, a hand edit that the refresher read, a git checkout, an edit
 * made while no service ran. Events, and the row of the case that they are about, are one transaction.
 */

import { forEachInTurn } from '../files/yielding.ts'
import { type CaseEvent, eventsOf, problemEvents } from '../model/change-events.ts'
import {
  type ChangeSource,
  type Changes,
  changesBetween,
  problemChanges,
} from '../model/changes.ts'
import type { Problem } from '../model/problem.ts'
import type { Database, Run } from '../state/database.ts'
import { putFormat, putWorkspaceProblems, type StoredRows } from '../state/record-rows.ts'
import type { CaseChange, CaseEntry } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { PendingHistory } from '../workspace/pending-history.ts'
import type { WithTail } from '../workspace/step-tail.ts'
import type { Bus } from './bus.ts'
import { type Envelope, trailEnvelope } from './envelope.ts'
import type { EventLog } from './event-log.ts'

/**
 * Turns changes into events, once each, by comparing what was published last of a case with what its files say. So a
 * request and the watcher's echo of it cause one event. Timing plays no part.
 */
export interface Publisher {
  /**
   * Call if a case may have changed, with the memory files that a request has just written. Before `begin` the case
   * is only noted.
   */
  onCaseChange(change: CaseChange): void
  /** Publishes problems that belong to no case. */
  publishWorkspace(problems: readonly Problem[]): void
  /**
   * Publishes what changed while no service ran, then each later change; resolves when the former is stored. At the
   * first start everything counts as published, without events.
   */
  begin(problems: readonly Problem[], canList: boolean, signal: AbortSignal): Promise<void>
  /** Stores what no event waited for, such as newer stamps. */
  close(): void
}

/** The changes of a case that are published. */
export interface PublishedChanges {
  changes: Changes
  source: ChangeSource
}

export interface PublisherDeps {
  withTail: WithTail
  catalog: Catalog
  log: Pick<EventLog, 'append' | 'flushed'>
  database: Pick<Database, 'writeDerived'>
  stored: StoredRows
  /** The format of what is stored now. */
  format: string
  history: Pick<PendingHistory, 'takeSettled' | 'hasUnsynced'>
  now: () => string
  publishedChanges: Bus<PublishedChanges>
}

/** Rows that no event waits for are stored when nothing was published for this time, or when so many wait. */
const REST_MS = 5000
const MAX_WAITING = 100

export function createPublisher(deps: PublisherDeps): Publisher {
  const { catalog, log, stored, history, now } = deps
  let hasBegun = false
  let isClosed = false
  /** Cases read since the start, which may have changed while no service ran. */
  const read = new Set<string>()
  let workspaceProblems: string | undefined
  /** How many cases have rows that no event waits for. */
  let waiting = 0
  let timer: NodeJS.Timeout | undefined

  /** Stores events in one transaction with the rows of the case, or of all, and what `alongside` writes. */
  function append(
    envelopes: readonly Envelope[],
    caseId?: string,
    alongside?: (run: Run) => void,
    isDerived = false,
  ) {
    const events = envelopes.map((each) => ({
      type: each.event_type,
      envelope: JSON.stringify(each),
    }))
    const rows = catalog.unsavedRows(caseId)
    const write = (run: Run) => {
      rows.write(run)
      alongside?.(run)
    }
    log.append(events, write, rows.onWritten, isDerived)
  }

  /** Stores what no event waits for, such as newer stamps, and history.md with the lines that the service appended. */
  function storeRest(): void {
    clearTimeout(timer)
    waiting = 0
    if (history.hasUnsynced()) storeRestLater()
    const rows = catalog.unsavedRows()
    const settle = history.takeSettled()
    if (!settle && rows.isEmpty) return
    const write = (run: Run) => {
      rows.write(run)
      settle?.(run)
    }
    deps.database.writeDerived(write, rows.onWritten)
  }

  function publish({ caseId, source, wrote, isOfTrail }: CaseChange): void {
    const entry = catalog.entry(caseId)
    const changes = changesBetween(caseId, catalog.published(caseId), catalog.reading(caseId))
    // a case that could not be read gets its event once it can
    const readable = wrote?.filter((name) => entry?.notes.get(name)?.hash !== '') ?? []
    const events = eventsOf(changes, source, readable)
    const envelopes = events.flatMap((event): Envelope[] => {
      if (!('type' in event)) return newLines(deps, caseId, event)
      const { type, payload } = event
      const timestamp = (source === 'offline' && entry && timeOf(entry, payload)) || now()
      return [{ event_type: type, timestamp, payload }]
    })
    catalog.setPublished(caseId, changes.after)
    const isQuiet = envelopes.length + changes.lines.length + changes.goneSessions.length === 0
    if (source !== 'offline' || !isQuiet) {
      deps.publishedChanges.publish({ changes, source })
    }
    // with the lines of the service, the row says what history.md will be
    if (!isQuiet || source === 'service' || !hasBegun)
      append(envelopes, caseId, undefined, isOfTrail)
    else if (++waiting > MAX_WAITING) storeRest()
    storeRestLater()
  }

  function storeRestLater(): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(storeRest, REST_MS).unref()
  }

  function publishWorkspace(problems: readonly Problem[]): void {
    workspaceProblems ??= stored.workspaceProblems() ?? '[]'
    const text = JSON.stringify(problems)
    if (text === workspaceProblems) return
    const timestamp = now()
    const changes = problemChanges(JSON.parse(workspaceProblems), problems)
    const envelopes = problemEvents(null, changes).map(({ type, payload }) => ({
      event_type: type,
      timestamp,
      payload,
    }))
    workspaceProblems = text
    append(envelopes, undefined, (run) => putWorkspaceProblems(run, text))
  }

  return {
    onCaseChange(change) {
      if (hasBegun) publish(change)
      else read.add(change.caseId)
    },
    publishWorkspace,
    async begin(problems, canList, signal) {
      const isFirstStart = stored.workspaceProblems() === undefined
      const gone = canList ? catalog.notFound() : []
      for (const id of gone) {
        catalog.remove(id)
        read.add(id)
      }
      for (const id of catalog.readAtStart()) read.add(id)
      // includes cases that change meanwhile
      await forEachInTurn(read, signal, (id) => {
        read.delete(id)
        if (!isFirstStart) return publish({ caseId: id, source: 'offline' })
        catalog.setPublished(id, catalog.reading(id))
        append([], id)
      })
      if (isFirstStart) workspaceProblems = JSON.stringify(problems)
      else publishWorkspace(problems)
      // in the last transaction, so that an interrupted first start is repeated
      append([], undefined, (run) => {
        putWorkspaceProblems(run, workspaceProblems!)
        putFormat(run, deps.format)
      })
      hasBegun = true
      await log.flushed()
    },
    close() {
      if (hasBegun) storeRest()
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** Returns when the file of an event was changed, for changes made while no service ran. */
function timeOf(entry: CaseEntry, payload: Record<string, unknown>): string | null {
  const { proof_id, filename } = payload
  const file = entry.proofs.get(String(proof_id)) ?? entry.notes.get(String(filename))
  const isRemoved = !file && filename !== undefined
  const mtimeMs = isRemoved ? entry.folders.get('.')?.mtimeMs : (file ?? entry.file).mtimeMs
  return mtimeMs === undefined ? null : new Date(mtimeMs).toISOString()
}

function newLines(
  { catalog, withTail }: Pick<PublisherDeps, 'catalog' | 'withTail'>,
  caseId: string,
  event: Exclude<CaseEvent, { type: string }>,
): Envelope[] {
  const { sessions } = catalog.folder(caseId)!
  const session = sessions.find(({ id }) => id === event.session_id)!
  const lines = session.trail.filter(({ number }) => number > event.after)
  return lines.map((line) => trailEnvelope(session, withTail(session, line)))
}
