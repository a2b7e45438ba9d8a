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
 * Protects the proof gate while a run can write the case files (docs/security.md). The values from before the run
 * stay in effect until a request confirms a change; changes made to the files are ignored and reported. The catalog
 * applies these baselines every time it builds a case.
 */
export interface RunGuard {
  /** Whether a session that can write the files is executing. */
  isWatching(): boolean
  /** Starts ignoring file changes. Resolves once that is on disk; the run must not start earlier. */
  begin(run: GuardedRun): Promise<void>
  /**
   * Call this when the run's processes have ended. Ignored changes are recorded in its audit trail and stay
   * ignored. Does nothing for a session that did not `begin`.
   */
  end(sessionId: string): Promise<void>
  /** Call this for every change of a case, before it is published. */
  look(caseId: string): void
  /**
   * Accepts a whole file as changed by a request. The caller holds the case's mutex. If the file is written anew
   * (`isWritten`), `look` is called afterwards; else this publishes the change.
   */
  confirm(caseId: string, file: ConfirmedFile, isWritten: boolean): Promise<void>
  /** Loads what the last service stored. Call this before any case is read. */
  load(): void
  /**
   * Ends the runs of a service that died, like `end`. Call this when all cases are read and its processes are gone.
   */
  recover(): Promise<void>
  /** Resolves when all pending work is done. */
  idle(): Promise<void>
}

/** The content of case.md, or the number of a session. */
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

/** How long the end of a run waits for a running git command before it compares files. */
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
    if (!folder) return // the case may come back
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
      log(
        `could not store the frozen values of case ${caseId}, so a restart may lose them: ${String(error)}`,
      )
    })
  }

  async function rescanAll(): Promise<void> {
    await deps.git.waitUntilIdle(GIT_PATIENCE_MS)
    await deps.scan.all()
    for (const id of catalog.ids()) look(id)
    await lines.idle()
  }

  async function freezeAll(folders: CaseFolder[]): Promise<void> {
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

  /** Stores the changes that stay ignored, and drops everything else. */
  async function settle(): Promise<void> {
    const left = baselines.ids().map((id) => {
      const folder = catalog.folder(id)
      // a case that is absent now, for example on another branch, stays frozen as a whole
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
    // delete these last: after a crash, the watch file would otherwise restore old values
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
        // read these before registering the run, else cases that are not loaded would get an empty baseline
        const folders = runs.size === 0 ? catalog.ids().map((id) => catalog.folder(id)!) : null
        runs.set(run.session_id, run)
        if (folders) await freezeAll(folders)
        await saveWatch()
      }),
    async end(sessionId) {
      if (!runs.has(sessionId)) return
      await rescanAll()
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
      // do not wait for a session file that cannot be written
      for (const run of watch?.runs ?? []) runs.set(run.session_id, { ...run, ending: 'stop' })
      lines.resume(watch?.told ?? [])
    },
    async recover() {
      isOpen = true
      if (runs.size > 0) await rescanAll()
      await settle()
    },
    async idle() {
      await order.idle()
      await lines.idle()
      await baselines.idle()
    },
  }
}
