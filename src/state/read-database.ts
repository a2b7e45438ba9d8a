/** Opens `casefile.db` for a command that only reads, or empty tables in memory in its place. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE, type Database } from './database.ts'
import { ForeignDatabase, isCurrent, migrate, mustBeOurs } from './schema.ts'
import { connect, type SqliteConnection, type SqlValue, sqliteFault } from './sqlite.ts'

/** Opens an existing database for a command that only reads. */
export interface ReadOnlyDatabase extends Pick<Database, 'all' | 'get'> {
  close(): void
}

/** Whether a service of this machine has opened the workspace. */
export function hasDatabase(folder: string): boolean {
  return existsSync(join(folder, DATABASE_FILE))
}

/** Null if there is no usable database. */
export function openToRead(folder: string): ReadOnlyDatabase | null {
  if (!hasDatabase(folder)) return null
  const connection = connect(join(folder, DATABASE_FILE), { readOnly: true })
  try {
    mustBeOurs(connection)
    const database = readingOf(connection)
    database.all('SELECT 1 FROM meta LIMIT 1')
    if (isCurrent(connection)) return database
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

/** Empty tables in memory, for a command that reads when there is no database. */
export function emptyDatabase(): ReadOnlyDatabase {
  const connection = connect(':memory:')
  migrate(connection)
  return readingOf(connection)
}

/** A writable database in memory, which is lost when the process ends. */
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

/** Returns the result of `read` on the database; null if there is none. */
export function readDatabase<T>(folder: string, read: (database: ReadOnlyDatabase) => T): T | null {
  const database = openToRead(folder)
  if (database === null) return null
  try {
    return read(database)
  } finally {
    database.close()
  }
}
