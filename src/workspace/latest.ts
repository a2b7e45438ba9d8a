import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../files/errno.ts'
import { type EntryKind, kindsNow, sessionNumbers } from '../files/folder-names.ts'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { forEachInTurn } from '../files/yielding.ts'
import { AppError } from '../model/app-error.ts'
import type { CaseEntry } from './case-entry.ts'
import { removeLatest, setLatest } from './latest-link.ts'
import type { Layout } from './layout.ts'

/**
 * Keeps the link `sessions/latest.md` at the newest session of a case. Before `begin` it only collects cases: a fresh
 * clone has no links, and no request should wait for thousands of them.
 */
export interface Latest {
  /** Corrects the link of a case. The caller must have the case's mutex. */
  update(entry: CaseEntry): Promise<void>
  /** Removes the link of a folder that is no case any more: a branch switch leaves it, as git ignores it. */
  clear(caseId: string): Promise<void>
  /** Sets the collected links and returns their cases. Later updates take effect at once. */
  begin(signal: AbortSignal): Promise<string[]>
}

interface LatestDeps {
  layout: Layout
  mutex: KeyedMutex
  entry(caseId: string): CaseEntry | undefined
  /** Whether nothing may be written now, for example because git is changing files. */
  mayNotWrite(): Promise<boolean>
  /** Schedules reading the case again in `ms`. */
  later(caseId: string, ms: number): void
  now(): string
  log(line: string): void
}

const RETRY_MS = 200

/** The link is only a convenience for people. If it cannot be set, that is logged and nothing fails. */
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
    // also if the link cannot be set: another attempt would not help
    entry.latest = targetOf(newest)
    await orLog(id, async () => {
      if (newest === null) await removeLatest(layout.sessions(id))
      else await setLatest(layout.sessions(id), newest, deps.now())
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

/** Returns the target of `latest.md`; empty if there is no such link. */
export function latestIn(folder: string, kinds: ReadonlyMap<string, EntryKind> | null): string {
  if (kinds?.get('latest.md') !== 'link') return ''
  try {
    return readlinkSync(join(folder, 'latest.md'))
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EINVAL', 'EACCES')) return '' // changed since; the next read sees it
    throw error
  }
}

/** Whether the link does not point at the newest session, or a plain file is in its place. */
export function isLatestWrong(entry: CaseEntry): boolean {
  return entry.latest !== targetOf(newestOf(entry))
}

function newestOf({ sessions }: Pick<CaseEntry, 'sessions'>): number | null {
  return sessions.size === 0 ? null : Math.max(...sessions.keys())
}

function targetOf(newest: number | null): string {
  return newest === null ? '' : `${newest}.md`
}
