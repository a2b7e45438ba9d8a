import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_FILE } from './database.ts'
import { connect, type SqliteConnection, sqliteFault } from './sqlite.ts'

/** The last readable texts of record files, for commands that read beside a service or without one. */
export interface StoredTexts {
  /** Null also if the database cannot be read. */
  text(caseId: string, file: string): string | null
  close(): void
}

/** Whether a service of this machine has opened the workspace. */
export function hasDatabase(stateDir: string): boolean {
  return existsSync(join(stateDir, DATABASE_FILE))
}

/** Opens the database on first use and read-only, as most workspaces have no file that needs it. */
export function openStoredTexts(stateDir: string): StoredTexts {
  let connection: SqliteConnection | null | undefined
  const select = 'SELECT text FROM cases JOIN texts USING (n) WHERE id = ? AND file = ?'

  function attempt<T>(work: () => T): T | null {
    try {
      return work()
    } catch (error) {
      if (sqliteFault(error) === null && !isOtherSchema(error)) throw error
      return null
    }
  }

  return {
    text(caseId, file) {
      if (connection === undefined) {
        const path = join(stateDir, DATABASE_FILE)
        connection = hasDatabase(stateDir) ? attempt(() => connect(path, { readOnly: true })) : null
      }
      const open = connection
      const rows = open && attempt(() => open.prepare(select).all(caseId, file))
      const [row] = (rows ?? []) as { text: string }[]
      return row?.text ?? null
    },
    close() {
      connection?.close()
      connection = null
    },
  }
}

/** A database of another program or another version. */
function isOtherSchema(error: unknown): boolean {
  return error instanceof Error && /no such (table|column)/.test(error.message)
}
