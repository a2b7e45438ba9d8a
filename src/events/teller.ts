import { type CaseFacts, caseEvents, type Maker, problemEvents } from '../model/case-facts.ts'
import type { Problem } from '../model/problem.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { EventLog } from '../workspace/event-log.ts'
import { factsOf } from '../workspace/facts.ts'
import { type Envelope, trailEnvelope } from './envelope.ts'

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
  /** What was told last of every case: the log's checkpoint. */
  told(): Iterable<[string, JsonText]>
}

/** Facts as JSON text, which takes less memory than the values of 10,000 cases. */
type JsonText = string

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
  const told = new Map<string, JsonText>()
  for (const [key, text] of marks) if (typeof text === 'string') told.set(key, text)

  function lastTold(key: string): unknown {
    const text = told.get(key)
    return text === undefined ? null : JSON.parse(text)
  }

  function put(key: string, facts: unknown, envelopes: Envelope[]): void {
    const text = facts === null ? null : JSON.stringify(facts)
    if (text === null ? !told.has(key) : told.get(key) === text) return
    if (text === null) told.delete(key)
    else told.set(key, text)
    const events = envelopes.map((each) => ({
      type: each.event_type,
      envelope: JSON.stringify(each),
    }))
    log.append({ events, marks: { [key]: text } })
  }

  return {
    tell(caseId, maker) {
      const entry = catalog.entry(caseId)
      const folder = catalog.folder(caseId)
      const before = lastTold(caseId) as CaseFacts | null
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
      put(caseId, after, envelopes)
    },
    tellWorkspace(problems) {
      const before = (lastTold(WORKSPACE) ?? []) as Problem[]
      const events = problemEvents(null, before, problems)
      const time = now()
      const envelopes = events.map(({ type, payload }) => ({
        ...{ event_type: type, timestamp: time, payload },
      }))
      put(WORKSPACE, problems, envelopes)
    },
    beginHere(problems) {
      for (const id of catalog.ids()) {
        const [entry, folder] = [catalog.entry(id), catalog.folder(id)]
        if (entry && folder) put(id, factsOf(entry, folder, null), [])
      }
      put(WORKSPACE, problems, []) // also where there is no case yet: from now on all is told
    },
    told: () => told,
  }
}

/** Tells what changed while no service ran. */
export function tellAway(teller: Teller, catalog: Catalog): void {
  const ids = new Set([...[...teller.told()].map(([key]) => key), ...catalog.ids()])
  ids.delete(WORKSPACE)
  for (const id of ids) teller.tell(id, 'away')
}
