/**
 * casefile.db in the state folder: this machine's notes, never the only copy of anything in a case. Only the owner of
 * the memory root writes it (`owner/ownership.ts`); commands open it read-only. If it is deleted, cases and search
 * are read again from the files. Lost are: the event log (streams resume with `resync`), webhooks with their pending
 * deliveries, what was last published (edits made before the next start get no event), frozen baselines, texts of earlier
 * plans, what a file that is broken now said last, which lines of history.md this machine wrote, and the
 * records by which the next start ends processes of a killed run. A foreign file, or one that its check calls damaged,
 * is set aside and a new one made.
 */

import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { confirmFolder, makeFolder } from '../files/durable-write.ts'
import { storageError } from '../files/storage-error.ts'
import { AppError } from '../model/app-error.ts'
import { createGroupCommit } from './group-commit.ts'
import { isIntact, openConnection } from './open-file.ts'
import { ForeignDatabase } from './schema.ts'
import { type SqliteConnection, type SqlValue, type Statement, sqliteFault } from './sqlite.ts'

export const DATABASE_FILE = 'casefile.db'

export type Run = (sql: string, ...values: SqlValue[]) => void

/**
 * The SQLite file in the state folder, with this machine's data about one workspace. Only the owner opens it for
 * writing.
 */
export interface Database {
  /** The rows of a query. Writes that are not flushed are not visible. */
  all<Row>(sql: string, ...values: SqlValue[]): Row[]
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined
  /**
   * Runs `work` soon. All work of one event-loop turn is one transaction, which is stored before `onWritten` is
   * called. Work runs in order. If the disk fails, it is kept and retried, so it may run several times: it must only
   * call `run`. If `isErasing`, what it deletes or replaces is then in no file, not even in the write-ahead log.
   */
  write(work: (run: Run) => void, onWritten?: () => void, isErasing?: boolean): void
  /** Same as `write`, for what can be made again from the files: only a later `write` syncs it. */
  writeDerived(work: (run: Run) => void, onWritten?: () => void): void
  /** Runs `work` in the next transaction, which it does not cause. */
  later(work: (run: Run) => void, onWritten?: () => void): void
  /** Runs `work` now. If it cannot be stored, this rejects, and `work` is not done later either. */
  attempt(work: (run: Run) => void, isErasing?: boolean): Promise<void>
  /** While `task` runs, writes are combined into few large transactions. */
  gather<T>(task: () => Promise<T>): Promise<T>
  /** Resolves when everything written before is stored; rejects with the storage error if it could not be. */
  flushed(): Promise<void>
  /** The storage error of the last write; null if it succeeded. */
  readonly failure: unknown
  /** How many writes wait to be stored. */
  readonly waiting: number
  /** The file that was set aside when the service opened the database, and why; for `/health`. */
  readonly setAside: string | null
  /** What is wrong with the file, found since it was opened, and what to do; for `/health`. Only a restart helps. */
  readonly damage: string | null
  close(): Promise<void>
}

/** A folder that is moved or copied is missing for less than this time. */
const FOLDER_MISSED_MS = 900

interface Work {
  work: (run: Run) => void
  onWritten: (() => void) | undefined
  isErasing?: boolean
  isDerived?: boolean
}

/** Maximum number of works in one transaction while they are combined. */
const GATHERED = 250

const WRITTEN_AGAIN = "INSERT OR REPLACE INTO meta VALUES ('written_again', ?)"

