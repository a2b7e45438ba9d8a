/**
 * Every change of a case by the service: takes the case's mutex, reads, decides, writes the files, updates the
 * catalog. Before a change of several files the disk is asked for room (`files/room.ts`): if it is full, the request
 * fails with `storage_full`, and the files and the state of the case stay as they were. If it gets full between two
 * files, the first one stays, and a history line that did not fit is written later.
 */

import { setTimeout as delay } from 'node:timers/promises'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import { removeFolder } from '../files/remove-folder.ts'
import { CASE_FILE, MAX_CASE_BYTES, newCaseText } from '../markdown/case-file.ts'
import { historyLine, withHistory } from '../markdown/history-file.ts'
import { AppError, stoppingError } from '../model/app-error.ts'
import type { Case } from '../model/case.ts'
import { type CaseFolder, type Decide, type Edit, sessionOf } from '../model/case-folder.ts'
import { type Act, type Actor, SERVICE_ACTOR, type TimedAct } from '../model/history.ts'
import { actsOf } from '../model/history-acts.ts'
import type { SessionTexts } from '../model/session.ts'
import type { Ownership } from '../state/owner/ownership.ts'
import { createCaseFolder, makeMemoryRoot } from './case-making.ts'
import { createEditWriter, type EditWriterDeps, type RecordedEdit } from './edit-writer.ts'
import type { GitActivity } from './git/git-activity.ts'
import { historyOf } from './history-append.ts'
import { hashOf } from './record.ts'
import type { Scan } from './scan.ts'
import type { Synchronizer } from './sync/synchronizer.ts'
import type { Texts } from './texts.ts'
import { mustBeReadable, mustFit, mustHaveRoomFor } from './write-edit.ts'

export interface UpdateOptions {
  /** Load the sections of this session for the decision (`folder.texts`). */
  texts?: string
  /** Load what history.md says for the decision (`folder.history`). */
  history?: boolean
  /** Who makes the change; if not given, the service itself. */
  by?: Actor
}

/**
 * The one way a change takes: under the case's mutex the files are brought up to date, a pure
 * function decides, its edits are written durably one by one, and what is on disk then goes into the
 * catalog and out as changes.
 */
export interface Store {
  /** Brings one case up to the disk and gives it; AppError `not_found` when there is none. */
  read(id: string): Promise<CaseFolder>
  update(id: string, decide: Decide, options?: UpdateOptions): Promise<CaseFolder>
  /** From now on every write is refused. */
  close(): void
  create(value: Case, by?: Actor): Promise<CaseFolder>
  /** Makes a case of a whole case.md, which the caller has checked. */
  createOf(id: string, text: string, by?: Actor): Promise<CaseFolder>
  /**
   * Appends lines to a case's history: acts that belong to no edit, by what it says so far (`folder.history`), and
   * what could not be written before.
   */
  record(id: string, acts: (folder: CaseFolder) => TimedAct[], by?: Actor): Promise<void>
  /** Moves the case out of the tree, then deletes it. `allow` may refuse, seeing it as it is. */
  remove(id: string, allow: (folder: CaseFolder) => void): Promise<void>
  /**
   * Runs work on a case's files that is no record (memory files); then looks at the case again. A file
   * that the work says it wrote counts as whole, whatever it looks like; a memory file (`note`, its name) has
   * its event whatever became of it since.
   */
  alone<T>(
    id: string,
    work: (folder: CaseFolder, done: WorkDone) => Promise<T>,
    by?: Actor,
  ): Promise<T>
  /** Whether such work is under way: what it changes is no edit by hand. */
  isWriting(id: string): boolean
}

/** How work on files says what it did. */
export interface WorkDone {
  /** `note` is the name of the memory file, null for a file that is none. */
  wrote(path: string, note: string | null): void
  /** What the history says of it. */
  acts(acts: readonly Act[]): void
}

export interface StoreDeps extends EditWriterDeps {
  scan: Scan
  texts: Texts
  mutex: KeyedMutex
  trash: string
  ownership: Pick<Ownership, 'lost' | 'memoryRootMade'>
  synchronizer: Pick<Synchronizer, 'freshen' | 'checkRoot'>
  git: Pick<GitActivity, 'waitUntilIdle'>
  /** How long a write waits for git. */
  gitPatienceMs?: number | undefined
  now(): string
}

/** A write waits so long for a file that a person is saving. */
const PATIENCE_MS = 1250
/** And so long for git to finish what it changes. */
const GIT_PATIENCE_MS = 10_000

