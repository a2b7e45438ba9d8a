import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { GitActivity } from '../git/activity.ts'
import type { Case } from '../model/case.ts'
import { type CaseContents, sessionOf } from '../model/case-contents.ts'
import { frozenWithCase, frozenWithSession } from '../model/frozen-value-edits.ts'
import {
  type CommittedChange,
  committedKey,
  type FrozenValues,
  freezeValues,
  frozenOfIgnored,
  type IgnoredChange,
  NONE_EXISTED,
} from '../model/frozen-values.ts'
import { isSealed, type Session } from '../model/session.ts'
import type { NewTrailLine, TrailLine } from '../model/trail.ts'
import { numbered } from '../model/trail-lines.ts'
import { bootId } from '../platform/processes.ts'
import {
  type LeftProcess,
  leftProcesses,
  momentOfStart,
} from '../runners/process/left-processes.ts'
import type { FrozenValuesStore, OpenRun } from '../state/frozen-values.ts'
import type { FrozenCases } from '../workspace/frozen-cases.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { Scan, ScanDeps } from '../workspace/scan.ts'
import type { Store } from '../workspace/store.ts'
import type { CatalogRefresher } from '../workspace/watching/catalog-refresher.ts'
import { type Job, updateWithRetry } from './jobs.ts'

/**
 * Protects the proof gate while a run can write the case files (docs/security.md). The values from before the run
 * stay in effect until a request confirms a change; changes made to the files are ignored and reported. The catalog
 * applies these frozen values every time it builds a case.
 */
