/** The tables of casefile.db. */

import type { SqliteConnection } from './sqlite.ts'

/** Marks the file as ours: "case" in ASCII. */
const APPLICATION_ID = 0x63617365

/** The tables of the first release, in a database that may have those of an earlier build. */
const TABLES = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE IF NOT EXISTS events (
    id INTEGER PRIMARY KEY, type TEXT NOT NULL, envelope TEXT NOT NULL
  ) STRICT;

  -- each case as it was published last. stamps: of all its files, empty if the next start reads them again. listed: what
  -- lists show. folder: what was read of its folder, and published beside the files. json: as requests are answered
  CREATE TABLE cases (
    id TEXT PRIMARY KEY, stamps TEXT NOT NULL, listed TEXT NOT NULL, folder TEXT NOT NULL, json TEXT NOT NULL
  ) STRICT;
  -- what was read of each file of a case. text: of sessions, and of the case.md beside a running one
  CREATE TABLE records (
    case_id TEXT NOT NULL, file TEXT NOT NULL, record TEXT NOT NULL, text TEXT, PRIMARY KEY (case_id, file)
  ) STRICT;

  -- what these rows do not have of audit trails: lines whose file is being replaced, and all of sessions whose file is
  -- gone or has another session
  CREATE TABLE IF NOT EXISTS trails (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, file TEXT NOT NULL, session_id TEXT NOT NULL,
    after INTEGER NOT NULL, trail TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS trails_of_session ON trails (case_id, file, session_id);

  -- the last number of a session in each case
  CREATE TABLE IF NOT EXISTS session_numbers (
    case_id TEXT PRIMARY KEY, last INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- hashes of the lines of history.md that this machine wrote
  CREATE TABLE IF NOT EXISTS history_lines (
    case_id TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (case_id, line)
  ) STRICT, WITHOUT ROWID;
  -- lines that history.md may not have after a crash, and acts by hand whose line is not written yet
  CREATE TABLE IF NOT EXISTS history_pending (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;

  -- sessions that run on this machine, so that the next start can end what a killed service left
  CREATE TABLE IF NOT EXISTS runs (session_id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- what git could bring when a run began
  CREATE TABLE IF NOT EXISTS run_starts (session_id TEXT PRIMARY KEY, git TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- values of a case that are frozen while a session could write its files; '' is what all running sessions share
  CREATE TABLE IF NOT EXISTS baselines (case_id TEXT PRIMARY KEY, baseline TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- plans that sessions had, so that a revision can be compared
  CREATE TABLE IF NOT EXISTS plans (
    sha256 TEXT PRIMARY KEY, text BLOB NOT NULL, used_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS plans_by_use ON plans (used_at);

  -- conversations with agents that people run themselves, as their hooks report them
  CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
  -- the case that a person made current for a working folder
  CREATE TABLE IF NOT EXISTS current_cases (
    folder TEXT PRIMARY KEY, case_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- receivers of events, with their secrets
  CREATE TABLE IF NOT EXISTS webhooks (
    id TEXT PRIMARY KEY, registration TEXT NOT NULL, failing TEXT
  ) STRICT;
  -- what a receiver gets, and the newest of what it got
  CREATE TABLE IF NOT EXISTS deliveries (
    webhook_id TEXT NOT NULL, event_id INTEGER NOT NULL, message_id TEXT NOT NULL,
    type TEXT NOT NULL, envelope TEXT NOT NULL, state TEXT NOT NULL, attempts TEXT NOT NULL,
    tries INTEGER NOT NULL, next_at TEXT,
    PRIMARY KEY (webhook_id, event_id)
  ) STRICT;
  CREATE INDEX IF NOT EXISTS deliveries_by_state ON deliveries (webhook_id, state, event_id);
  CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (webhook_id, next_at, event_id) WHERE next_at IS NOT NULL;

  -- the full text index by file, whose row is 2^20 times the number of its case and more (src/state/search-tables.ts)
  CREATE TABLE search_cases (number INTEGER PRIMARY KEY, id TEXT NOT NULL) STRICT;
  CREATE TABLE search_files (rowid INTEGER PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
  CREATE VIRTUAL TABLE search_titles USING fts5 (title, tokenize = "unicode61 remove_diacritics 2");
  INSERT INTO search_titles (search_titles, rank) VALUES ('secure-delete', 1);
  CREATE VIRTUAL TABLE search_texts USING fts5 (
    tags, description, notes, sessions, proof,
    tokenize = "unicode61 remove_diacritics 2"
  );
  INSERT INTO search_texts (search_texts, rank) VALUES ('secure-delete', 1);
  INSERT INTO search_texts (search_texts, rank) VALUES ('rank', 'bm25(4.0, 2.0, 1.5, 1.0, 0.7)');
  `

/** Tables of earlier builds that the files are read again for. */
const READ_AGAIN = [
  ...['published', 'texts', 'case_values', 'cases', 'records'],
  ...['search_words', 'search_texts', 'search_titles', 'search_files', 'search_cases'],
]
/** Earlier builds had no queue of deliveries; webhooks must be registered again. */
const FIRST_WITH_QUEUE = 8
const FIRST_RELEASE = 14

/** What later versions change. Released steps never change; add new ones. */
const STEPS: readonly string[] = []

const SCHEMA_VERSION = FIRST_RELEASE + STEPS.length

/** Throws for a database of another program or a later version of Casefile; changes nothing. */
export function mustBeOurs(connection: SqliteConnection): void {
  const version = pragma(connection, 'user_version')
  const id = pragma(connection, 'application_id')
  if (id !== APPLICATION_ID && (id !== 0 || version !== 0 || hasTables(connection))) {
    throw new ForeignDatabase('it is the database of another program')
  }
  if (version > SCHEMA_VERSION) throw new ForeignDatabase('a later version of Casefile made it')
}

/** Whether all tables are as this version needs them. */
export function isCurrent(connection: SqliteConnection): boolean {
  return pragma(connection, 'user_version') === SCHEMA_VERSION
}

/** Makes the tables as this version needs them. */
export function migrate(connection: SqliteConnection): void {
  if (isCurrent(connection)) return
  const version = pragma(connection, 'user_version')
  connection.exec('BEGIN IMMEDIATE')
  try {
    if (version < FIRST_RELEASE) makeFirst(connection, version)
    for (const step of STEPS.slice(Math.max(0, version - FIRST_RELEASE))) connection.exec(step)
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    connection.exec('COMMIT')
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
}

function makeFirst(connection: SqliteConnection, version: number): void {
  const gone = version < FIRST_WITH_QUEUE ? [...READ_AGAIN, 'webhooks', 'deliveries'] : READ_AGAIN
  for (const table of gone) connection.exec(`DROP TABLE IF EXISTS ${table}`)
  connection.exec(TABLES)
  connection.exec("DELETE FROM meta WHERE name IN ('cases', 'search', 'workspace_problems')")
}

/** A database that SQLite can read but Casefile cannot use. */
export class ForeignDatabase extends Error {}

function pragma(connection: SqliteConnection, name: string): number {
  const [row] = connection.prepare(`PRAGMA ${name}`).all() as Record<string, number>[]
  return Number(row?.[name] ?? 0)
}

function hasTables(connection: SqliteConnection): boolean {
  return connection.prepare('SELECT 1 FROM sqlite_master LIMIT 1').all().length > 0
}
