import { createKeyedMutex } from '../files/keyed-mutex.ts'
import {
  type Baseline,
  baselineOfIgnored,
  captureBaseline,
  EMPTY_BASELINE,
} from '../model/baseline.ts'
import { baselineWithCase, baselineWithSession } from '../model/baseline-changes.ts'
import type { Case } from '../model/case.ts'
import type { CaseFolder } from '../model/case-folder.ts'
import type { Session } from '../model/session.ts'
import type { BaselineStore } from '../state/baselines.ts'
import type { Baselines } from '../workspace/baselines.ts'
import type { Catalog } from '../workspace/catalog.ts'
import type { GitActivity } from '../workspace/git/git-activity.ts'
import type { Scan, ScanDeps } from '../workspace/scan.ts'
import type { Store } from '../workspace/store.ts'
import type { Synchronizer } from '../workspace/sync/synchronizer.ts'
import { createIgnoredChangeLines, type GuardedRun } from './ignored-change-lines.ts'

/**
 * Keeps the gate shut against the files while a session executes whose processes can write them
 * (docs/security.md): what counted when it began goes on counting, until a request says otherwise. The
 * catalog asks the baselines whenever it puts a case together, so that there is no moment in between.
 */
export interface RunGuard {
  /** Whether a session executes just now whose processes can write the files. */
  isWatching(): boolean
  /** From here on changes by file are held back. Resolves when that is on disk: nothing runs before. */
  begin(run: GuardedRun): Promise<void>
  /**
   * When the processes of the run are ended: what was changed is named in its trail, and stays held
   * back. Nothing to do for a session that did not begin.
   */
  end(sessionId: string): Promise<void>
  /** Called with every change of a case, before it is told. */
  look(caseId: string): void
  /**
   * A request says of a whole file that it counts. The caller holds the case's mutex. Where it
   * `isWritten` anew, a look at the case follows; else this tells what changes by it.
   */
  confirm(caseId: string, file: ConfirmedFile, isWritten: boolean): Promise<void>
  /** What the last service left; before any case is read. */
  load(): void
  /** Ends the runs of a service that died, as `end` does; when all cases are read and its processes gone. */
  recover(): Promise<void>
  /** Resolves when all that was begun is done. */
  idle(): Promise<void>
}

/** What case.md says, or which session's file. */
export type ConfirmedFile = { case: Case } | Pick<Session, 'number'>

export interface RunGuardDeps {
  baselines: Baselines<GuardedRun>
  files: Pick<BaselineStore, 'writeWatch' | 'removeWatch'>
  catalog: Pick<Catalog, 'ids' | 'entry' | 'folder' | 'touch'>
  store: Pick<Store, 'update'>
  synchronizer: Pick<Synchronizer, 'freshenAll'>
  git: Pick<GitActivity, 'waitUntilIdle'>
  scan: Pick<Scan, 'all'>
  publish: ScanDeps['publish']
  now(): string
  log(line: string): void
}

/** What the end of a run waits for a program that changes files, before it looks at them as they are. */
const GIT_PATIENCE_MS = 10_000

export function createRunGuard(deps: RunGuardDeps): RunGuard {
  const { baselines, files, catalog, log } = deps
  const lines = createIgnoredChangeLines(deps)
  const { runs, isLive } = baselines
  const order = createKeyedMutex()
  let isOpen = false

  function look(caseId: string): void {
    const isWatching = runs.size > 0
    const baseline = baselines.get(caseId)
    if (!isOpen || (!isWatching && !baseline)) return
    const folder = catalog.folder(caseId)
    if (!folder) return // it may come back
    if (isWatching) {
      if (!baseline) putLater(caseId, { ...captureBaseline(folder, isLive), ...EMPTY_BASELINE })
      lines.name(folder, [...runs.values()])
    } else {
      const left = baselineOfIgnored(folder.ignored)
      if (JSON.stringify(left) !== JSON.stringify(baseline)) putLater(caseId, left)
    }
  }

  function putLater(caseId: string, baseline: Baseline | null): void {
    baselines.put(caseId, baseline).catch((error: unknown) => {
      log(`what counts of case ${caseId} was not kept for the next start: ${String(error)}`)
    })
  }

  async function lookAtAll(): Promise<void> {
    await deps.git.waitUntilIdle(GIT_PATIENCE_MS)
    await deps.scan.all()
    for (const id of catalog.ids()) look(id)
    await lines.idle()
  }

  async function pinAll(folders: CaseFolder[]): Promise<void> {
    const written: Promise<void>[] = []
    lines.begin(folders)
    for (const folder of folders) {
      const { id } = folder.case
      const baseline = captureBaseline(folder, isLive)
      if (baselines.get(id)) written.push(baselines.put(id, baseline))
      else baselines.keep(id, baseline)
    }
    await Promise.all(written)
  }

  function saveWatch(): Promise<void> {
    const open = [...runs.values()].map(({ session_id, case_id, number }) => {
      return { session_id, case_id, number }
    })
    return files.writeWatch({ runs: open, told: lines.words(), cases: baselines.all() })
  }

  /** Keeps what is held back, and nothing else. */
  async function settle(): Promise<void> {
    const left = baselines.ids().map((id) => {
      const folder = catalog.folder(id)
      // of a case that is away just now, on another branch say, nothing can be told: all stays pinned
      return {
        id,
        baseline: folder ? baselineOfIgnored(folder.ignored) : (baselines.get(id) ?? null),
      }
    })
    runs.clear()
    const others = left.filter(({ baseline }) => !baseline)
    for (const { id } of others) baselines.drop(id)
    await Promise.all(
      left
        .filter(({ baseline }) => baseline)
        .map(({ id, baseline }) => baselines.put(id, baseline)),
    )
    await files.removeWatch()
    // not before, or what counted as the run began would count again after a crash
    await Promise.all(
      others.filter(({ id }) => !baselines.get(id)).map(({ id }) => baselines.put(id, null)),
    )
  }

  return {
    look,
    isWatching: () => runs.size > 0,
    begin: (run) =>
      order.run('runs', async () => {
        await deps.synchronizer.freshenAll()
        // put together before the run counts: a case that rests would be taken as one with nothing there
        const folders = runs.size === 0 ? catalog.ids().map((id) => catalog.folder(id)!) : null
        runs.set(run.session_id, run)
        if (folders) await pinAll(folders)
        await saveWatch()
      }),
    async end(sessionId) {
      if (!runs.has(sessionId)) return
      await lookAtAll()
      await order.run('runs', async () => {
        if (runs.size === 1 && runs.has(sessionId)) await settle()
        else if (runs.delete(sessionId)) await saveWatch()
      })
    },
    async confirm(caseId, file, isWritten) {
      const baseline = baselines.get(caseId)
      if (!baseline) return
      if ('case' in file) await baselines.put(caseId, baselineWithCase(baseline, file.case))
      else {
        const session = catalog.entry(caseId)?.sessions.get(file.number)?.value
        if (session) await baselines.put(caseId, baselineWithSession(baseline, session))
      }
      if (isWritten) return
      catalog.touch(caseId)
      deps.publish({ caseId, found: [], source: 'service' })
    },
    load() {
      const watch = baselines.load()
      // a session file that cannot be written is not waited for
      for (const run of watch?.runs ?? []) runs.set(run.session_id, { ...run, ending: 'stop' })
      lines.resume(watch?.told ?? [])
    },
    async recover() {
      isOpen = true
      if (runs.size > 0) await lookAtAll()
      await settle()
    },
    async idle() {
      await order.idle()
      await lines.idle()
      await baselines.idle()
    },
  }
}
