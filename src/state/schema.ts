/** The tables of casefile.db and their migrations. */

import type { SqliteConnection } from './sqlite.ts'

/** Marks the file as ours: "case" in ASCII. */
export const APPLICATION_ID = 0x63617365

/**
 * The migrations. A database has applied the first `user_version` of them. Released steps never change; add new ones.
 */
export const MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE events (id INTEGER PRIMARY KEY, type TEXT NOT NULL, envelope TEXT NOT NULL) STRICT;

  -- what was last published of a case, by '<case id>' and '<case id> <part>'
  CREATE TABLE published (key TEXT PRIMARY KEY, facts TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- each case as it was last published. print: of the stamps of its files; null where the next start reads them again.
  -- From state on: what lists show (summary, as JSON), and by what they filter and sort (src/state/case-lists.ts)
  CREATE TABLE cases (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    parent TEXT,
    names TEXT NOT NULL,
    print TEXT,
    state TEXT NOT NULL,
    type TEXT NOT NULL,
    outcome TEXT,
    tags TEXT NOT NULL,
    needs TEXT,
    triage_place TEXT NOT NULL,
    list_section INTEGER NOT NULL,
    summary TEXT NOT NULL
  ) STRICT;
  CREATE INDEX cases_by_creation ON cases (created_at DESC, id);
  CREATE INDEX cases_by_triage ON cases (triage_place DESC, id);
  -- json: as requests are answered; entry: all that was read of its files
  CREATE TABLE case_values (n INTEGER PRIMARY KEY, json TEXT NOT NULL, entry TEXT NOT NULL) STRICT;
  -- the last readable text of each record file
  CREATE TABLE texts (n INTEGER NOT NULL, file TEXT NOT NULL, text TEXT NOT NULL, UNIQUE (n, file)) STRICT;

  -- sessions that run on this machine, so that the next start can end what a killed service left
  CREATE TABLE runs (session_id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- values of a case that are frozen while a session could write its files; '' is what all running sessions share
  CREATE TABLE baselines (case_id TEXT PRIMARY KEY, baseline TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- plans that sessions had, so that a revision can be compared
  CREATE TABLE plans (sha256 TEXT PRIMARY KEY, text BLOB NOT NULL, used_at INTEGER NOT NULL) STRICT;
  CREATE INDEX plans_by_use ON plans (used_at);

  -- receivers of events, with their secrets; the events behind the cursor are still to be sent
  CREATE TABLE webhooks (
    id TEXT PRIMARY KEY, registration TEXT NOT NULL, cursor INTEGER NOT NULL, failing TEXT
  ) STRICT;

  -- what a receiver was sent: all that waits for a retry, and the newest of what has ended
  CREATE TABLE deliveries (
    webhook_id TEXT NOT NULL, event_id INTEGER NOT NULL, message_id TEXT NOT NULL,
    type TEXT NOT NULL, envelope TEXT NOT NULL, state TEXT NOT NULL, attempts TEXT NOT NULL,
    tries INTEGER NOT NULL, next_at TEXT,
    PRIMARY KEY (webhook_id, event_id)
  ) STRICT;
  CREATE INDEX deliveries_by_state ON deliveries (webhook_id, state, event_id);
  CREATE INDEX deliveries_due ON deliveries (webhook_id, next_at, event_id) WHERE next_at IS NOT NULL;
  -- the full text index: which cases it has, from which files, and their words. The program finds the words (src/search/words.ts),
  -- so that the tokenizer only has to split at blanks.
  CREATE TABLE search_cases (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, stamp TEXT NOT NULL, names TEXT NOT NULL,
    state TEXT NOT NULL, type TEXT NOT NULL, outcome TEXT NOT NULL, tags TEXT NOT NULL, updated_at TEXT NOT NULL
  ) STRICT;
  CREATE VIRTUAL TABLE search_texts USING fts5 (
    title, tags, description, notes, sessions, proof,
    tokenize = "ascii tokenchars '._-'"
  );
  INSERT INTO search_texts (search_texts, rank) VALUES ('secure-delete', 1);
  INSERT INTO search_texts (search_texts, rank) VALUES ('rank', 'bm25(6.0, 4.0, 2.0, 1.5, 1.0, 0.7)');
  CREATE VIRTUAL TABLE search_words USING fts5vocab (search_texts, 'row');
  `,
  `
  -- after this step all cases are read again, as their stored format is an older one
  ALTER TABLE cases ADD COLUMN list_place INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX cases_by_list ON cases (list_section, list_place, id);
  `,
  `
  -- conversations with agents that people run themselves, as their hooks report them
  CREATE TABLE conversations (id TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;

  -- the case that a person made current for a working folder
  CREATE TABLE current_cases (folder TEXT PRIMARY KEY, case_id TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- the finished runs of each case as JSON, and when the last one ended; all cases are read again for them
  ALTER TABLE cases ADD COLUMN runs TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE cases ADD COLUMN last_run_at TEXT;
  CREATE INDEX cases_by_last_run ON cases (last_run_at);
  `,
  `
  -- what git could bring when a run began
  CREATE TABLE run_starts (session_id TEXT PRIMARY KEY, git TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- hashes of the lines of history.md that this machine wrote
  CREATE TABLE history_lines (
    case_id TEXT NOT NULL, line TEXT NOT NULL, PRIMARY KEY (case_id, line)
  ) STRICT, WITHOUT ROWID;
  `,
  'DROP TABLE search_words',
  `
  -- an event is queued for a webhook in its own transaction, instead of being read from the log behind a cursor
  INSERT OR IGNORE INTO deliveries (webhook_id, event_id, message_id, type, envelope, state, attempts, tries)
  SELECT webhooks.id, events.id, '', events.type, envelope, 'queued', '[]', 0
  FROM webhooks JOIN events ON events.id > cursor
  WHERE events.id <= ifnull(registration ->> 'ends_after', events.id)
    AND ifnull(registration ->> 'case_id', envelope ->> '$.payload.case_id') IS envelope ->> '$.payload.case_id'
    AND EXISTS (
      SELECT 1 FROM json_each(ifnull(
        (SELECT value ->> 'events' FROM json_each(registration, '$.earlier_events')
          WHERE value ->> 'up_to' >= events.id LIMIT 1),
        registration ->> 'events'
      )) WHERE value = events.type OR value = '*' AND events.type IN (
        'session_started', 'session_completed', 'proof_created', 'proof_updated', 'agent_completed',
        'case_updated', 'case_state_changed'
      )
    );
  UPDATE webhooks SET registration = json_set(
    json_remove(registration, '$.ends_after', '$.earlier_events'),
    '$.case_deleted', json(iif(registration ->> 'ends_after' IS NULL, 'false', 'true'))
  );
  ALTER TABLE webhooks DROP COLUMN cursor;
  `,
  `
  -- the full text index by file, whose row is 2^20 times the number of its case and more (src/state/search-tables.ts)
  DROP TABLE search_cases;
  DROP TABLE search_texts;
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
  `,
  `
  -- lines that history.md may not have after a crash, and acts by hand whose line is not written yet
  CREATE TABLE history_pending (
    id INTEGER PRIMARY KEY, case_id TEXT NOT NULL, kind TEXT NOT NULL, text TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- the last number of a session in each case
  CREATE TABLE session_numbers (case_id TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  `,
  `
  -- each case as it was published last; the files are read again for it
  DROP TABLE published;
  DROP TABLE texts;
  DROP TABLE case_values;
  DROP TABLE cases;
  DELETE FROM meta WHERE name = 'cases';
  -- stamps: of all its files, empty if the next start reads them again. listed: what lists show. folder: what was read of
  -- its folder, and published beside the files. json: as requests are answered
  CREATE TABLE cases (
    id TEXT PRIMARY KEY, stamps TEXT NOT NULL, listed TEXT NOT NULL, folder TEXT NOT NULL, json TEXT NOT NULL
  ) STRICT;
  -- what was read of each file of a case. text: of sessions, and of the case.md beside a running one
  CREATE TABLE records (
    case_id TEXT NOT NULL, file TEXT NOT NULL, record TEXT NOT NULL, text TEXT, PRIMARY KEY (case_id, file)
  ) STRICT;
  `,
]

export const SCHEMA_VERSION = MIGRATIONS.length

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

/** Applies missing migrations. */
export function migrate(connection: SqliteConnection): void {
  if (isCurrent(connection)) return
  const version = pragma(connection, 'user_version')
  connection.exec('BEGIN IMMEDIATE')
  try {
    for (const step of MIGRATIONS.slice(version)) connection.exec(step)
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
    connection.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`)
    connection.exec('COMMIT')
  } catch (error) {
    connection.exec('ROLLBACK')
    throw error
  }
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
