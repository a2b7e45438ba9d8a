import { type CaseFacts, caseEvents, type Maker, problemEvents } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { Catalog } from '../workspace/catalog.ts'
import { factsOf } from '../workspace/facts.ts'
import type { EventLog } from '../workspace/log/event-log.ts'
import { type Envelope, trailEnvelope } from './envelope.ts'
import { caseIdsIn, factsIn, marksOf } from './told-marks.ts'

/**
 * Turns changes into events, once each: what was told last of a case is compared with what its files
 * say now, so that a request and the watcher's echo of it make one event, and so does a hand edit.
 */
export interface Teller {
  /** Tells what is new in a case. Cheap when nothing is. */
  tell(caseId: string, maker: Maker): void
  /** Tells the problems that belong to no case. */
  tellWorkspace(problems: readonly Problem[]): void
  /** Takes everything as told, silently: for the first start (design §5). */
  beginHere(problems: readonly Problem[]): void
  /** Tells what changed while no service ran. */
  tellAway(problems: readonly Problem[]): void
  /** What was told last of everything: the log's checkpoint. */
  told(): Iterable<[string, string]>
}

export interface TellerNeeds {
  catalog: Catalog
  log: Pick<EventLog, 'append'>
  now: () => string
}

/** The mark under which the problems of the workspace are kept; no case has such an id. */
const WORKSPACE = 'workspace'

export function createTeller(
  { catalog, log, now }: TellerNeeds,
  marks: ReadonlyMap<string, unknown>,
): Teller {
  /** As JSON text, which takes less memory than the values of 10,000 cases. */
  const told = new Map<string, string>()
  for (const [key, text] of marks) if (typeof text === 'string') told.set(key, text)

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

  function tell(caseId: string, maker: Maker): void {
    const entry = catalog.entry(caseId)
    const folder = catalog.folder(caseId)
    const before = factsIn(told, caseId)
    const after = entry && folder ? factsOf(entry, folder, before) : null
    const time = ({ proof_id, filename }: Record<string, unknown>) => {
      if (maker !== 'away' || !entry) return now()
      const file = entry.proofs.get(String(proof_id)) ?? entry.notes.get(String(filename))
      return new Date((file ?? entry.file).mtimeMs).toISOString()
    }
    const events = caseEvents(caseId, before, after, maker)
    const envelopes = events.flatMap((event): Envelope[] => {
      if ('type' in event) {
        const { type, payload } = event
        return [{ event_type: type, timestamp: time(payload), payload }]
      }
      const session = folder!.sessions.find(({ id }) => id === event.session_id)!
      const lines = session.trail.filter(({ number }) => number > event.after)
      return lines.map((line) => trailEnvelope(session, line))
    })
    put(marksOf(caseId, after), envelopes)
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
    beginHere(problems) {
      for (const id of catalog.ids()) {
        const [entry, folder] = [catalog.entry(id), catalog.folder(id)]
        const facts: CaseFacts | null = entry && folder ? factsOf(entry, folder, null) : null
        put(marksOf(id, facts), [])
      }
      // also where there is no case yet: from now on all is told
      put({ [WORKSPACE]: JSON.stringify(problems) }, [])
    },
    tellAway(problems) {
      for (const id of new Set([...caseIdsIn(told), ...catalog.ids()])) tell(id, 'away')
      tellWorkspace(problems)
    },
    told: () => told,
  }
}
