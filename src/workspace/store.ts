/**
 * The only way the service changes a case: take the case's mutex, read its files, decide, write, update the catalog.
 * If the disk is full, the request fails with `storage_full` and nothing changes. If the disk fails between the renames
 * of two files, the first file stays written.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { removeFolder } from '../files/remove-folder.ts'
import type { GitActivity } from '../git/activity.ts'
import { CASE_FILE, MAX_CASE_BYTES, newCaseText } from '../markdown/case-file.ts'
import { historyLine, shortTimes, withHistory } from '../markdown/history-file.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { type CaseContents, type Decide, type Edit, sessionOf } from '../model/case-contents.ts'
import {
  type Act,
  type Actor,
  HISTORY_FILE,
  type HistoryEntry,
  SERVICE_ACTOR,
  type TimedAct,
} from '../model/history.ts'
import { actsOf } from '../model/history-acts.ts'
import type { SessionTexts } from '../model/session.ts'
import type { Ownership } from '../state/owner/ownership.ts'
import { createCaseFolder, makeMemoryRoot } from './case-making.ts'
import { createEditWriter, type EditWriterDeps, type RecordedEdit } from './edit-writer.ts'
import { historyOf } from './history-append.ts'
import type { Texts } from './long-texts.ts'
import type { Scan } from './scan.ts'
import type { CatalogRefresher } from './watching/catalog-refresher.ts'
import type { WaitsFor } from './watching/stability.ts'
import { mustBeReadable, mustFit } from './write-edit.ts'

export interface UpdateOptions {
  /** Load the sections of this session for the decision (`folder.texts`). */
  texts?: string
  /** Load history.md for the decision (`folder.history`). */
  history?: boolean
  /** Who makes the change; the service itself by default. */
  by?: Actor
}

/**
 * `decide` is a pure function: it gets the case as its files are now and returns edits. Each edit is written durably,
 * then applied to the catalog and published.
 */
export interface Store {
  /** Reads the case from its files. Throws `not_found` if it does not exist. */
  read(id: string): Promise<CaseContents>
  update(id: string, decide: Decide, options?: UpdateOptions): Promise<CaseContents>
  /** Rejects all later writes. */
  close(): void
  create(value: Case, by?: Actor): Promise<CaseContents>
  /** Creates a case from the text of a case.md, which the caller has validated. */
  createOf(id: string, text: string, by?: Actor): Promise<CaseContents>
  /**
   * Appends history lines for acts that are not part of an edit. `acts` sees the history so far (`folder.history`).
   */
  appendHistory(id: string, acts: (contents: CaseContents) => TimedAct[], by?: Actor): Promise<void>
  /** Appends a comment to the history. Unlike other history lines, it is published as a change of history.md. */
  comment(id: string, act: TimedAct, by: Actor): Promise<void>
  /**
   * Moves the case folder to the trash folder, then deletes it. `allow` gets the current case and may throw to
   * prevent it.
   */
  remove(id: string, allow: (contents: CaseContents) => void): Promise<void>
  /**
   * Runs `work` on files of a case that are not records (memory files), then reads the case again. Files that `work`
   * reports as written are accepted even if they look half-saved, and each reported memory file gets its event even
   * if it has changed since.
   */
  withFiles<T>(
    id: string,
    work: (contents: CaseContents, done: WorkDone) => Promise<T>,
    by?: Actor,
  ): Promise<T>
  /** Whether `withFiles` is running for the case. Its changes are not edits by a person. */
  isWriting(id: string): boolean
}

/** `withFiles` work reports here what it did. */
export interface WorkDone {
  /** `note` is the memory file's name; null for other files. */
  wrote(path: string, note: string | null): void
  /** Adds lines to the case's history. */
  acts(acts: readonly Act[]): void
}

export interface StoreDeps extends EditWriterDeps {
  scan: Scan
  texts: Texts
  mutex: KeyedMutex
  trash: string
  ownership: Pick<Ownership, 'lost' | 'memoryRootMade'>
  refresher: Pick<CatalogRefresher, 'freshen' | 'checkRoot'>
  git: Pick<GitActivity, 'waitUntilIdle'>
  /** How long a write waits for git to finish. */
  gitTimeoutMs?: number | undefined
  now(): string
}

/** How long a write waits for a file that a person is saving. */
const HALF_SAVED_TIMEOUT_MS = 1250
/** How long a write waits for git to finish. */
const GIT_TIMEOUT_MS = 10_000

