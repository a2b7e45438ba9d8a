import { type CaseFacts, caseEvents, type Maker, problemEvents } from '../model/case-facts.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import type { Problem } from '../model/problem.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { factsOf } from '../workspace/facts.ts'
import type { KeptCase } from '../workspace/kept/kept-case.ts'
import { toldSum } from '../workspace/kept/kept-cases.ts'
import type { EventLog } from '../workspace/log/event-log.ts'
import { type Envelope, trailEnvelope } from './envelope.ts'
import {
  caseIdsIn,
  factsIn,
  keysOf,
  marksInText,
  marksOf,
  toldIn,
  toldOfCase,
} from './told-marks.ts'

/**
 * Turns changes into events, once each: what was told last of a case is compared with what its files
 * say now, so that a request and the watcher's echo of it make one event, and so does a hand edit.
 */
export interface Teller {
  /** Tells what is new in a case, and that these memory files were written. Cheap when nothing is. */
  tell(caseId: string, maker: Maker, wrote?: readonly string[]): void
  /** Tells the problems that belong to no case. */
  tellWorkspace(problems: readonly Problem[]): void
  /** Before the first start takes everything as told: what is to be told of a case that rests from the beginning. */
  laid(caseId: string, text: string): void
  /** Takes everything as told, silently: for the first start (design §5). */
  beginHere(problems: readonly Problem[]): void
  /** Tells what changed while no service ran. */
  tellAway(problems: readonly Problem[]): void
  /** What was told last of everything: the log's checkpoint. */
  told(): Iterable<[string, string]>
  /** What was told of a case stands in its record, which changes now. */
  recall(caseId: string, text: string): void
  /** What was told of these cannot be read any more; of one whose files say something else now, that is told. */
  lost(cases: ReadonlyMap<string, KeptCase>): void
  /** Whether just this was told last of a case, as far as it is not kept. */
  isTold(caseId: string, text: string): boolean
  /** This is kept of a case, and need not be kept here too, if it is what was told. */
  kept(caseId: string, text: string): void
}

export interface TellerNeeds {
  catalog: Catalog
  /** What is kept as told of a case. */
  toldOf(kept: KeptCase): string
  log: Pick<EventLog, 'append'>
  now: () => string
  /** What of a case is published from now on, and what was before; null where there was or is no case. */
  onCompared?(caseId: string, before: CaseFacts | null, after: CaseFacts | null, maker: Maker): void
}

/** The mark under which the problems of the workspace are kept; no case has such an id. */
const WORKSPACE = 'workspace'

