/**
 * Where every change becomes an event: a request, a hand edit that the synchronizer read, a git checkout, an edit
 * made while no service ran. Event and facts are one transaction.
 */

import { forEachInTurn } from '../files/yielding.ts'
import type { CaseFacts } from '../model/case-facts.ts'
import { type ChangeSource, caseEvents, problemEvents } from '../model/case-facts.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import { HISTORY_FILE } from '../model/history.ts'
import type { Problem } from '../model/problem.ts'
import type { CaseChange, CaseEntry } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { factsOf } from '../workspace/facts.ts'
import type { HistoryJournal } from '../workspace/history-journal.ts'
import type { Bus } from './bus.ts'
import { type Envelope, trailEnvelope } from './envelope.ts'
import type { EventLog } from './event-log.ts'
import type { PublishedFacts, Replacement } from './published-facts.ts'

/**
 * Turns changes into events, once each: what was last published of a case is compared with what its files say now,
 * so that a request and the watcher's echo of it make one event, and so does a hand edit. Timing plays no part.
 */
export interface Publisher {
  /** A case may have changed, and a request has just written these memory files. Before `begin` it is only noted. */
  changed(change: Pick<CaseChange, 'caseId' | 'source' | 'wrote'>): void
  /** Publishes the problems that belong to no case. */
  publishWorkspace(problems: readonly Problem[]): void
  /**
   * Publishes what changed while no service ran, then each change as it comes; resolves when that is on the disk. At a
   * first start all is taken as published, without events.
   */
  begin(
    problems: readonly Problem[],
    isGone: (caseId: string) => boolean,
    signal: AbortSignal,
  ): Promise<void>
}

/** What of a case is published from now on, and what was before; null where there was or is no case. */
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
  history: Pick<HistoryJournal, 'isOwnChange' | 'published'>
  now: () => string
  compared: Bus<Compared>
}

export function createPublisher(deps: PublisherDeps): Publisher {
  const { catalog, log, facts, history, now, compared } = deps
  let hasBegun = false
  /** The cases that were read since the start, as they may have changed while no service ran. */
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
    // one that the disk did not give back has its event once it can be read
    const readable = wrote?.filter((name) => entry?.notes.get(name)?.hash !== '') ?? []
    const isOwnHistory = history.isOwnChange(caseId, historyHash(before), historyHash(after))
    const events = caseEvents(caseId, before, after, source, { wrote: readable, isOwnHistory })
    const envelopes = events.flatMap((event): Envelope[] => {
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
      // also what changes while this goes on
      await forEachInTurn(read, signal, (id) => {
        read.delete(id)
        publish(id, 'offline')
      })
      const gone = facts.caseIds().filter(isGone)
      if (isFirstStart) {
        // of a first start that was cut short, and then a case was deleted
        for (const id of gone) append([], facts.replace(id, null))
        // in the last transaction of these: a start that was cut short is a first start again
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

function historyHash(facts: CaseFacts | null): string {
  return facts?.notes[HISTORY_FILE]?.hash ?? ''
}

/** When the file that an event is about was changed: for changes that were made while no service ran. */
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
