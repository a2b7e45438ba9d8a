import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../src/state/database.ts'
import { connect } from '../../src/state/sqlite.ts'
import { built } from '../fixtures/built.ts'
import { smallDisk } from '../fixtures/small-disk.ts'
import { failCommits, rowsOnDisk } from '../fixtures/state-rows.ts'

const PUT = 'INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)'
const NOW = '2026-11-25T10:00:00.000Z'
const ASIDE = 'casefile.db.aside-20261125T100000.000Z'

async function open(t: Test, folder: string): Promise<{ database: Database; said: string[] }> {
  const said: string[] = []
  const database = await openDatabase(
    folder,
    (line) => void said.push(line),
    () => NOW,
  )
  t.teardown(() => database.close())
  return { database, said }
}

const put = (database: Database, name: string, value: string) =>
  database.write((run) => run(PUT, name, value))
const values = (database: Database) =>
  database.all<{ value: string }>('SELECT value FROM meta ORDER BY name').map(({ value }) => value)

/** Also of what SQLite keeps beside it: a copy is what a kill at this moment would leave. */
function copyTo(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (/^casefile\.db(-wal)?$/.test(name)) copyFileSync(join(from, name), join(to, name))
  }
}

t.test('what one turn writes is on the disk whole, before anybody is told', async (t) => {
  const folder = join(t.testdir(), 'state')
  const { database } = await open(t, folder)
  const logged: string[] = []
  for (const name of ['a', 'b']) {
    database.write(
      (run) => run(PUT, name, name),
      () => {
        t.equal(rowsOnDisk(folder, 'SELECT * FROM meta').length, 2, 'as another process sees it')
        logged.push(name)
      },
    )
  }
  t.same([values(database), logged], [[], []])
  await database.flushed()
  t.same(
    [values(database), logged],
    [
      ['a', 'b'],
      ['a', 'b'],
    ],
  )
  t.equal(statSync(join(folder, 'casefile.db')).mode & 0o777, 0o600, 'for its user alone')
  const [{ synchronous }] = database.all<{ synchronous: number }>('PRAGMA synchronous') as [
    { synchronous: number },
  ]
  t.equal(synchronous, 2, 'each commit is synced')
})

t.test('one file is left after it was closed', async (t) => {
  const folder = t.testdir()
  const { database } = await open(t, folder)
  put(database, 'a', 'b')
  await database.close()
  t.same(readdirSync(folder), ['casefile.db'])
})

t.test('a statement that makes no sense is no fault of the disk', async (t) => {
  const { database } = await open(t, t.testdir())
  t.throws(() => database.all('SELECT * FROM nowhere'), /no such table/)
})

t.test('what is of no use is set aside, and all begins again', async (t) => {
  const foreign = (sql: string) => (path: string) => {
    const connection = connect(path)
    connection.exec(sql)
    connection.close()
  }
  const ways: Record<string, [make: (path: string) => void, said: RegExp]> = {
    'no database': [
      (path) => writeFileSync(path, 'no database at all, but some text'.repeat(100)),
      /not a database/,
    ],
    'that of another program': [foreign('CREATE TABLE mine (a)'), /another program/],
    'that of a later version': [
      foreign('PRAGMA application_id = 1667330917; PRAGMA user_version = 999'),
      /later version of Casefile/,
    ],
  }
  for (const [name, [make, why]] of Object.entries(ways)) {
    await t.test(name, async (t) => {
      const folder = t.testdir({})
      make(join(folder, 'casefile.db'))
      const before = readFileSync(join(folder, 'casefile.db'))
      const { database, said } = await open(t, folder)
      t.same(readFileSync(join(folder, ASIDE)), before)
      t.match(said, [why])
      t.equal(database.setAside, said[0])
      put(database, 'a', 'b')
      await database.flushed()
      t.same(values(database), ['b'])
    })
  }
})

