/**
 * casefile.db in the state folder: this machine's notes, never the only copy of anything in a case. Only the owner of
 * the memory root writes it (`owner/ownership.ts`); commands open it read-only. If it is deleted, cases and search
 * are read again from the files. Lost are: the event log (streams resume with `reset`), webhooks with their pending
 * deliveries, what was last published (edits made before the next start get no event), frozen baselines, texts of earlier plans, the last readable text of a file that is broken now, and the
 * records by which the next start ends processes of a killed run. A damaged or foreign file is set aside and a new
 * one made.
 */

import {
  chmodSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { makeFolder, syncFolder } from '../files/durable-write.ts'
import { AppError } from '../model/app-error.ts'
import { createGroupCommit } from './group-commit.ts'
import { ForeignDatabase, migrate, missingColumns, mustBeOurs } from './schema.ts'
import {
  connect,
  type SqliteConnection,
  type SqlValue,
  type Statement,
  sqliteFault,
} from './sqlite.ts'

export const DATABASE_FILE = 'casefile.db'

export type Run = (sql: string, ...values: SqlValue[]) => void

/** This machine's notes about one workspace: the SQLite file in its state folder. Only the owner opens it for writing. */
export interface Database {
  /** The rows of a query, as far as they are on the disk: what `write` was given and is not flushed is not among them. */
  all<Row>(sql: string, ...values: SqlValue[]): Row[]
  get<Row>(sql: string, ...values: SqlValue[]): Row | undefined
  /**
   * Carries out `work` soon. All works of one turn of the event loop are one transaction, which is on the disk
   * before `onWritten` is called. Works are carried out in order; where the disk fails, they are kept and tried
   * again, so that `work` may run several times: it must do nothing but `run`.
   */
  write(work: (run: Run) => void, onWritten?: () => void): void
  /** While `task` runs, what is written is gathered into few large transactions. */
  gather<T>(task: () => Promise<T>): Promise<T>
  /** Resolves when all that was written before is on the disk; rejects with the storage refusal when it could not be. */
  flushed(): Promise<void>
  /** The storage refusal of the last write; null while all is well. */
  readonly failure: unknown
  /** What was set aside as the service opened it, and why: for `/health`. */
  readonly setAside: string | null
  /** What is wrong with the file, found since it was opened, and what to do: for `/health`. Only a restart helps. */
  readonly damage: string | null
  close(): Promise<void>
}

/** Longer than a folder is away while it is moved and copied. */
const FOLDER_MISSED_MS = 900

interface Work {
  work: (run: Run) => void
  onWritten: (() => void) | undefined
}

/** So many works are one transaction while they are gathered. */
const GATHERED = 250

/** Opens the database in the state folder, and makes it where there is none. One that is of no use is set aside. */
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
  let isGathering = false
  let gathered: Work[] = []

  function open(): SqliteConnection {
    if (existsSync(damageNote)) putAside('it was found damaged while the service ran')
    try {
      return openConnection(path)
    } catch (error) {
      const isUseless = error instanceof ForeignDatabase || sqliteFault(error) === 'damaged'
      if (!isUseless) throw refusalOf(error)
      putAside((error as Error).message)
      return openConnection(path)
    }
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

  /** A folder that is only being moved, or copied into its place, must not be made meanwhile. */
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

  /** The file was deleted or replaced while the service runs: the open one is still whole, and is written there again. */
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
    // nothing is awaited from here to the end: readers need a connection
    disconnect()
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    try {
      renameSync(copy, path)
    } finally {
      // the service goes on with a database, whether or not the copy was made
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      connection = openConnection(path)
      inode = statSync(path).ino
    }
    await syncFolder(folder)
  }

  function disconnect(): void {
    statements = new Map()
    connection.close()
  }

  const commit = createGroupCommit<Work>({
    async write(works) {
      try {
        await restoreFile()
        connection.exec('BEGIN IMMEDIATE')
        try {
          for (const { work } of works) work(run)
          connection.exec('COMMIT')
        } catch (error) {
          rollBack()
          throw error
        }
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

  function commitGathered(): void {
    for (const each of gathered) commit.add(each)
    gathered = []
  }

  /** After some errors SQLite has rolled back by itself, and then reports that there is no transaction. */
  function rollBack(): void {
    try {
      connection.exec('ROLLBACK')
    } catch (error) {
      if (!/no transaction/.test(String(error))) throw error
    }
  }

  /** The refusal for an error of SQLite about its file; other errors are returned as they are. */
  function refusalOf(error: unknown): unknown {
    const fault = sqliteFault(error)
    if (fault === null) return error
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

  /** The next start finds the note. */
  function noteDamage(said: string): void {
    damage = `damaged (${said}). Restart the service: it sets the file aside and reads the cases again. Nothing about a case is lost.`
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

  return {
    all,
    get: <Row>(sql: string, ...values: SqlValue[]) => all<Row>(sql, ...values)[0],
    write(work, onWritten) {
      if (isClosed) throw new Error(`${DATABASE_FILE} is closed`)
      gathered.push({ work, onWritten })
      if (!isGathering || gathered.length >= GATHERED) commitGathered()
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
    flushed() {
      commitGathered()
      return commit.flushed()
    },
    get failure() {
      return commit.failure?.error ?? null
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
      await commit.flushed().catch(() => {}) // said by onFailure
      commit.stop()
      if (commit.waiting > 0) log(`${DATABASE_FILE} was closed without ${commit.waiting} changes`)
      leaveOneFile()
      disconnect()
    },
  }

  /** A database that was closed well has no log beside it; where that fails, the next start reads the log. */
  function leaveOneFile(): void {
    try {
      connection.exec('PRAGMA journal_mode = DELETE')
    } catch (error) {
      if (sqliteFault(error) === null) throw error
    }
  }
}

/** A database as a service of this or an earlier time has written it, for a command that only reads. */
export interface ReadOnlyDatabase extends Pick<Database, 'all' | 'get'> {
  close(): void
}

/** Null where there is none, or none that can be used. */
export function openToRead(folder: string): ReadOnlyDatabase | null {
  const path = join(folder, DATABASE_FILE)
  if (!existsSync(path)) return null
  const connection = connect(path, { readOnly: true })
  try {
    mustBeOurs(connection)
    const database = readingOf(connection)
    database.all('SELECT 1 FROM meta LIMIT 1')
    if (missingColumns(connection).length === 0) return database
    connection.close()
    return null
  } catch (error) {
    connection.close()
    if (error instanceof ForeignDatabase || sqliteFault(error) === 'damaged') return null
    if (/no such table/.test(String(error))) return null
    throw error
  }
}

function readingOf(connection: SqliteConnection): ReadOnlyDatabase {
  const all = <Row>(sql: string, ...values: SqlValue[]) =>
    connection.prepare(sql).all(...values) as Row[]
  return {
    all,
    get: (sql, ...values) => all<never>(sql, ...values)[0],
    close: () => connection.close(),
  }
}

/** The tables with nothing in them, in memory: for a command that only reads where there is no database. */
export function emptyDatabase(): ReadOnlyDatabase {
  const connection = connect(':memory:')
  migrate(connection)
  return readingOf(connection)
}

/** A database in memory that can be written too; what it has is gone with the process. */
export function memoryDatabase(): Pick<Database, 'all' | 'get' | 'write' | 'flushed' | 'failure'> {
  const connection = connect(':memory:')
  migrate(connection)
  return {
    ...readingOf(connection),
    write(work, onWritten) {
      work((sql, ...values) => void connection.prepare(sql).run(...values))
      onWritten?.()
    },
    flushed: async () => {},
    failure: null,
  }
}

/** What `read` gives of it; null where there is none. */
export function readDatabase<T>(folder: string, read: (database: ReadOnlyDatabase) => T): T | null {
  const database = openToRead(folder)
  if (database === null) return null
  try {
    return read(database)
  } finally {
    database.close()
  }
}

function openConnection(path: string): SqliteConnection {
  const connection = connect(path)
  try {
    chmodSync(path, 0o600)
    connection.exec('PRAGMA busy_timeout = 200')
    mustBeOurs(connection)
    connection.exec('PRAGMA journal_mode = WAL')
    connection.exec('PRAGMA synchronous = FULL')
    connection.exec('PRAGMA secure_delete = ON') // a deleted case leaves no text
    // moved into the database every 16 MB: that takes some 20 ms, in the commit that does it
    connection.exec('PRAGMA wal_autocheckpoint = 4000')
    connection.exec('PRAGMA temp_store = MEMORY')
    migrate(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** The value of a JSON text in a row; undefined for a text that is none, as another program may have changed it. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