export function createTeller(
  { catalog, toldOf, log, now, onCompared }: TellerNeeds,
  marks: ReadonlyMap<string, unknown>,
): Teller {
  /** As JSON text; of a case that is kept with just these, nothing. */
  const told = new Map<string, string>()
  for (const [key, text] of marks) if (typeof text === 'string') told.set(key, text)
  /** Of cases of which nothing else is known: a checksum of what was told last. */
  const sums = new Map<string, number>()
  /** Of cases that rest from the beginning, until the first start takes them as told. */
  const laid = new Map<string, string>()

  /** Only the marks that differ are logged: a case with many memory files is not written for each trail line. */
  function put(wanted: Record<string, string | null>, envelopes: Envelope[]): void {
    const changed = Object.entries(wanted).filter(([key, text]) => (told.get(key) ?? null) !== text)
    for (const [key, text] of changed) {
      if (text === null) told.delete(key)
      else told.set(key, text)
    }
    if (changed.length + envelopes.length === 0) return
    const events = envelopes.map((each) => ({
      type: each.event_type,
      envelope: JSON.stringify(each),
    }))
    log.append({ events, marks: Object.fromEntries(changed) })
  }

  function recall(caseId: string, text: string): void {
    if (told.has(caseId)) return // newer
    for (const [key, mark] of marksInText(caseId, text)) told.set(key, mark)
  }

  function forget(caseId: string): void {
    for (const key of keysOf(caseId)) told.delete(key)
  }

  function tell(caseId: string, maker: Maker, wrote?: readonly string[]): void {
    const stands = catalog.kept(caseId)
    if (stands) recall(caseId, toldOf(stands))
    compare(caseId, maker, wrote)
  }

  function compare(caseId: string, maker: Maker, wrote?: readonly string[]): void {
    const entry = catalog.entry(caseId)
    const folder = catalog.folder(caseId)
    const before = factsIn(told, caseId) ?? factsBySum(caseId, entry, folder)
    const after = entry && folder ? factsOf(entry, folder, before) : null
    const time = ({ proof_id, filename }: Record<string, unknown>) => {
      if (maker !== 'away' || !entry) return now()
      const file = entry.proofs.get(String(proof_id)) ?? entry.notes.get(String(filename))
      const isRemoved = !file && filename !== undefined
      const mtimeMs = isRemoved ? entry.folders.get('.')?.mtimeMs : (file ?? entry.file).mtimeMs
      return mtimeMs === undefined ? now() : new Date(mtimeMs).toISOString()
    }
    // one that the disk did not give back has its event once it can be read
    const readable = wrote?.filter((name) => entry?.notes.get(name)?.hash !== '')
    const events = caseEvents(caseId, before, after, maker, readable)
    const envelopes = events.flatMap((event): Envelope[] => {
      if ('type' in event) {
        const { type, payload } = event
        return [{ event_type: type, timestamp: time(payload), payload }]
      }
      const session = folder!.sessions.find(({ id }) => id === event.session_id)!
      const lines = session.trail.filter(({ number }) => number > event.after)
      return lines.map((line) => trailEnvelope(session, line))
    })
    onCompared?.(caseId, before, after, maker)
    put(marksOf(caseId, after), envelopes)
  }

  /** The facts as they are, if the sum says so; else the same with other fields, so that a change is told, and no new case. */
  function factsBySum(
    caseId: string,
    entry: CaseEntry | undefined,
    folder: CaseFolder | undefined,
  ): CaseFacts | null {
    const sum = sums.get(caseId)
    sums.delete(caseId)
    if (sum === undefined || !entry || !folder) return null
    const facts = factsOf(entry, folder, null)
    return toldSum(toldOfCase(entry, folder)) === sum ? facts : { ...facts, fields: '' }
  }

  function tellWorkspace(problems: readonly Problem[]): void {
    const before: Problem[] = JSON.parse(told.get(WORKSPACE) ?? '[]')
    const timestamp = now()
    const envelopes = problemEvents(null, before, problems).map(({ type, payload }) => ({
      ...{ event_type: type, timestamp, payload },
    }))
    put({ [WORKSPACE]: JSON.stringify(problems) }, envelopes)
  }

  return {
    tell,
    tellWorkspace,
    laid: (caseId, text) => void laid.set(caseId, text),
    beginHere(problems) {
      for (const id of catalog.ids()) {
        const stands = catalog.kept(id)
        if (stands) {
          const text = laid.get(id) ?? toldOf(stands)
          log.append({ events: [], marks: Object.fromEntries(marksInText(id, text)) })
          continue
        }
        const [entry, folder] = [catalog.entry(id), catalog.folder(id)]
        const facts: CaseFacts | null = entry && folder ? factsOf(entry, folder, null) : null
        put(marksOf(id, facts), [])
      }
      laid.clear()
      // also where there is no case yet: from now on all is told
      put({ [WORKSPACE]: JSON.stringify(problems) }, [])
    },
    tellAway(problems) {
      for (const id of new Set([...caseIdsIn(told), ...catalog.ids()])) {
        const stands = catalog.kept(id)
        if (stands && stands.told === toldSum(toldIn(told, id))) forget(id)
        else compare(id, 'away')
      }
      tellWorkspace(problems)
    },
    *told() {
      yield* told
      for (const id of catalog.ids()) {
        const stands = catalog.kept(id)
        if (!stands || told.has(id)) continue
        yield* marksInText(id, toldOf(stands))
      }
    },
    recall,
    lost(cases) {
      for (const [id, kept] of cases) if (!told.has(id)) sums.set(id, kept.told)
    },
    isTold: (caseId, text) => toldIn(told, caseId) === text,
    kept(caseId, text) {
      if (toldIn(told, caseId) === text) forget(caseId)
    },
  }
}