export function createStore(deps: StoreDeps): Store {
  const { layout, catalog, scan, mutex, gitTimeoutMs = GIT_TIMEOUT_MS } = deps
  const running = new Set<string>()
  const { made, write, publishWith } = createEditWriter(deps, current)

  let isClosed = false

  function mustBeWritable(): void {
    if (deps.ownership.lost.aborted) throw deps.ownership.lost.reason
    if (isClosed) throw stoppingError()
  }

  /** The case as its files are now. Waits while a file is half-saved. The caller has the mutex. */
  async function current(id: string, waitsFor: WaitsFor = 'records'): Promise<CaseContents> {
    const until = performance.now() + HALF_SAVED_TIMEOUT_MS
    while ((await scan.readCase(id)).waitMs(waitsFor) > 0) {
      if (performance.now() > until) {
        await scan.readCase(id, 'anything')
        break
      }
      await delay(10)
    }
    return folderOf(id)
  }

  function folderOf(id: string): CaseContents {
    const contents = catalog.folder(id)
    if (contents) return contents
    throw new AppError('not_found', `There is no case ${id}.`)
  }

  async function read(id: string): Promise<CaseContents> {
    await deps.refresher.freshen(id)
    return folderOf(id)
  }

  /**
   * Runs `work` with the mutex while git is idle. It waits for git without the mutex, so reads are served meanwhile.
   */
  async function whenGitIdle<T>(id: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await mutex.run(id, async () => {
        mustBeWritable()
        return (await deps.git.waitUntilIdle(0)) ? { result: await work() } : null
      })
      if (done) return done.result
      if (!(await deps.git.waitUntilIdle(gitTimeoutMs))) throw gitBusy()
    }
  }

  async function update(
    id: string,
    decide: Decide,
    options: UpdateOptions = {},
  ): Promise<CaseContents> {
    return whenGitIdle(id, async () => {
      for (let attempt = 1; ; attempt++) {
        const contents = await current(id)
        const input = { ...contents }
        if (options.texts !== undefined) input.texts = await textsOf(contents, options.texts)
        if (options.history) input.history = await historyNow(id)
        const edits = decide(input)
        mustBeReadable(catalog.entry(id)!, edits)
        const all = edits.map((edit) => recorded(contents, edit, options.by))
        if (await write(contents, all, attempt)) return catalog.folder(id)!
      }
    })
  }

  function recorded(contents: CaseContents, edit: Edit, by: Actor = SERVICE_ACTOR): RecordedEdit {
    const acts = actsOf(contents, edit, by)
    return { edit, lines: acts.map((act) => historyLine(act, by, act.at ?? deps.now())) }
  }

  /** With the lines that were added just now. */
  async function historyNow(id: string): Promise<HistoryEntry[]> {
    await deps.history.appended()
    return (await historyOf(layout, id)) ?? []
  }

  function appendLines(id: string, lines: readonly string[], wrote?: readonly string[]): void {
    const entry = catalog.entry(id)
    if (entry && lines.length > 0) publishWith(entry, lines, { wrote })
  }

  function textsOf(contents: CaseContents, sessionId: string): Promise<SessionTexts> {
    const { case_id, number } = sessionOf(contents, sessionId)
    return deps.texts.ofSession(case_id, catalog.entry(case_id)?.sessions.get(number))
  }

  function createOf(
    id: string,
    textOf: () => Promise<string>,
    by: Actor = SERVICE_ACTOR,
    at = deps.now(),
  ): Promise<CaseContents> {
    return whenGitIdle(id, async () => {
      const text = await textOf()
      const name = by.from === 'import' ? 'imported' : 'created'
      const lines = shortTimes([historyLine({ act: { name } }, by, at)])
      const history = withHistory(null, lines)
      mustFit(CASE_FILE, text, MAX_CASE_BYTES)
      if (await makeMemoryRoot(layout)) {
        await deps.ownership.memoryRootMade()
        deps.refresher.checkRoot()
      }
      await createCaseFolder(layout, id, { text, history })
      await made(id, { text, history, lines })
      return folderOf(id)
    })
  }

  return {
    read,
    update,
    close() {
      isClosed = true
    },
    create: (value, by) => createOf(value.id, () => newCaseText(value), by, value.created_at),
    createOf: (id, text, by) => createOf(id, async () => text, by),
    appendHistory(id, acts, by = SERVICE_ACTOR) {
      return whenGitIdle(id, async () => {
        const contents = await current(id)
        const history = await historyNow(id)
        appendLines(
          id,
          acts({ ...contents, history }).map((act) => historyLine(act, by, act.at)),
        )
        await deps.history.appended()
      })
    },
    comment(id, act, by) {
      return whenGitIdle(id, async () => {
        const { problems } = await current(id)
        const broken = problems.find(({ file }) => file === HISTORY_FILE)
        if (broken) throw new AppError('unreadable_file', `${HISTORY_FILE}: ${broken.message}`)
        appendLines(id, [historyLine(act, by, act.at)], [HISTORY_FILE])
        await deps.history.appended()
      })
    },
    async remove(id, allow) {
      return whenGitIdle(id, async () => {
        allow(await current(id))
        await removeFolder(layout.caseFolder(id), deps.trash)
        deps.history.forget(id)
        await scan.readCase(id, 'anything')
        deps.trails.forget(id)
      })
    },
    withFiles(id, work, by = SERVICE_ACTOR) {
      return whenGitIdle(id, async () => {
        const paths: string[] = []
        const notes: string[] = []
        const lines: string[] = []
        const contents = await current(id, 'all')
        running.add(id)
        try {
          const result = await work(contents, {
            wrote(path, note) {
              paths.push(path)
              if (note !== null) notes.push(note)
            },
            acts: (acts) => lines.push(...acts.map((act) => historyLine(act, by, deps.now()))),
          })
          await scan.readCase(id, 'complete', { paths, notes })
          appendLines(id, lines)
          return result
        } finally {
          running.delete(id)
        }
      })
    },
    isWriting: (id) => running.has(id),
  }
}

function gitBusy(): AppError {
  return new AppError(
    'git_busy',
    'git is changing the files of this workspace (its index.lock is there), so nothing was written. Try again when it has finished.',
  )
}
