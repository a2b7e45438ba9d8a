import { setTimeout as delay } from 'node:timers/promises'
import { type ReceivedEvent, sessionStream } from '../../client/session-stream.ts'
import { AppError } from '../../model/app-error.ts'
import type { Access, AccessDeps } from './access.ts'
import { CASES_URI, caseUri, memoryUri, proofUri, sessionUri } from './uris.ts'

/** The changes since the last notification. */
export interface Change {
  /** Resources that may have changed; `all` if it is not known which. */
  uris: ReadonlySet<string> | 'all'
  /** Whether resources were added or removed. */
  list: boolean
}

/** How often to look for a service while none runs. */
const LOOK_MS = 2000
/** Changes within this time become one notification. */
const GATHER_MS = 100

const EVENTS = '/events?after=now&output=no'

/** Files that were seen before: one event type reports both new and changed files. */
export type KnownFiles = Set<string>

/** Calls `notify` for every change while a service runs, until `signal` is aborted. */
export async function followChanges(
  access: Access,
  { signal, log }: AccessDeps,
  known: KnownFiles,
  notify: (change: Change) => void,
): Promise<void> {
  const numbers = new Map<string, number>()
  const gathered = createGathering(notify)

  async function find(): Promise<string | null> {
    try {
      return await access.service()
    } catch (error) {
      if (error instanceof AppError) return null // no workspace yet; each call reports that
      throw error
    }
  }

  /** Null if the session is gone. */
  async function numberOf({ case_id, session_id }: Ids): Promise<number | null> {
    if (session_id === undefined) return null
    const seen = numbers.get(session_id)
    if (seen !== undefined) return seen
    try {
      const path = `/cases/${case_id}/sessions/${session_id}`
      const { body } = await access.read((client) => client.request('GET', path))
      numbers.set(session_id, body.number)
      return body.number
    } catch (error) {
      if (error instanceof AppError) return null
      throw error
    }
  }

  try {
    let url = await find()
    while (url === null) {
      await delay(LOOK_MS, undefined, { signal })
      url = await find()
    }
    const where = { url, relocate: find }
    let isFirst = true
    const options = {
      giveUpMs: Number.POSITIVE_INFINITY,
      pausesMs: [100, 500, LOOK_MS],
      onOpen() {
        log(`mcp: the service at ${where.url} sends changes`)
        if (!isFirst) gathered.add({ uris: 'all', list: true }) // changes in between were missed
        isFirst = false
      },
    }
    for await (const event of sessionStream(EVENTS, where, signal, options)) {
      if (event.type === 'resync') gathered.add({ uris: 'all', list: true })
      else gathered.add(changeOf(event, await numberOf(event.payload as unknown as Ids), known))
    }
  } catch (error) {
    if (!signal.aborted) log(`no longer sending changes: ${String(error)}`)
  }
}

interface Ids {
  case_id: string
  session_id?: string
  proof_id?: string
  filename?: string
}

const LISTED = new Set(['case_created', 'case_deleted', 'session_created', 'proof_created'])

/** The resources that an event of the service affects. */
export function changeOf(
  { type, payload }: Pick<ReceivedEvent, 'type' | 'payload'>,
  number: number | null,
  known: KnownFiles,
): Change {
  const { case_id, session_id, proof_id, filename } = payload as unknown as Ids
  if (case_id === undefined) return { uris: new Set([CASES_URI]), list: false }
  const uris = new Set([CASES_URI, caseUri(case_id)])
  if (session_id !== undefined) {
    for (const name of [session_id, 'latest']) uris.add(sessionUri(case_id, name))
    uris.add(memoryUri(case_id, 'latest.md'))
  }
  if (number !== null) {
    uris.add(sessionUri(case_id, number)).add(memoryUri(case_id, `${number}.md`))
  }
  if (proof_id !== undefined) uris.add(proofUri(case_id, proof_id))
  if (filename === undefined) uris.add(memoryUri(case_id, 'case.md'))
  const file = filename === undefined ? null : memoryUri(case_id, filename)
  if (file !== null) uris.add(file)
  const isNew = file !== null && !known.has(file)
  if (isNew) known.add(file)
  return { uris, list: isNew || LISTED.has(type) }
}

/** Joins changes that follow each other closely. */
function createGathering(notify: (change: Change) => void): { add(change: Change): void } {
  let waiting: Change | null = null
  return {
    add(change) {
      if (waiting === null) {
        setTimeout(() => {
          const gathered = waiting!
          waiting = null
          notify(gathered)
        }, GATHER_MS).unref()
      }
      waiting = waiting === null ? change : joined(waiting, change)
    },
  }
}

function joined(a: Change, b: Change): Change {
  const uris = a.uris === 'all' || b.uris === 'all' ? 'all' : new Set([...a.uris, ...b.uris])
  return { uris, list: a.list || b.list }
}