t.test('of an earlier build what is in no file stays, and the files are read again', async (t) => {
  const folder = t.testdir()
  const connection = connect(join(folder, 'casefile.db'))
  connection.exec(`
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    INSERT INTO meta VALUES ('cases', 'format'), ('workspace_problems', '[]');
    CREATE TABLE history_lines (case_id TEXT, line TEXT, PRIMARY KEY (case_id, line));
    INSERT INTO history_lines VALUES ('a', 'b');
    CREATE TABLE cases (n INTEGER PRIMARY KEY, id TEXT);
    INSERT INTO cases VALUES (1, 'a');
    CREATE VIRTUAL TABLE search_texts USING fts5 (title);
    CREATE VIRTUAL TABLE search_words USING fts5vocab (search_texts, 'row');
    CREATE TABLE webhooks (id TEXT PRIMARY KEY, registration TEXT NOT NULL, cursor INTEGER NOT NULL, failing TEXT);
    PRAGMA application_id = 1667330917; PRAGMA user_version = 6`)
  connection.close()
  const { database, said } = await open(t, folder)
  t.same(said, [])
  t.same(values(database), [])
  t.same(database.all('SELECT * FROM history_lines'), [{ case_id: 'a', line: 'b' }])
  t.same(database.all('SELECT id, listed FROM cases'), [])
  t.same(database.all('SELECT id, registration, failing FROM webhooks'), [])
  t.same(database.all('SELECT notes FROM search_texts'), [])
})

t.test('damage that is found while the service runs', async (t) => {
  const folder = t.testdir()
  const first = await open(t, folder)
  first.database.write((run) => {
    for (let n = 0; n < 2000; n++) run(PUT, `name ${n}`, 'x'.repeat(500))
  })
  await first.database.flushed()
  await first.database.close()
  const path = join(folder, 'casefile.db')
  const bytes = readFileSync(path)
  bytes.fill(0xff, 200_000) // behind the pages of the schema
  writeFileSync(path, bytes)

  const { database } = await open(t, folder)
  const damaged = { code: 'storage_failed', message: /damaged.*Restart the service/ }
  t.throws(() => values(database), damaged)
  await database.close()
  const next = await open(t, folder)
  t.match(next.said, [/found damaged while the service ran/])
  t.same(values(next.database), [])
  t.ok(existsSync(join(folder, ASIDE)))
  await next.database.close()
  t.same((await open(t, folder)).said, [], 'once')
})

t.test('a file that was cut short', async (t) => {
  const folder = t.testdir()
  const first = await open(t, folder)
  put(first.database, 'a', 'x'.repeat(50_000))
  await first.database.flushed()
  await first.database.close()
  truncateSync(join(folder, 'casefile.db'), 3000)
  const { database } = await open(t, folder)
  t.match(database.setAside, /could not be used/)
  put(database, 'a', 'b')
  await database.flushed()
  t.same(values(database), ['b'])
})

t.test('deleted or replaced while it is open: it is written again, whole', async (t) => {
  const ways: Record<string, (folder: string) => void> = {
    'the file is deleted': (folder) => rmSync(join(folder, 'casefile.db')),
    'all of it is deleted': (folder) => rmSync(folder, { recursive: true }),
    'the file is moved': (folder) =>
      renameSync(join(folder, 'casefile.db'), join(folder, 'moved.db')),
    'something else is in its place': (folder) => {
      writeFileSync(join(folder, 'new'), 'something else')
      renameSync(join(folder, 'new'), join(folder, 'casefile.db'))
    },
  }
  for (const [name, lose] of Object.entries(ways)) {
    await t.test(name, async (t) => {
      const folder = join(t.testdir({}), 'state')
      const { database, said } = await open(t, folder)
      put(database, 'a', 'before')
      await database.flushed()
      lose(folder)
      put(database, 'b', 'after')
      while ((await Promise.allSettled([database.flushed()]))[0].status === 'rejected') {
        t.match(database.failure, { message: /The state folder .* is gone/ })
        await delay(50)
      }
      t.same(values(database), ['before', 'after'])
      t.match(
        said.filter((line) => !/cannot be written|^casefile.db is written again/.test(line)),
        [/deleted or replaced.*written again/],
      )
      t.equal(rowsOnDisk(folder, 'SELECT * FROM meta').length, 2)
      put(database, 'c', 'later')
      await database.close()
      t.same(values((await open(t, folder)).database), ['before', 'after', 'later'])
    })
  }
})