export function createStore(deps: StoreDeps): Store {
  const { layout, catalog, scan, mutex, gitPatienceMs = GIT_PATIENCE_MS } = deps
  const alone = new Set<string>()
  const { made, write, follow, record } = createEditWriter(deps, current)

  let isClosed = false

  function mustBeWritable(): void {
    if (deps.ownership.lost.aborted) throw deps.ownership.lost.reason
    if (isClosed) throw stoppingError()
  }

  /** For a write: the case as its files are now; waits for a file that is half-saved. The caller has the mutex. */
  async function current(id: string): Promise<CaseFolder> {
    const until = performance.now() + PATIENCE_MS
    while ((await scan.one(id, 'complete')).isHalfSaved) {
      if (performance.now() > until) {
        await scan.one(id, 'anything')
        break
      }
      await delay(10)
    }
    return folderOf(id)
  }

  function folderOf(id: string): CaseFolder {
    const folder = catalog.folder(id)
    if (folder) return folder
    throw new AppError('not_found', `There is no case ${id}.`)
  }

  async function read(id: string): Promise<CaseFolder> {
    await deps.synchronizer.freshen(id)
    return folderOf(id)
  }

  /** Waits for git without the mutex: what was known of the case is served meanwhile. */
  async function writing<T>(id: string, work: () => Promise<T>): Promise<T> {
    for (;;) {
      const done = await mutex.run(id, async () => {
        mustBeWritable()
        return (await deps.git.waitUntilIdle(0)) ? { result: await work() } : null
      })
      if (done) return done.result
      if (!(await deps.git.waitUntilIdle(gitPatienceMs))) throw gitBusy()
    }
  }

  async function update(
    id: string,
    decide: Decide,
    options: UpdateOptions = {},
  ): Promise<CaseFolder> {
    return writing(id, async () => {
      for (let attempt = 1; ; attempt++) {
        const folder = await current(id)
        const asked = { ...folder }
        if (options.texts !== undefined) asked.texts = await textsOf(folder, options.texts)
        if (options.history) asked.history = (await historyOf(layout, id)) ?? []
        const edits = decide(asked)
        mustBeReadable(catalog.entry(id)!, edits)
        const [first, ...others] = edits.map((edit) => recorded(folder, edit, options.by))
        if (others.length > 0) await mustHaveRoomFor(layout.caseFolder(id), edits)
        if (first && !(await write(id, first, attempt))) continue
        await follow(id, folder, others)
        return catalog.folder(id)!
      }
    })
  }

  function recorded(folder: CaseFolder, edit: Edit, by: Actor = SERVICE_ACTOR): RecordedEdit {
    const acts = actsOf(folder, edit, by)
    return { edit, lines: acts.map((act) => historyLine(act, by, act.at ?? deps.now())) }
  }

  function textsOf(folder: CaseFolder, sessionId: string): Promise<SessionTexts> {
    const { case_id, number } = sessionOf(folder, sessionId)
    return deps.texts.ofSession(case_id, catalog.entry(case_id)?.sessions.get(number))
  }

  function createOf(
    id: string,
    textOf: () => Promise<string>,
    by: Actor = SERVICE_ACTOR,
    at = deps.now(),
  ): Promise<CaseFolder> {
    return writing(id, async () => {
      const text = await textOf()
      const act = { what: by.from === 'import' ? 'imported' : 'created' }
      const history = withHistory(null, [historyLine(act, by, at)])
      mustFit(CASE_FILE, text, MAX_CASE_BYTES)
      if (await makeMemoryRoot(layout)) {
        await deps.ownership.memoryRootMade()
        deps.synchronizer.checkRoot()
      }
      deps.stability.noteOwnWrite(layout.caseFolder(id))
      deps.history.appending(id, '', hashOf(Buffer.from(history)))
      await createCaseFolder(layout, id, { text, history })
      await made(id, { text, history })
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
    record(id, acts, by = SERVICE_ACTOR) {
      return writing(id, async () => {
        const folder = await current(id)
        await record(id) // what is due belongs to what the history says
        const history = (await historyOf(layout, id)) ?? []
        const lines = acts({ ...folder, history }).map((act) => historyLine(act, by, act.at))
        if (lines.length > 0) deps.history.begin(id, lines, null)
        await record(id)
      })
    },
    async remove(id, allow) {
      return writing(id, async () => {
        allow(await current(id))
        await removeFolder(layout.caseFolder(id), deps.trash)
        deps.history.forget(id)
        await scan.one(id, 'anything')
        deps.lastGood.forget(id) // no sooner, as the scan may need what is kept of it
        deps.trails.forget(id)
      })
    },
    alone(id, work, by = SERVICE_ACTOR) {
      return writing(id, async () => {
        const paths: string[] = []
        const notes: string[] = []
        const lines: string[] = []
        const folder = await current(id)
        alone.add(id)
        try {
          const result = await work(folder, {
            wrote(path, note) {
              paths.push(path)
              if (note !== null) notes.push(note)
            },
            acts: (acts) => lines.push(...acts.map((act) => historyLine(act, by, deps.now()))),
          })
          if (lines.length > 0) deps.history.begin(id, lines, null)
          await scan.one(id, 'complete', { paths, notes })
          await record(id)
          return result
        } finally {
          alone.delete(id)
        }
      })
    },
    isWriting: (id) => alone.has(id),
  }
}

function gitBusy(): AppError {
  return new AppError(
    'git_busy',
    'git is changing the files of this workspace (its index.lock is there), so nothing was written. Try again when it has finished.',
  )
}
