import { relative } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Catalog } from '../workspace/catalog.ts'
import type { Layout } from '../workspace/layout.ts'
import { dropSearchCache } from '../workspace/search-files.ts'
import { storedFormat } from '../workspace/stored-cases.ts'
import { summaryOf } from './case-summary.ts'
import type { SearchQuery } from './query.ts'
import type { CaseToSearch, FindAnswer, SimilarCase } from './search-messages.ts'
import { type SearchThread, startSearchThread } from './search-thread.ts'

/**
 * Full text over cases, sessions, memory files and proof. The index lives in a thread that begins with the first search
 * and ends when nobody has searched for a while; what it answers is true of the catalog as it is when it is asked.
 */
export interface Search {
  find(query: SearchQuery, limit: number): Promise<FindAnswer>
  /** Resolved cases that resemble this one, the most alike first. */
  similar(id: string, limit: number): Promise<SimilarCase[]>
  /** Whether the index is in memory: then an answer takes no time to speak of. */
  isAwake(): boolean
  /** Not even what is kept for the next start may have the words of a case that is gone. */
  forget(id: string): void
  close(): Promise<void>
}

interface SearchNeeds {
  layout: Layout
  catalog: Pick<Catalog, 'ids' | 'known' | 'row' | 'version'>
  /** In the state folder. */
  file: string
  version: string
  log(line: string): void
}

/** So long after the last search the memory of the index is given back. */
const IDLE_MS = 10 * 60_000
const SLICE_MS = 8

export function createSearch({ layout, catalog, file, version, log }: SearchNeeds): Search {
  let thread: SearchThread | null = null
  /** Of the catalog, as the thread knows it; null before it knows anything. */
  let told: number | null = null
  let idle: NodeJS.Timeout | undefined
  let syncing: Promise<unknown> = Promise.resolve()
  let ending: Promise<void> = Promise.resolve()

  function started(): SearchThread {
    if (thread) return thread
    told = null
    const where = {
      cases: layout.cases,
      shown: relative(layout.root, layout.cases),
      cache: { path: file, title: storedFormat(version) },
    }
    const own = startSearchThread(where, {
      log,
      onGone() {
        if (thread === own) thread = null
      },
    })
    thread = own
    return own
  }

  /** One after the other, so that no older state of a case comes after a newer one. */
  function synced(): Promise<SearchThread> {
    const next = syncing.then(bringUp, bringUp)
    syncing = next
    return next
  }

  async function bringUp(): Promise<SearchThread> {
    await ending
    const asked = started()
    clearTimeout(idle)
    idle = setTimeout(end, IDLE_MS).unref()
    const before = catalog.version()
    if (told === before) return asked
    const ids = catalog.ids()
    const cases: CaseToSearch[] = []
    const gone: string[] = []
    let began = performance.now()
    for (const id of ids) {
      const found = caseOf(id)
      if (found) cases.push(found)
      else gone.push(id)
      if (performance.now() - began < SLICE_MS) continue
      await setImmediate()
      began = performance.now()
    }
    asked.tell({ kind: 'cases', cases, gone, all: true })
    told = before
    return asked
  }

  function caseOf(id: string): CaseToSearch | null {
    const row = catalog.row(id)
    const known = catalog.known(id)
    if (!row || !known) return null
    const print = known.print === null ? 0 : Number.parseInt(known.print.slice(0, 12), 16)
    return { id, names: known.names.split('\n'), print, facts: summaryOf(row) }
  }

  /** Where nothing is resolved yet, no index is needed to say so. */
  async function hasResolved(but: string): Promise<boolean> {
    let began = performance.now()
    for (const id of catalog.ids()) {
      if (id !== but && catalog.row(id)?.state === 'RESOLVED') return true
      if (performance.now() - began < SLICE_MS) continue
      await setImmediate()
      began = performance.now()
    }
    return false
  }

  function end(): Promise<void> {
    clearTimeout(idle)
    ending = thread?.end() ?? Promise.resolve()
    thread = null
    return ending
  }

  return {
    async find(query, limit) {
      const asked = await synced()
      return asked.ask((n) => ({ kind: 'find', n, query, limit }))
    },
    isAwake: () => thread !== null,
    async similar(id, limit) {
      if (!thread && !(await hasResolved(id))) return []
      const asked = await synced()
      return asked.ask((n) => ({ kind: 'similar', n, id, limit }))
    },
    forget(id) {
      thread?.tell({ kind: 'cases', cases: [], gone: [id], all: false })
      dropSearchCache(file) // the thread keeps the rest again once nobody searches: it may be killed before
    },
    async close() {
      await syncing.catch(() => {})
      await end()
    },
  }
}
