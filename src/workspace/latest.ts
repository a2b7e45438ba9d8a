import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type EntryKind, kindsNow, sessionNumbers } from '../files/folder-names.ts'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { forEachInTurn } from '../files/yielding.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseEntry } from './case-entry.ts'
import { pointLatest, removeLatest } from './latest-link.ts'
import type { Layout } from './layout.ts'

/**
 * Keeps the link `sessions/latest.md` at the newest session of a case. Before `begin` it only notes which links to set: a
 * clone has none of them, and no request should wait for thousands of links.
 */
export interface Latest {
  /** The caller must have the mutex of the case. */
  update(entry: CaseEntry): Promise<void>
  /** The same where no case is: a switch of branches leaves the link, which git ignores. */
  clear(caseId: string): Promise<void>
  /** Sets those that were noted, and gives their cases; each other from now on when it is to be. */
  begin(signal: AbortSignal): Promise<string[]>
}

interface LatestDeps {
  layout: Layout
  mutex: KeyedMutex
  entry(caseId: string): CaseEntry | undefined
  /** Whether git changes files just now, or nothing may be written any more. */
  mayNotWrite(): Promise<boolean>
  /** Read the case again in `ms`. */
  later(caseId: string, ms: number): void
  log(line: string): void
}

const RETRY_MS = 200

/** It is for people's convenience only: where it cannot be set, that is logged, and the session is there without it. */
export function createLatest(deps: LatestDeps): Latest {
  const { layout, mutex, mayNotWrite, later, log } = deps
  let noted: Set<string> | null = new Set()

  async function orLog(caseId: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      log(`latest.md of case ${caseId} was not set: ${error.message}`)
    }
  }

  async function update(entry: CaseEntry): Promise<void> {
    const { id } = entry
    if (!isLatestWrong(entry)) return
    if (noted) return void noted.add(id)
    if (await mayNotWrite()) return later(id, RETRY_MS)
    const newest = newestOf(entry)
    // also where the file system has no links, or a folder is in the way: no other try would help
    entry.latest = targetOf(newest)
    await orLog(id, async () => {
      if (newest === null) await removeLatest(layout.sessions(id))
      else await pointLatest(layout.sessions(id), newest)
    })
  }

  return {
    update,
    async begin(signal) {
      const ids = [...(noted ?? [])]
      noted = null
      const updateCase = async (id: string) => {
        const entry = deps.entry(id)
        if (entry) await update(entry)
      }
      await forEachInTurn(ids, signal, (id) => mutex.run(id, () => updateCase(id)))
      return ids
    },
    async clear(caseId) {
      const folder = layout.sessions(caseId)
      const kinds = kindsNow(folder)
      if (!kinds || kinds === 'hidden' || kinds.get('latest.md') !== 'link') return
      if (sessionNumbers([...kinds.keys()]).length > 0 || (await mayNotWrite())) return
      await orLog(caseId, () => removeLatest(folder))
    },
  }
}

/** Where `latest.md` leads; empty where it is not there, or is something else. */
export function latestIn(folder: string, kinds: ReadonlyMap<string, EntryKind> | null): string {
  if (kinds?.get('latest.md') !== 'link') return ''
  try {
    return readlinkSync(join(folder, 'latest.md'))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL', 'EACCES')) return '' // changed meanwhile, which shows in the next look
    throw error
  }
}

/** Whether the link does not name the newest session. A file in its place is another matter. */
export function isLatestWrong(entry: CaseEntry): boolean {
  return !entry.strayLatest && entry.latest !== targetOf(newestOf(entry))
}

function newestOf({ sessions }: Pick<CaseEntry, 'sessions'>): number | null {
  return sessions.size === 0 ? null : Math.max(...sessions.keys())
}

function targetOf(newest: number | null): string {
  return newest === null ? '' : `${newest}.md`
}
