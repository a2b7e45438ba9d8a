import { chmodSync } from 'node:fs'
import { migrate, mustBeOurs } from './schema.ts'
import { connect, type SqliteConnection, sqliteFault } from './sqlite.ts'

/** Opens the file of a database with its tables; creates it if it is missing. Throws SQLite's error. */
export function openConnection(path: string): SqliteConnection {
  const connection = connect(path)
  try {
    chmodSync(path, 0o600)
    connection.exec('PRAGMA busy_timeout = 200')
    mustBeOurs(connection)
    connection.exec('PRAGMA journal_mode = WAL')
    connection.exec('PRAGMA synchronous = FULL')
    connection.exec('PRAGMA secure_delete = ON') // so that the text of a deleted case is erased
    // checkpoint every 16 MB, which takes about 20 ms within a commit
    connection.exec('PRAGMA wal_autocheckpoint = 4000')
    connection.exec('PRAGMA temp_store = MEMORY')
    migrate(connection)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

/** Whether SQLite finds no damage. It also speaks of damage if the disk fails to read a page once. */
export function isIntact(path: string): boolean {
  const connection = connect(path)
  try {
    const found = connection.prepare('PRAGMA quick_check(1)').all()
    return Object.values(found[0] ?? {})[0] === 'ok'
  } catch (error) {
    if (sqliteFault(error) === 'damaged') return false
    throw error
  } finally {
    connection.close()
  }
}
