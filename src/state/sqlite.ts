/**
 * Chooses the SQLite binding: `node:sqlite`, or `@photostructure/sqlite` on Node 20. No other file imports either.
 */

import { createRequire } from 'node:module'
import { AppError } from '../model/app-error.ts'

export type SqlValue = string | number | null | Uint8Array
export type SqlRow = Record<string, SqlValue>

/** A prepared statement. Parameters are bound in the order of the `?` in its text. */
export interface Statement {
  run(...values: SqlValue[]): { changes: number | bigint }
  all(...values: SqlValue[]): unknown[]
}

/** The common part of `node:sqlite` and `@photostructure/sqlite` that is used here. */
export interface SqliteConnection {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

interface SqliteModule {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => SqliteConnection
}

/** The SQLite binding: built into Node.js 22.13 and later, else a package. */
const PACKAGE = '@photostructure/sqlite'

let loaded: SqliteModule | undefined

/** Opens a database file; creates it unless `readOnly`. Throws SQLite's error, or an AppError if there is no SQLite. */
export function connect(path: string, options: { readOnly?: boolean } = {}): SqliteConnection {
  loaded ??= builtIn() ?? fromPackage()
  return new loaded.DatabaseSync(path, options)
}

function builtIn(): SqliteModule | undefined {
  const { emitWarning } = process
  process.emitWarning = () => {} // Node.js 22 calls it experimental on stderr, at every command
  try {
    return process.getBuiltinModule?.('node:sqlite' as never) as SqliteModule | undefined
  } finally {
    process.emitWarning = emitWarning
  }
}

function fromPackage(): SqliteModule {
  try {
    return createRequire(import.meta.url)(PACKAGE)
  } catch (error) {
    throw new AppError(
      'storage_failed',
      `Casefile keeps its state in an SQLite database, and this installation has no SQLite: Node.js ${process.versions.node} has none built in, and the optional package ${PACKAGE} is not there or does not run here. Use Node.js 22.13 or later, or install the optional packages (npm install --include=optional).`,
      { cause: error },
    )
  }
}

export type SqliteFault = 'damaged' | 'full' | 'failed'

/** Classifies an error by its text, as the package does not give a code with every error. */
const FAULTS: [SqliteFault, RegExp][] = [
  ['damaged', /malformed|not a database|corrupt|vtable constructor failed/i],
  ['full', /database or disk is full/i],
  [
    'failed',
    /disk I\/O error|readonly database|unable to open database|database is locked|locking protocol|out of memory/i,
  ],
]

/** Describes what is wrong with the database file; null for an SQL mistake or an unrelated error. */
export function sqliteFault(error: unknown): SqliteFault | null {
  if (!(error instanceof Error)) return null
  return FAULTS.find(([, said]) => said.test(error.message))?.[0] ?? null
}
