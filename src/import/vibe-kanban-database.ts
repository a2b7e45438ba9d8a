import { AppError } from '../model/app-error.ts'
import { connect, type SqliteConnection, type SqlRow, type SqlValue } from '../state/sqlite.ts'
import type { InputFile } from './item.ts'
import { unreadable } from './json-input.ts'

export type Row = Record<string, unknown>

/** The rows of vibe-kanban's tables, under their newest names. */
export interface Tables {
  tasks: readonly unknown[]
  projects?: readonly Row[]
  workspaces?: readonly Row[]
  sessions?: readonly Row[]
  execution_processes?: readonly Row[]
  coding_agent_turns?: readonly Row[]
  merges?: readonly Row[]
}

/** Tables and columns that were renamed. */
const OLD_TABLES = { workspaces: 'task_attempts', coding_agent_turns: 'executor_sessions' }
const NEW_COLUMNS: Readonly<Record<string, string>> = {
  task_attempt_id: 'workspace_id',
  parent_task_attempt: 'parent_workspace_id',
}

export function isDatabase({ path, bytes }: InputFile): boolean {
  const head = Buffer.from(bytes.subarray(0, 15)).toString('latin1')
  return head === 'SQLite format 3' || /\.(?:sqlite3?|db)$/i.test(path)
}

/** Reads the local database of vibe-kanban, also while vibe-kanban runs. */
export function readTables({ path, absolutePath }: InputFile, expected: string): Tables {
  if (absolutePath === null) {
    throw unreadable('standard input', expected, 'it is a database; name its file instead')
  }
  let connection: SqliteConnection | undefined
  try {
    connection = connect(absolutePath, { readOnly: true })
    const tables = tablesOf(connection)
    if (tables === null) throw unreadable(path, expected, 'the database has no table "tasks"')
    return tables
  } catch (error) {
    if (error instanceof AppError) throw error
    throw unreadable(path, expected, (error as Error).message)
  } finally {
    connection?.close()
  }
}

function tablesOf(connection: SqliteConnection): Tables | null {
  const named = connection.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all()
  const names = new Set(named.map((row) => (row as { name: string }).name))
  const rows = (name: string, without: readonly string[] = []): Row[] => {
    const table = names.has(name) ? name : (OLD_TABLES[name as keyof typeof OLD_TABLES] ?? '')
    if (!names.has(table)) return []
    const info = connection.prepare(`PRAGMA table_info("${table}")`).all() as { name: string }[]
    const columns = info.filter((each) => !without.includes(each.name))
    const list = columns.map((each) => `"${each.name.replaceAll('"', '""')}"`).join(', ')
    return connection.prepare(`SELECT ${list} FROM "${table}" ORDER BY rowid`).all().map(plainRow)
  }
  if (!names.has('tasks')) return null
  return {
    tasks: rows('tasks'),
    projects: rows('projects'),
    workspaces: rows('workspaces', ['stdout', 'stderr']),
    sessions: rows('sessions'),
    execution_processes: rows('execution_processes', ['stdout', 'stderr', 'executor_action']),
    coding_agent_turns: rows('coding_agent_turns'),
    merges: rows('merges'),
  }
}

function plainRow(row: unknown): Row {
  const entries = Object.entries(row as SqlRow).map(([name, value]) => [
    NEW_COLUMNS[name] ?? name,
    plain(value),
  ])
  return Object.fromEntries(entries)
}

/** Ids are stored as 16 bytes, and times as text in UTC without a zone. */
function plain(value: SqlValue): unknown {
  if (value instanceof Uint8Array) {
    const hex = Buffer.from(value).toString('hex')
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  }
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?$/.test(value)) {
    return `${value.replace(' ', 'T')}Z`
  }
  return value
}
