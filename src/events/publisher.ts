/**
 * Where every change becomes an event: a request, a hand edit that the synchronizer read, a git checkout, an edit
 * made while no service ran. Event and facts are one transaction.
 */

import { forEachInTurn } from '../files/yielding.ts'
import type { CaseFacts } from '../model/case-facts.ts'
import {
  type ChangeEvent,
  type ChangeSource,
  caseEvents,
  problemEvents,
} from '../model/case-facts.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { HISTORY_FILE } from '../model/history.ts'
import type { Problem } from '../model/problem.ts'
import { waitingOf } from '../model/waiting.ts'
import type { CaseChange, CaseEntry } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { factsOf } from '../workspace/facts.ts'
import type { PendingHistory } from '../workspace/pending-history.ts'
import type { Bus } from './bus.ts'
import { type Envelope, trailEnvelope } from './envelope.ts'
import type { EventLog } from './event-log.ts'
import type { PublishedFacts, Replacement } from './published-facts.ts'

/**
 * Turns changes into events, once each, by comparing the facts last published of a case with those in its files. So a
 * request and the watcher's echo of it cause one event. Timing plays no part.
 */
export interface Publisher {
  /**
   * Call if a case may have changed, with the memory files that a request has just written. Before `begin` the case
   * is only noted.
   */
  changed(change: Pick<CaseChange, 'caseId' | 'source' | 'wrote'>): void
  /** Publishes problems that belong to no case. */
  publishWorkspace(problems: readonly Problem[]): void
  /**
   * Publishes what changed while no service ran, then each later change; resolves when the former is stored. At the
   * first start everything counts as published, without events.
   */
  begin(
    problems: readonly Problem[],
    isGone: (caseId: string) => boolean,
    signal: AbortSignal,
  ): Promise<void>
}

/** Facts of a case to publish, and those published before; null if there is or was no case. */
export interface Compared {
  caseId: string
  before: CaseFacts | null
  after: CaseFacts | null
  source: ChangeSource
}

export interface PublisherDeps {
  catalog: Pick<Catalog, 'ids' | 'entry' | 'folder' | 'has'>
  log: Pick<EventLog, 'append' | 'flushed'>
  facts: PublishedFacts
  history: Pick<PendingHistory, 'isOwnChange' | 'published'>
  now: () => string
  compared: Bus<Compared>
}

export function createPublisher(deps: PublisherDeps): Publisher {
  const { catalog, log, facts, history, now, compared } = deps
  let hasBegun = false
  /** Cases read since the start, which may have changed while no service ran. */
  const read = new Set<string>()

  function append(
    envelopes: readonly Envelope[],
    replacement: Replacement | null,
    onWritten?: () => void,
  ): void {
    if (envelopes.length === 0 && replacement === null) return
    const events = envelopes.map((each) => ({
      type: each.event_type,
      envelope: JSON.stringify(each),
    }))
    log.append(events, replacement?.write, () => {
      replacement?.onWritten()
      onWritten?.()
    })
  }

  function publish(caseId: string, source: ChangeSource, wrote?: readonly string[]): void {
    const entry = catalog.entry(caseId)
    const folder = catalog.folder(caseId)
    const before = facts.read(caseId)
    const after = entry && folder ? factsOf(entry, folder, before) : null
    // a case that could not be read gets its event once it can
    const readable = wrote?.filter((name) => entry?.notes.get(name)?.hash !== '') ?? []
    const isOwnHistory = history.isOwnChange(caseId, historyHash(before), historyHash(after))
    const events = caseEvents(caseId, before, after, source, { wrote: readable, isOwnHistory })
    const waiting = folder && after ? attentionEvents(folder, before, after, source) : []
    const envelopes = [...events, ...waiting].flatMap((event): Envelope[] => {
      if ('type' in event) {
        const { type, payload } = event
        const timestamp = (source === 'offline' && entry && timeOf(entry, payload)) || now()
        return [{ event_type: type, timestamp, payload }]
      }
      return newLines(folder!, event)
    })
    const replacement = facts.replace(caseId, after)
    if (source === 'offline' && !replacement && envelopes.length === 0) return
    compared.publish({ caseId, before, after, source })
    append(envelopes, replacement, () => history.published(caseId, after && historyHash(after)))
  }

  function takeAsPublished(caseId: string): void {
    const [entry, folder] = [catalog.entry(caseId), catalog.folder(caseId)]
    append([], facts.replace(caseId, entry && folder ? factsOf(entry, folder, null) : null))
  }

  function publishWorkspace(problems: readonly Problem[]): void {
    const before: Problem[] = JSON.parse(facts.workspace())
    const timestamp = now()
    const envelopes = problemEvents(null, before, problems).map(({ type, payload }) => ({
      event_type: type,
      timestamp,
      payload,
    }))
    append(envelopes, facts.replaceWorkspace(JSON.stringify(problems)))
  }

  return {
    changed({ caseId, source, wrote }) {
      if (hasBegun) publish(caseId, source, wrote)
      else read.add(caseId)
    },
    publishWorkspace,
    async begin(problems, isGone, signal) {
      const isFirstStart = facts.isNew
      if (isFirstStart) {
        await forEachInTurn(catalog.ids(), signal, (id) => {
          read.delete(id)
          takeAsPublished(id)
        })
      }
      // includes cases that change meanwhile
      await forEachInTurn(read, signal, (id) => {
        read.delete(id)
        publish(id, 'offline')
      })
      const gone = facts.caseIds().filter(isGone)
      if (isFirstStart) {
        // left by an interrupted first start, if the case was deleted since
        for (const id of gone) append([], facts.replace(id, null))
        // in the last transaction, so that an interrupted first start is repeated
        append([], facts.replaceWorkspace(JSON.stringify(problems)))
      } else {
        for (const id of gone) publish(id, 'offline')
        publishWorkspace(problems)
      }
      hasBegun = true
      facts.endStart()
      await log.flushed()
    },
  }
}

/**
 * One event per cause. What a session of another machine waits for was published there. A record of an earlier version has no
 * causes, so what waits then was seen already.
 */
function attentionEvents(
  folder: CaseFolder,
  before: CaseFacts | null,
  after: CaseFacts,
  source: ChangeSource,
): ChangeEvent<'attention_needed'>[] {
  const waiting = waitingOf(folder)
  const isOld = before !== null && before.causes === undefined
  if (!waiting || !after.state || isOld) return []
  if (source === 'editor' && waiting.session_id !== null) return []
  const { key, cause, ...what } = waiting
  if (before?.causes?.[key] === cause) return []
  const { id: case_id, title } = folder.case
  return [{ type: 'attention_needed', payload: { case_id, title, ...what } }]
}

function historyHash(facts: CaseFacts | null): string {
  return facts?.notes[HISTORY_FILE]?.hash ?? ''
}

/** Returns when the file of an event was changed, for changes made while no service ran. */
function timeOf(entry: CaseEntry, payload: Record<string, unknown>): string | null {
  const { proof_id, filename } = payload
  const file = entry.proofs.get(String(proof_id)) ?? entry.notes.get(String(filename))
  const isRemoved = !file && filename !== undefined
  const mtimeMs = isRemoved ? entry.folders.get('.')?.mtimeMs : (file ?? entry.file).mtimeMs
  return mtimeMs === undefined ? null : new Date(mtimeMs).toISOString()
}

function newLines(folder: CaseFolder, event: { session_id: string; after: number }): Envelope[] {
  const session = folder.sessions.find(({ id }) => id === event.session_id)!
  const lines = session.trail.filter(({ number }) => number > event.after)
  return lines.map((line) => trailEnvelope(session, line))
}