t.test('a disk that fails: refused, kept, and written once it works again', async (t) => {
  const folder = t.testdir()
  const { database, said } = await open(t, folder)
  const undo = failCommits(folder)
  const logged: number[] = []
  for (const n of [1, 2]) {
    database.write(
      (run) => run(PUT, String(n), String(n)),
      () => void logged.push(n),
    )
  }
  await t.rejects(database.flushed(), { code: 'storage_failed', message: /database is locked/ })
  t.match(database.failure, { code: 'storage_failed' })
  t.same([logged, values(database)], [[], []])
  undo()
  put(database, '3', '3')
  await database.flushed()
  t.same([logged, values(database), database.failure], [[1, 2], ['1', '2', '3'], null])
  t.match(said, [/cannot be written/, /written again/])
})

t.test('a full disk: refused, kept, and written once there is room', async (t) => {
  const disk = smallDisk(t, '2m')
  if (!disk) return
  const folder = join(disk.folder, 'state')
  const { database, said } = await open(t, folder)
  for (let round = 1; round <= 3; round++) {
    put(database, `${round} fits`, 'x')
    await database.flushed()
    disk.fill()
    const before = values(database)
    for (let n = 0; n < 3; n++) put(database, `${round} ${n}`, 'x'.repeat(20_000))
    await t.rejects(database.flushed(), { code: 'storage_full', message: /Free space/ })
    t.same(values(database), before)
    const copy = join(t.testdirName, '..', `killed-${process.pid}-${round}`)
    t.teardown(() => rmSync(copy, { recursive: true, force: true }))
    copyTo(folder, copy)
    t.same(values((await open(t, copy)).database), before, 'as a kill would have left it')
    disk.free()
    put(database, `${round} more`, 'x')
    await database.flushed()
    t.equal(values(database).length, before.length + 4)
  }
  t.match(
    said,
    Array(3)
      .fill([/cannot be written.*full/, /written again/])
      .flat(),
  )

  t.test('closing says what could not be written', async (t) => {
    disk.fill()
    put(database, 'last', 'x'.repeat(20_000))
    await database.close()
    t.match(said.slice(-2), [/cannot be written/, /closed without 1 change/])
  })
})

t.test('what is deleted leaves no text in the file', async (t) => {
  const folder = t.testdir()
  const { database } = await open(t, folder)
  put(database, 'a', 'a secret of some length, '.repeat(500))
  await database.flushed()
  database.write((run) => run('DELETE FROM meta'))
  await database.close()
  t.notMatch(readFileSync(join(folder, 'casefile.db'), 'latin1'), /a secret/)
})

t.test('without SQLite the error says what to do', async (t) => {
  const { fork } = await import('node:child_process')
  const dir = t.testdir({
    'block.mjs': `import { Module } from 'node:module'
const { _resolveFilename } = Module
Module._resolveFilename = (name, ...rest) => {
  if (name.includes('sqlite')) throw new Error('not there')
  return _resolveFilename(name, ...rest)
}
process.getBuiltinModule = () => undefined
`,
  })
  const child = fork(built('test/fixtures/log-process.ts'), [join(dir, 'state')], {
    execArgv: [`--import=${join(dir, 'block.mjs')}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr!.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  t.equal(code, 1)
  t.match(said, /has no SQLite.*Use Node\.js 22\.13 or later/)
})
