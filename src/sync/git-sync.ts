/**
 * `casefile sync`: commits the record, merges it with the remote's, and pushes it. Killed at any step, the branch is
 * at its old commit or at its new one, and the next sync goes on.
 */

import { setTimeout as delay } from 'node:timers/promises'
import { fixOrphanedArtifacts } from '../check/fix-orphaned-artifacts.ts'
import { createFixer } from '../check/fixer.ts'
import type { Snapshot } from '../check/snapshot.ts'
import { writeDurable } from '../files/durable-write.ts'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { findDotGit } from '../git/dot-git.ts'
import { type UnfinishedWork, unfinishedWork } from '../git/unfinished-work.ts'
import { AppError } from '../model/app-error.ts'
import type { Redactor } from '../sessions/redaction.ts'
import type { CaseEntry } from '../workspace/case-entry.ts'
import type { ReplacedFileTrackers } from '../workspace/late-saves/trackers.ts'
import type { Layout } from '../workspace/layout.ts'
import { nextSessionNumber } from '../workspace/session-number.ts'
import type { CatalogRefresher } from '../workspace/watching/catalog-refresher.ts'
import { mustBeStoredPlainly } from './attributes.ts'
import { brokenFiles } from './broken-files.ts'
import {
  caseIdsIn,
  commonCommit,
  countCommits,
  countUnpushed,
  mergeMessage,
  pushedBase,
  restoredByOthers,
  timeOf,
  unrelatedBase,
} from './commits.ts'
import { casesIn, changedFiles, commitMemory, makeCommit } from './memory-commit.ts'
import { findUpstream, type MemoryGit, openMemoryGit, type Upstream } from './memory-git.ts'
import { emptyReport, mergeTrees } from './memory-merge.ts'
import { fetch, mustPushNoSecret, push } from './outgoing.ts'
import { mustHaveNoSecret } from './secret-search.ts'
import type { SyncResult, SyncStatus } from './sync-result.ts'
import {
  mustBeRecord,
  mustBeWhole,
  mustHaveNoRepository,
  mustNotBreak,
  mustTouchRecordAlone,
  overtaken,
  unfinished,
} from './sync-rules.ts'
import { lastResultFile, readSyncStatus } from './sync-status.ts'
import { SyncStop, stopFor } from './sync-stop.ts'
import { type Blobs, createBlobs, emptyTree, type TreeChange, treeChanges } from './trees.ts'
import { resolveConflicts } from './unfinished-merge.ts'
import { isInterrupted, moveTo, recover } from './working-tree.ts'

export interface GitSync {
  sync(options: { dryRun: boolean }): Promise<SyncResult>
  status(): Promise<SyncStatus>
  /** What `status` found last; null before the first. */
  known(): SyncStatus | null
  /** Undoes what a sync that was killed has begun. Call it at start, before anything is read. */
  recover(): Promise<void>
  /** Resolves when no sync runs. */
  idle(): Promise<void>
}

export interface GitSyncDeps {
  layout: Layout
  stateDir: string
  mutex: KeyedMutex
  redactor: Pick<Redactor, 'text'>
  lateSaves: ReplacedFileTrackers
  isRunningHere(sessionId: string): boolean
  refresher: Pick<CatalogRefresher, 'checkRoot' | 'freshen'>
  entry(caseId: string): CaseEntry | undefined
  /** The last session number of a case that this machine remembers. */
  lastNumber(caseId: string): number
  /** Writes `index.md` for the cases as they are now. */
  writeIndex(): Promise<void>
  now(): string
  log(line: string): void
}

const ATTEMPTS = 5
const FIRST_WAIT_MS = 200
const UNDONE = 'undid what a sync that was killed had begun'