export interface RunGuard {
  /** Whether a session that can write the files is executing. */
  isWatching(): boolean
  /** Starts ignoring file changes. Resolves once that is on disk; the run must not start earlier. */
  begin(run: GuardedRun): Promise<void>
  /**
   * Call this when the run's processes have ended. Ignored changes are recorded in its audit trail and stay ignored. If
   * processes may be left that nothing else shows, changes stay ignored until a later one finds that these have ended too.
   * Does nothing for a session that did not `begin`.
   */
  end(sessionId: string): Promise<void>
  /** Call this for every change of a case, before it is published. */
  onCaseChange(caseId: string): void
  /**
   * Accepts a whole file as changed by a request. The caller holds the case's mutex. If the file is written anew
   * (`isWritten`), `look` is called afterwards; else this publishes the change.
   */
  confirm(caseId: string, file: ConfirmedFile, isWritten: boolean): Promise<void>
  /**
   * Stores what a run committed to the records of a case: wherever git brings it, it is ignored until confirmed. Equal
   * changes are stored once.
   */
  addCommitted(caseId: string, changes: readonly CommittedChange[]): Promise<void>
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

interface RunGuardDeps {
  frozenCases: FrozenCases<GuardedRun>
  files: Pick<FrozenValuesStore, 'writeWatch' | 'removeWatch'>
  catalog: Pick<Catalog, 'ids' | 'entry' | 'folder' | 'invalidate'>
  store: Pick<Store, 'update'>
  refresher: Pick<CatalogRefresher, 'freshenAll'>
  git: Pick<GitActivity, 'waitUntilIdle'>
  scan: Pick<Scan, 'readAll'>
  publish: ScanDeps['publish']
  /** The processes that a run may have left behind, which began at a moment. */
  leftProcesses: ((since: number) => LeftProcess[]) | undefined
  now(): string
  log(line: string): void
}

/** How long the end of a run waits for a running git command before it compares files. */
const GIT_PATIENCE_MS = 10_000
const MAX_LEFT = 5

export function createRunGuard(deps: RunGuardDeps): RunGuard {
  const { frozenCases, files, catalog, log, leftProcesses: find = leftProcesses } = deps
  const { runs, isRunningHere } = frozenCases
  const order = createKeyedMutex()
  /** Runs that have ended, but may have left processes behind. */
  const ended = new Map<string, LeftProcess[]>()
  let check: Promise<void> | null = null
  let isOpen = false

  function onCaseChange(caseId: string): void {
    const isWatching = runs.size > 0
    const frozen = frozenCases.get(caseId)
    if (!isOpen || (!isWatching && !frozen)) return
    const contents = catalog.folder(caseId)
    if (!contents) return // the case may come back
    if (isWatching) {
      if (!frozen) putLater(caseId, { ...freezeValues(contents, isRunningHere), ...NONE_EXISTED })
      checkEnded()
    } else {
      const left = frozenOfIgnored(contents.ignored, frozen?.committed)
      if (JSON.stringify(left) !== JSON.stringify(frozen)) putLater(caseId, left)
    }
  }

  function putLater(caseId: string, frozen: FrozenValues | null): void {
    frozenCases.put(caseId, frozen).catch((error: unknown) => {
      log(
        `could not store the frozen values of case ${caseId}, so a restart may lose them: ${String(error)}`,
      )
    })
  }

  async function rescanAll(): Promise<void> {
    await deps.git.waitUntilIdle(GIT_PATIENCE_MS)
    await deps.scan.readAll()
  }

  /** Records what is ignored now, and was not as the run began, in the run's audit trail. */
  async function recordIgnored(run: GuardedRun): Promise<void> {
    const known = new Set(run.known)
    const changes = catalog
      .ids()
      .flatMap((id) => ignoredIn(id).map((each) => ({ id, each })))
      .filter(({ id, each }) => !known.has(wordOf(id, each)))
      .slice(0, MAX_NAMED)
      .map(({ id, each }) => lineOf(run, id, each))
    if (changes.length === 0) return
    await updateWithRetry(deps.store, run, (contents) => {
      const session = sessionOf(contents, run.session_id)
      const added = changes.filter((line) => !session.trail.some((each) => isSame(each, line)))
      if (isSealed(session) || added.length === 0) return []
      const lines = numbered(session.trail, added, deps.now())
      return [{ file: 'session', number: session.number, edit: { lines } }]
    }).catch((error: unknown) =>
      log(
        `could not record changes in the audit trail of session ${run.number} of case ${run.case_id}: ${String(error)}`,
      ),
    )
  }

  /** Changes of a case that are ignored, but for those that git brought. */
  function ignoredIn(id: string): IgnoredChange[] {
    return catalog.folder(id)?.ignored.filter(({ by }) => !by) ?? []
  }

  async function freezeAll(folders: CaseContents[]): Promise<void> {
    const written: Promise<void>[] = []
    for (const contents of folders) {
      const { id } = contents.case
      const known = frozenCases.get(id)
      const frozen = freezeValues(contents, isRunningHere, known?.committed)
      if (known) written.push(frozenCases.put(id, frozen))
      else frozenCases.keep(id, frozen)
    }
    await Promise.all(written)
  }

  function saveWatch(): Promise<void> {
    const open = [...runs.values()].map(({ session_id, case_id, number, since, known }) => {
      return { session_id, case_id, number, since, known }
    })
    return files.writeWatch({ runs: open, cases: frozenCases.all() })
  }

  /** Stores the changes that stay ignored, and drops everything else. */
  async function settle(): Promise<void> {
    const left = frozenCases.ids().map((id) => {
      const contents = catalog.folder(id)
      // a case that is absent now, for example on another branch, stays frozen as a whole
      return {
        id,
        frozen: contents
          ? frozenOfIgnored(contents.ignored, frozenCases.get(id)?.committed)
          : (frozenCases.get(id) ?? null),
      }
    })
    runs.clear()
    ended.clear()
    const others = left.filter(({ frozen }) => !frozen)
    for (const { id } of others) frozenCases.drop(id)
    await Promise.all(
      left.filter(({ frozen }) => frozen).map(({ id, frozen }) => frozenCases.put(id, frozen)),
    )
    await files.removeWatch()
    // delete these last: after a crash, the watch file would otherwise restore old values
    await Promise.all(
      others.filter(({ id }) => !frozenCases.get(id)).map(({ id }) => frozenCases.put(id, null)),
    )
  }

  /** What a run may have left behind; nothing after a restart of the system. */
  function leftOf({ since }: Pick<OpenRun, 'since'>): LeftProcess[] {
    return since === undefined || since.boot !== bootId() ? [] : find(since.seconds)
  }

  /** Goes on watching for a run that has ended while it may have processes, else ends that. */
  async function endOrWait(sessionId: string): Promise<void> {
    const run = runs.get(sessionId)
    if (!run) return
    const left = leftOf(run)
    if (left.length > 0) ended.set(sessionId, left)
    else ended.delete(sessionId)
    sayLeft()
    if (left.length > 0) return
    if (runs.size === 1) await settle()
    else if (runs.delete(sessionId)) await saveWatch()
  }

  function sayLeft(): void {
    const all = new Map([...ended.values()].flat().map(({ pid, name }) => [pid, name]))
    const words = [...all].map(([pid, name]) => `${pid} ${name}`)
    const left = words.length === 0 ? null : words.slice(0, MAX_LEFT).join(', ')
    if (left === frozenCases.left) return
    frozenCases.left = left
    for (const id of catalog.ids()) if (catalog.folder(id)?.ignored.length) catalog.invalidate(id)
  }

  /** Without a timer: until something changes, it makes no difference whether the processes live. */
  function checkEnded(): void {
    if (check !== null || ended.size === 0) return
    check = Promise.all([...ended.keys()].map(endNow))
      .then(() => {})
      .catch((error: unknown) => log(String(error)))
      .finally(() => {
        check = null
      })
  }

  async function endNow(sessionId: string): Promise<void> {
    const run = runs.get(sessionId)
    if (!run || (ended.has(sessionId) && leftOf(run).length > 0)) return
    await rescanAll()
    if (!ended.has(sessionId)) await recordIgnored(run)
    await order.run('runs', () => endOrWait(sessionId))
  }

  return {
    onCaseChange,
    isWatching: () => runs.size > 0,
    begin: (run) =>
      order.run('runs', async () => {
        await deps.refresher.freshenAll('all')
        // read these before registering the run, else cases that are not loaded would get no frozen values
        const folders = runs.size === 0 ? catalog.ids().map((id) => catalog.folder(id)!) : null
        const seconds = momentOfStart()
        if (seconds !== null) run.since = { boot: bootId(), seconds }
        run.known = catalog.ids().flatMap((id) => ignoredIn(id).map((each) => wordOf(id, each)))
        runs.set(run.session_id, run)
        if (folders) await freezeAll(folders)
        await saveWatch()
      }),
    async end(sessionId) {
      if (runs.has(sessionId) && !ended.has(sessionId)) await endNow(sessionId)
    },
    async confirm(caseId, file, isWritten) {
      const frozen = frozenCases.get(caseId)
      if (!frozen) return
      if ('case' in file) await frozenCases.put(caseId, frozenWithCase(frozen, file.case))
      else {
        const session = catalog.entry(caseId)?.sessions.get(file.number)?.value
        if (session) await frozenCases.put(caseId, frozenWithSession(frozen, session))
      }
      if (isWritten) return
      catalog.invalidate(caseId)
      deps.publish({ caseId, source: 'service' })
    },
    async addCommitted(caseId, changes) {
      const known = frozenCases.get(caseId) ?? { proofs: {}, sessions: {}, whole: runs.size > 0 }
      const all = [...(known.committed ?? []), ...changes]
      const committed = [...new Map(all.map((each) => [committedKey(each), each])).values()]
      await frozenCases.put(caseId, { ...known, committed })
      if (!catalog.folder(caseId)) return
      catalog.invalidate(caseId)
      deps.publish({ caseId, source: 'service' })
    },
    load() {
      const watch = frozenCases.load()
      // do not wait for a session file that cannot be written
      for (const run of watch?.runs ?? []) runs.set(run.session_id, { ...run, ending: 'stop' })
    },
    async recover() {
      isOpen = true
      if (runs.size === 0) await settle()
      for (const id of [...runs.keys()]) await endNow(id)
    },
    async idle() {
      await check
      await order.idle()
      await frozenCases.idle()
    },
  }
}

export type GuardedRun = OpenRun & Pick<Job, 'ending'>

/** A program that creates proofs endlessly must not fill the audit trail. */
const MAX_NAMED = 100

function wordOf(caseId: string, { kind, file, from, to }: IgnoredChange): string {
  return [caseId, kind, file, from, to].join('\n')
}

export function lineOf(
  run: Pick<OpenRun, 'case_id'>,
  case_id: string,
  {
    kind,
    file,
    from,
    to,
  }: Pick<IgnoredChange, 'file' | 'from' | 'to'> & {
    kind: IgnoredChange['kind'] | 'file'
  },
  where: { in_git?: true } = {},
): NewTrailLine<'changed_during_run'> {
  const of = case_id === run.case_id ? {} : { changed_case: case_id } // an event has a case_id field already
  return { event: 'changed_during_run', fields: { ...of, file, what: kind, from, to, ...where } }
}

export function isSame(line: TrailLine, { event, fields }: NewTrailLine): boolean {
  return line.event === event && JSON.stringify(line.fields) === JSON.stringify(fields)
}
