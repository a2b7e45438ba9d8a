import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { FoundCaseJson } from '../../src/http/schemas/search.ts'
import { startBuilt } from '../fixtures/built-service.ts'
import { inLongLane } from '../fixtures/full.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
const file = join(app.stateDir, 'casefile.db')
const find = async (q: string): Promise<FoundCaseJson[]> =>
  (await app.request('GET', `/search?q=${encodeURIComponent(q)}`)).json
const titles = async (q: string) => (await find(q)).map(({ title }) => title)

t.test(
  'the index is made again when the database is lost, and follows what changed meanwhile',
  inLongLane,
  async (t) => {
    const one = await app.newCase({
      title: 'Login fails',
      description: 'Since noon the pool is exhausted.',
    })
    await app.newCase({ title: 'Login is slow', description: 'The pool has one connection.' })
    const answers = async () => JSON.stringify([await find('login pool'), await find('conection')])
    const before = await answers()
    const spoil: Record<string, () => void> = {
      lost: () => rmSync(file),
      torn: () => truncateSync(file, 5000),
      'of another program': () => writeFileSync(file, 'SQLite format 4'),
    }
    for (const [how, change] of Object.entries(spoil)) {
      await app.close()
      change()
      await app.restart()
      t.equal(await answers(), before, how)
    }
    await app.close()
    writeFileSync(app.file(one.id, 'notes.md'), 'kumquat\n')
    mkdirSync(join(app.stateDir, 'search'))
    writeFileSync(join(app.stateDir, 'search', 'index'), 'of a version before')
    await app.restart()
    t.strictSame(await titles('kumquat'), ['Login fails'])
    t.notOk(readdirSync(app.stateDir).includes('search'))
  },
)

t.test('killed while it indexes, the next start goes on where it ended', inLongLane, async (t) => {
  t.teardown(() => {}) // tap removes the testdir before all handlers, but for one that was there first
  const dir = t.testdir({ root: {}, state: {} })
  const cases = join(dir, 'root', 'memory', 'cases')
  const count = 600
  for (let n = 0; n < count; n++) {
    const id = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    const head = `---\nid: ${id}\ntitle: Case ${n}\ntype: bug\nstate: OPEN\ncreated_at: 2026-01-01T00:00:00.000Z\nupdated_at: 2026-01-01T00:00:00.000Z\n---\n`
    mkdirSync(join(cases, id), { recursive: true })
    writeFileSync(
      join(cases, id, 'case.md'),
      `${head}\nThe pool w${n} of ${n % 7} connections is exhausted.\n`,
    )
  }
  const service = await startBuilt(t, { root: join(dir, 'root'), stateDir: join(dir, 'state') })
  const total = async (q: string) =>
    (await fetch(`${service.url}/search?q=${q}&limit=1`)).headers.get('x-total-count')
  const asked = total('pool').catch(() => {}) // indexes now
  await delay(300)
  await service.stop('SIGKILL')
  await asked
  await service.restart()
  t.equal(await total('pool'), String(count))
  t.equal(await total('w599'), '1')
  await service.stop()
})