/** Opens the database in the state folder; creates it if there is none. An unusable file is set aside. */
export async function openDatabase(
  folder: string,
  log: (line: string) => void,
  now: () => string = () => new Date().toISOString(),
): Promise<Database> {
  await makeFolder(folder, 0o700)
  const path = join(folder, DATABASE_FILE)
  const damageNote = `${path}.damaged`
  let setAside: string | null = null
  let damage: string | null = null
  let connection = open()
  let inode = statSync(path).ino
  let statements = new Map<string, Statement>()
  let missesFolderSince: number | null = null
  let isClosed = false
  let isLogToErase = false
  let isGathering = false
  let gathered: Work[] = []

  function open(): SqliteConnection {
    try {
      if (existsSync(damageNote)) {
        if (isIntact(path)) forgetDamage()
        else putAside('it was found damaged while the service ran')
      }
      return openConnection(path)
    } catch (error) {
      const isDamaged = sqliteFault(error) === 'damaged'
      if (!isDamaged && !(error instanceof ForeignDatabase)) throw refusalOf(error)
      if (!isDamaged || !isIntact(path)) putAside((error as Error).message)
      return openConnection(path)
    }
  }

  function forgetDamage(): void {
    rmSync(damageNote, { force: true })
    log(
      `${DATABASE_FILE} could not be read while the service ran, but is intact: it is used as it is`,
    )
  }

  function putAside(why: string): void {
    const aside = `${path}.aside-${now().replace(/[:-]/g, '')}`
    for (const suffix of ['', '-wal']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    }
    rmSync(`${path}-shm`, { force: true })
    rmSync(damageNote, { force: true })
    setAside = `${DATABASE_FILE} could not be used (${why}) and is now ${basename(aside)}: the index is made again from the case files, and webhooks must be registered again.`
    log(setAside)
  }

  function statement(sql: string): Statement {
    const known = statements.get(sql)
    if (known) return known
    const made = connection.prepare(sql)
    statements.set(sql, made)
    return made
  }

  const run: Run = (sql, ...values) => {
    statement(sql).run(...values)
  }

  /** Waits for a folder that is being moved or copied, which must not be created in the meantime. */
  function isFolderJustMissed(): boolean {
    missesFolderSince ??= performance.now()
    return performance.now() - missesFolderSince < FOLDER_MISSED_MS
  }

  function folderGone(): AppError {
    return new AppError(
      'storage_failed',
      `The state folder ${folder} is gone. Put it back; else it is made again in a moment.`,
    )
  }

  /**
   * Writes the database to its path again if the file was deleted or replaced while the service runs; the open one is
   * intact.
   */
  async function restoreFile(): Promise<void> {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found?.ino === inode) return
    if (!existsSync(folder) && isFolderJustMissed()) throw folderGone()
    missesFolderSince = null
    log(`${DATABASE_FILE} was deleted or replaced while the service runs: it is written again`)
    await makeFolder(folder, 0o700)
    if (found) renameSync(path, `${path}.aside-${now().replace(/[:-]/g, '')}`)
    const copy = `${path}.copy`
    rmSync(copy, { force: true })
    connection.prepare('VACUUM INTO ?').run(copy)
    // no await from here on, as readers need a connection
    disconnect()
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    try {
      renameSync(copy, path)
    } finally {
      // the service continues with a database, whether or not the copy succeeded
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      connection = openConnection(path)
      inode = statSync(path).ino
    }
    await confirmFolder(folder)
  }

  function disconnect(): void {
    statements = new Map()
    connection.close()
  }

  const commit = createGroupCommit<Work>({
    async write(works) {
      try {
        await restoreFile()
        // SQLite syncs no commit then; the next one with FULL syncs all that is in its log
        const isSynced = works.some(({ isDerived }) => !isDerived)
        connection.exec(`PRAGMA synchronous = ${isSynced ? 'FULL' : 'NORMAL'}`)
        connection.exec('BEGIN IMMEDIATE')
        try {
          for (const { work } of works) work(run)
          connection.exec('COMMIT')
        } catch (error) {
          rollBack()
          throw error
        }
        if (works.some(({ isErasing }) => isErasing)) isLogToErase = true
        if (isLogToErase) eraseLog()
        return works.length
      } catch (error) {
        throw refusalOf(error)
      }
    },
    onWritten(works) {
      for (const { onWritten } of works) onWritten?.()
    },
    onFailure(failure) {
      if (failure) log(`${DATABASE_FILE} cannot be written, and is tried again: ${failure.error}`)
      else log(`${DATABASE_FILE} is written again`)
    },
  })

  /** Tried again at the next commit if it fails, or while another process reads. */
  function eraseLog(): void {
    try {
      const [found] = statement('PRAGMA wal_checkpoint(TRUNCATE)').all() as { busy: number }[]
      isLogToErase = found?.busy !== 0
    } catch (error) {
      if (sqliteFault(error) === null) throw error
    }
  }

  function add(work: Work, isUrgent = true): void {
    if (isClosed) throw new Error(`${DATABASE_FILE} is closed`)
    gathered.push(work)
    if (!isGathering || gathered.length >= GATHERED) commitGathered(isUrgent)
  }

  function commitGathered(isUrgent = true): void {
    for (const each of gathered) commit.add(each, isUrgent)
    gathered = []
  }

  /** After some errors SQLite has already rolled back, and then reports that there is no transaction. */
  function rollBack(): void {
    try {
      connection.exec('ROLLBACK')
    } catch (error) {
      if (!/no transaction/.test(String(error))) throw error
    }
  }

  /** Converts errors of SQLite and the disk about its file to an AppError; returns other errors unchanged. */
  function refusalOf(error: unknown): unknown {
    const fault = sqliteFault(error)
    if (fault === null) return storageError(error, path)
    const said = (error as Error).message
    if (fault === 'damaged') {
      if (damage === null) noteDamage(said)
      return new AppError('storage_failed', `${path} is ${damage}`, { cause: error })
    }
    return new AppError(
      fault === 'full' ? 'storage_full' : 'storage_failed',
      fault === 'full'
        ? `The change was not recorded in ${path}: the storage is full. Free space, then try again.`
        : `The change was not recorded in ${path}: ${said}. Check the disk and the permissions, then try again.`,
      { cause: error },
    )
  }

  /** Leaves a note for the next start. */
  function noteDamage(said: string): void {
    damage = `damaged (${said}). Restart the service: it checks the file, and if it is damaged, sets it aside and reads the cases again. Nothing about a case is lost.`
    log(`${DATABASE_FILE} is ${damage}`)
    writeFileSync(damageNote, `${said}\n`, { mode: 0o600 })
  }

  function all<Row>(sql: string, ...values: SqlValue[]): Row[] {
    try {
      return statement(sql).all(...values) as Row[]
    } catch (error) {
      throw refusalOf(error)
    }
  }

  function flushed(): Promise<void> {
    commitGathered()
    return commit.flushed()
  }

  return {
    all,
    get: <Row>(sql: string, ...values: SqlValue[]) => all<Row>(sql, ...values)[0],
    write: (work, onWritten, isErasing = false) => add({ work, onWritten, isErasing }),
    writeDerived: (work, onWritten) => add({ work, onWritten, isDerived: true }),
    later: (work, onWritten) => add({ work, onWritten }, false),
    async attempt(work, isErasing = false) {
      let isWanted = true
      // in its place something is written that shows when the disk works again
      const orNothing = (run: Run) => (isWanted ? work(run) : run(WRITTEN_AGAIN, now()))
      add({ work: orNothing, onWritten: undefined, isErasing })
      try {
        await flushed()
      } catch (error) {
        isWanted = false
        throw error
      }
    },
    async gather(task) {
      isGathering = true
      try {
        return await task()
      } finally {
        isGathering = false
        commitGathered()
      }
    },
    flushed,
    get failure() {
      return commit.failure?.error ?? null
    },
    get waiting() {
      return commit.waiting
    },
    get setAside() {
      return setAside
    },
    get damage() {
      return damage && `${DATABASE_FILE} is ${damage}`
    },
    async close() {
      if (isClosed) return
      isClosed = true
      commitGathered()
      await commit.flushed().catch(() => {}) // onFailure logs it
      commit.stop()
      if (commit.waiting > 0) log(`${DATABASE_FILE} was closed without ${commit.waiting} changes`)
      leaveOneFile()
      disconnect()
    },
  }

  /** Removes the write-ahead log on close; if that fails, the next start reads it. */
  function leaveOneFile(): void {
    try {
      connection.exec('PRAGMA journal_mode = DELETE')
    } catch (error) {
      if (sqliteFault(error) === null) throw error
    }
  }
}

/** Parses a JSON text of a row; undefined if invalid, as another program may have changed it. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