export function createGitSync(deps: GitSyncDeps): GitSync {
  const { layout, log, now } = deps
  let running: Promise<unknown> = Promise.resolve()
  let known: SyncStatus | null = null

  async function status(): Promise<SyncStatus> {
    known = await readSyncStatus(layout, deps.stateDir)
    return known
  }

  async function sync({ dryRun }: { dryRun: boolean }): Promise<SyncResult> {
    const result = newResult(dryRun, now())
    try {
      const git = await openMemoryGit(layout.root, layout.memoryRoot, { hasPrograms: true })
      result.kind = git.kind
      await syncWith(git, result)
      const isClean = result.copies.length === 0 && result.broken.length === 0
      result.state = isClean ? 'in_sync' : 'conflicts'
    } catch (error) {
      const stop = stopFor(error)
      if (stop === null) throw error
      result.state = 'stopped'
      result.code = stop.code
      result.reason = stop.message
    }
    if (!dryRun) await Promise.all([note(result), deps.writeIndex()])
    return result
  }

  /** Only for those who look later. */
  async function note(result: SyncResult): Promise<void> {
    try {
      await writeDurable(lastResultFile(deps.stateDir), Buffer.from(JSON.stringify(result)), {
        mode: 0o600,
      })
    } catch (error) {
      log(`the result of the sync was not noted: ${stopFor(error)?.message ?? error}`)
    }
  }

  async function syncWith(git: MemoryGit, result: SyncResult): Promise<void> {
    const { dry_run: dryRun } = result
    const blobs = createBlobs(git)
    if (!dryRun && (await recover(git, blobs))) log(UNDONE)
    const work = unfinishedWork(git.gitDir)
    if (work !== null) throw await resolveWork(git, blobs, work, result)
    const upstream = await findUpstream(git)
    result.branch = upstream.branch
    result.upstream = `${upstream.remote}/${upstream.name}`
    for (let attempt = 1; ; attempt++) {
      try {
        if (await round(git, createBlobs(git), upstream, result)) return
      } catch (error) {
        const isRace = error instanceof SyncStop && error.code === 'files_changing'
        if (!isRace || attempt === ATTEMPTS) throw error
      }
      if (attempt === ATTEMPTS) throw overtaken(result, ATTEMPTS)
      await delay(FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random()))
    }
  }

  /** Resolves what it can of a merge that a person has begun; the error says what is left. */
  async function resolveWork(
    git: MemoryGit,
    blobs: Blobs,
    work: UnfinishedWork,
    result: SyncResult,
  ): Promise<SyncStop> {
    const { resolved, edited, ...report } = await resolveConflicts(git, blobs, {
      work,
      dryRun: result.dry_run,
      time: result.at,
      lastNumber,
      withCases,
    })
    Object.assign(result, report)
    if (!result.dry_run)
      for (const id of caseIdsIn(
        git,
        resolved.map((path) => ({ path })),
      ))
        await deps.refresher.freshen(id)
    const others = await git.text(['diff', '--name-only', '--diff-filter=U', '-z'])
    const left = others.split('\0').filter((path) => path !== '')
    return unfinished(git, { work, resolved, edited, left })
  }

  async function lastNumber(id: string): Promise<number> {
    return (await nextSessionNumber(layout, deps.lastNumber(id), id)) - 1
  }

  /** One attempt. Returns false if the remote got other commits meanwhile. */
  async function round(
    git: MemoryGit,
    blobs: Blobs,
    upstream: Upstream,
    result: SyncResult,
  ): Promise<boolean> {
    const dryRun = result.dry_run
    const made = await commitMemory(git, {
      dryRun,
      inspect: (changes) => inspect(git, blobs, changes),
    })
    if (made.changes.length > 0 && made.commit !== null) {
      const files = (result.committed?.files ?? 0) + made.changes.length
      result.committed = { commit: made.commit, files, cases: made.cases }
    }
    if (git.prefix !== '') result.left = (await changedFiles(git)).others
    const theirs = await fetch(git, upstream)
    const tip = await joined(git, blobs, { ours: made.commit, theirs }, result)
    if (tip === null || tip === theirs) return true
    const { remote } = upstream
    const commits = await countUnpushed(git, tip, { remote, theirs })
    const changes = await treeChanges(git, [theirs ?? (await pushedBase(git, tip, remote)), tip])
    mustBeWhole(
      await brokenFiles(
        blobs,
        changes.filter(({ path }) => path.startsWith(git.prefix)),
      ),
    )
    await mustBeRecord(git, tip, { ...upstream, theirs })
    await mustPushNoSecret(git, upstream, tip, deps.redactor.text)
    const cases = await casesIn(git, tip, changes)
    if (!dryRun && !(await push(git, upstream, tip))) return false
    result.sent = { commits, cases }
    return true
  }

  /** The commit that has both sides; the branch and the files are at it afterwards. */
  async function joined(
    git: MemoryGit,
    blobs: Blobs,
    { ours, theirs }: { ours: string | null; theirs: string | null },
    result: SyncResult,
  ): Promise<string | null> {
    if (theirs === null || ours === theirs) return ours
    const common = ours && (await commonCommit(git, ours, theirs))
    if (common === theirs) return ours
    const isForward = ours === null || common === ours
    const before = ours ?? (await emptyTree(git))
    const base = isForward ? before : (common ?? (await unrelatedBase(git, theirs)))
    const incoming = await treeChanges(git, [base, theirs])
    mustTouchRecordAlone(git, incoming)
    const own = isForward ? [] : await treeChanges(git, [base, before])
    const paths = [...incoming, ...own].map(({ path }) => path)
    const setsAttributes = incoming.some(({ path }) => path.endsWith('.gitattributes'))
    await mustBeStoredPlainly(git, paths, setsAttributes ? theirs : null)
    let to = theirs
    let report = emptyReport()
    if (!isForward) {
      const trees = { base, ours, theirs }
      const merge = await mergeTrees(git, blobs, trees, {
        theirs: incoming,
        time: await timeOf(git, theirs),
        lastNumber,
      })
      report = merge
      const message = mergeMessage(result.upstream!, merge)
      to = await makeCommit(git, { tree: merge.tree, parents: [ours, theirs], message })
    }
    const changes = await treeChanges(git, [before, to])
    await mustNotBreak(blobs, changes, incoming, result)
    const commits = await countCommits(git, theirs, ours)
    const cases = await casesIn(git, theirs, incoming)
    if (!result.dry_run) await moveFiles(git, blobs, { from: ours, to, changes })
    result.copies.push(...report.copies)
    result.renumbered.push(...report.renumbered)
    result.restored.push(
      ...report.restored,
      ...(await restoredByOthers(git, ours, theirs, incoming)),
    )
    result.received = { commits: result.received.commits + commits, cases }
    return to
  }

  /** Moves the files while nothing else of the service works on their cases. */
  async function moveFiles(
    git: MemoryGit,
    blobs: Blobs,
    update: { from: string | null; to: string; changes: readonly TreeChange[] },
  ): Promise<void> {
    const ids = caseIdsIn(git, update.changes)
    const had = new Map<string, number>()
    await withCases(ids, async () => {
      mustNotRun(ids, update.changes)
      for (const id of ids) {
        for (const [number, { value }] of deps.entry(id)?.sessions ?? [])
          if (value) had.set(value.id, number)
      }
      await moveTo(git, blobs, update, (path, expect) => {
        const [, id, file] = /cases\/([0-9a-f-]{36})\/(.+)$/.exec(path) ?? []
        return id === undefined ? undefined : deps.lateSaves.trackerFor({ id, file: file! }, expect)
      })
    })
    deps.refresher.checkRoot()
    for (const id of ids) await deps.refresher.freshen(id)
    for (const id of ids) await moveArtifacts(id, had)
  }

  function withCases<T>(ids: readonly string[], work: () => Promise<T>): Promise<T> {
    const [id, ...others] = ids
    return id === undefined ? work() : deps.mutex.run(id, () => withCases(others, work))
  }

  /** A session that runs here writes its file itself. */
  function mustNotRun(ids: readonly string[], changes: readonly TreeChange[]): void {
    for (const id of ids) {
      for (const [number, { value }] of deps.entry(id)?.sessions ?? []) {
        const path = `cases/${id}/sessions/${number}.md`
        const isTouched = changes.some((change) => change.path.endsWith(path))
        if (!value || !isTouched || !deps.isRunningHere(value.id)) continue
        throw new SyncStop(
          'session_running',
          `Session ${number} of case ${id} runs here, and the remote has changed it too. Your changes are committed; sync again when it has ended, or abandon it.`,
        )
      }
    }
  }

  /** Output that this machine has of a session that another clone has renumbered. */
  async function moveArtifacts(id: string, had: ReadonlyMap<string, number>): Promise<void> {
    const entry = deps.entry(id)
    if (!entry) return
    const snapshot = { layout } as Snapshot
    const fixer = createFixer(snapshot, now)
    await deps.mutex.run(id, () => fixOrphanedArtifacts(fixer, entry, had))
    for (const what of fixer.done.fixed) log(what)
  }

  async function inspect(
    git: MemoryGit,
    blobs: Blobs,
    changes: readonly TreeChange[],
  ): Promise<void> {
    mustHaveNoRepository(changes)
    await mustBeStoredPlainly(
      git,
      changes.filter(({ after }) => after !== null).map(({ path }) => path),
    )
    const broken = await brokenFiles(blobs, changes)
    mustBeWhole(broken, ' Nothing was committed.')
    const then =
      'Nothing was committed. Remove it from the file, and replace it where it is used: it may be known.'
    const files = changes.flatMap(({ path, after }) => (after ? [{ path, id: after.id }] : []))
    const known = new Set(changes.flatMap(({ before }) => before?.id ?? []))
    const redact = deps.redactor.text
    await mustHaveNoSecret(git, { files, known, redact, then })
  }

  return {
    sync(options) {
      const result = running.then(() => sync(options))
      running = result.catch(() => {})
      return result
    },
    status,
    known: () => known,
    async recover() {
      const found = await findDotGit(layout.memoryRoot, () => null)
      if (!found || !isInterrupted(found.gitDir)) return
      const git = await openMemoryGit(layout.root, layout.memoryRoot, { hasPrograms: true }).catch(
        (error: unknown) => {
          if (!(error instanceof SyncStop)) throw error
          throw new AppError(
            'bad_request',
            `A sync was killed and must be undone. ${error.message}`,
          )
        },
      )
      if (await recover(git, createBlobs(git))) log(UNDONE)
    },
    idle: async () => void (await running),
  }
}

function newResult(dryRun: boolean, at: string): SyncResult {
  return {
    state: 'stopped',
    dry_run: dryRun,
    code: null,
    reason: null,
    at,
    kind: null,
    branch: null,
    upstream: null,
    committed: null,
    received: { commits: 0, cases: [] },
    sent: { commits: 0, cases: [] },
    ...emptyReport(),
    broken: [],
    left: [],
  }
}
