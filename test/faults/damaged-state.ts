import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { must } from '../fixtures/session-client.ts'
import { rowsOnDisk } from '../fixtures/state-rows.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** More than SQLite keeps in memory: each with a text of its own. */
const CASES = 24
const LARGE = 'x'.repeat(200_000)

function damage(stateDir: string): void {
  for (const name of ['casefile.db', 'casefile.db-wal']) {
    const path = join(stateDir, name)
    if (!existsSync(path)) continue
    const bytes = readFileSync(path)
    bytes.fill(0xff, 4096)
    writeFileSync(path, bytes) // in place: the service has this file open
  }
}

t.test(
  'a database that is damaged while the service runs is named in /health',
  inLongLane,
  async (t) => {
    const app = await openTestService(t)
    const ids: string[] = []
    for (let n = 0; n < CASES; n++) {
      const { id } = await app.newCase({ title: `Case ${n}`, description: LARGE })
      ids.push(id)
    }
    await app.restart() // so that their values are in the database alone
    t.equal((await app.request('GET', `/cases/${ids[0]}`)).json.title, 'Case 0')
    t.strictSame((await app.request('GET', '/health')).json.problems, [])
    damage(app.stateDir)

    const replies = [await app.request('GET', '/search?q=case')]
    for (const id of ids.slice(1)) replies.push(await app.request('GET', `/cases/${id}`))
    const refused = replies.filter(({ status }) => status !== 200)
    t.ok(refused.length > 0, 'what is not in memory cannot be read')
    for (const { json } of refused) {
      t.match(json, { code: 'storage_failed', detail: /damaged.*Restart the service/ })
    }
    const health = await app.request('GET', '/health')
    t.match(health.json.problems, [
      {
        code: 'state_damaged',
        file: 'casefile.db',
        message: /damaged.*Restart the service.*Nothing about a case is lost/,
      },
    ])
    t.equal((await app.request('GET', `/cases/${ids[0]}`)).json.title, 'Case 0', 'this one is')
    const file = await app.request('GET', `/cases/${ids[0]}/memory/case.md`)
    t.match(file.text, 'Case 0', 'and files are read as before')

    await app.restart()
    t.match((await app.request('GET', '/health')).json.problems, [{ code: 'state_reset' }])
    t.equal((await app.request('GET', '/cases')).json.length, CASES)
    for (const [n, id] of ids.entries()) {
      t.equal((await app.request('GET', `/cases/${id}`)).json.title, `Case ${n}`)
    }
  },
)

t.test('a note of damage costs nothing if the file is intact', async (t) => {
  const app = await openTestService(t)
  await app.newCase({ title: 'A case' })
  const hook = { url: 'http://127.0.0.1:1234/', events: ['proof_created'], secret: 's' }
  const { id } = await must(app, 'POST', '/webhooks', hook)
  const told = () => rowsOnDisk(app.stateDir, 'SELECT * FROM events')
  const before = told()
  t.ok(before.length > 0)
  writeFileSync(join(app.stateDir, 'casefile.db.damaged'), 'database disk image is malformed\n')
  await app.restart()
  t.notOk(existsSync(join(app.stateDir, 'casefile.db.damaged')))
  t.strictSame((await app.request('GET', '/health')).json.problems, [])
  t.match((await app.request('GET', '/webhooks')).json, [{ id }])
  t.strictSame(told().slice(0, before.length), before)
})
