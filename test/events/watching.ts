// The service sees what happens in the folders of cases by watches alone, whatever takes the place of what.
import { randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { trust } from '../../src/trust/trust-command.ts'
import { stolenTime } from '../fixtures/cpu-time.ts'
import { listen } from '../fixtures/published-events.ts'
import { watchesOf } from '../fixtures/watches-of.ts'
import { openTestService } from '../fixtures/workspace.ts'

const caseMd = (title: string) => `---\ntitle: ${title}\n---\n`

/** Cases that are watched; what is told comes from the watches, as nothing else asks for the files. */
async function watched(t: Test, titles: string[]) {
  const ids = titles.map(() => randomUUID())
  const cases = Object.fromEntries(
    ids.map((id, n) => [id, { 'case.md': caseMd(titles[n]!), sessions: {}, proof: {} }]),
  )
  const app = await openTestService(t, {
    files: { memory: { cases }, outside: { 'case.md': caseMd('Outside') } },
  })
  await app.service.watched()
  const published = listen(t, app)
  const seen = (type: string, id: string) =>
    published.next(({ event_type, payload }) => event_type === type && payload.case_id === id)
  /** Saves files of a case in turn until each is told. */
  const isHeard = async (id: string, name = 'notes.md') => {
    const found = published.next(
      ({ payload }) => payload.case_id === id && payload.filename === name,
    )
    writeFileSync(app.file(id, name), `${randomUUID()}\n`)
    await found
    await published.newEvents()
  }
  return { app, ids, published, seen, isHeard }
}

const proof = '---\ntype: log\n---\n\n```text\nx\n```\n'

t.test('folders that come, go, are moved and change places are followed', async (t) => {
  const { app, ids, published, seen, isHeard } = await watched(t, ['One', 'Two', 'Three'])
  const [one, two, three] = ids as [string, string, string]
  for (const id of ids) await isHeard(id)

  const came = randomUUID()
  mkdirSync(app.file(came))
  writeFileSync(app.file(came, 'case.md'), caseMd('Came'))
  await seen('case_created', came)
  await isHeard(came)
  mkdirSync(app.file(came, 'proof'))
  const ofProof = published.next(({ event_type }) => event_type === 'proof_created')
  writeFileSync(app.file(came, 'proof', `${randomUUID()}.md`), proof)
  await ofProof

  // the same name, another folder: moved away and back, made again, another in its place
  renameSync(app.file(one), app.file('away'))
  renameSync(app.file('away'), app.file(one))
  await isHeard(one)
  rmSync(app.file(one, 'proof'), { recursive: true })
  mkdirSync(app.file(one, 'proof'))
  const again = published.next(({ event_type }) => event_type === 'proof_created')
  writeFileSync(app.file(one, 'proof', `${randomUUID()}.md`), proof)
  await again
  renameSync(app.file(one), app.file('aside'))
  renameSync(app.file(two), app.file(one))
  renameSync(app.file('aside'), app.file(two))
  await seen('case_updated', one)
  await isHeard(one, 'swapped.md')
  await isHeard(two, 'swapped.md')
  t.match((await app.request('GET', `/cases/${one}`)).json, { title: 'Two' })

  const renamed = randomUUID()
  renameSync(app.file(three), app.file(renamed))
  await Promise.all([seen('case_deleted', three), seen('case_created', renamed)])
  await isHeard(renamed)
  t.equal((await app.request('GET', `/cases/${three}`)).status, 404)
  rmSync(app.file(renamed), { recursive: true })
  await seen('case_deleted', renamed)
  t.equal((await app.request('GET', '/health')).json.cases, 3)
})

t.test('problems beside the cases are told without a request, or with one', async (t) => {
  const { app, published } = await watched(t, [])
  const told = (type: string, code: string, file: string) =>
    published.next(
      ({ event_type, payload }) =>
        event_type === `problem_${type}` && payload.code === code && payload.file === file,
    )
  const settings = join(app.root, 'casefile.md')
  writeFileSync(settings, '---\ncolour: red\n---\n')
  await told('found', 'bad_settings', 'casefile.md')
  writeFileSync(settings, '---\nenv: [TOKEN]\n---\n')
  await told('cleared', 'bad_settings', 'casefile.md')
  await told('found', 'untrusted_settings', 'casefile.md')
  const { root, stateDir } = app
  await trust({ root, stateDir, yes: true }, { print() {}, warn() {}, ask: null })
  t.same((await app.request('GET', '/health')).json.problems, [])
  await told('cleared', 'untrusted_settings', 'casefile.md')
  writeFileSync(app.file('nobody'), '')
  await told('found', 'bad_name', 'cases/nobody')
  rmSync(app.file('nobody'))
  await told('cleared', 'bad_name', 'cases/nobody')
})

const onLinux = { skip: process.platform !== 'linux' && 'only Linux says what is watched' }
t.test('each folder of cases is watched once, and none behind a link', onLinux, async (t) => {
  const before = watchesOf(process.pid)
  const { app, ids } = await watched(t, ['One', 'Two'])
  const [one, two] = ids as [string, string]
  const count = () => watchesOf(process.pid) - before
  const first = count()
  t.ok(first >= 7, `the folder of cases, and three of each: ${first}`)
  const becomes = async (expected: number) => {
    for (let n = 0; n < 3000 && count() !== expected; n++) await delay(10)
    t.equal(count(), expected)
  }
  await app.service.refresher.rescan()
  t.equal(count(), first, 'a rescan sets none again')
  rmSync(app.file(one, 'proof'), { recursive: true })
  symlinkSync(join(app.root, 'outside'), app.file(one, 'proof'))
  await becomes(first - 1)
  mkdirSync(app.file(one, 'artifacts'))
  mkdirSync(app.file(one, 'more'))
  const id = randomUUID()
  symlinkSync(join(app.root, 'outside'), app.file(id))
  await app.service.refresher.rescan()
  await becomes(first - 1)
  t.equal((await app.request('GET', `/cases/${id}`)).status, 404)
  t.match((await app.request('GET', '/health')).json.problems, [
    { code: 'bad_name', file: `cases/${id}` },
  ])
  rmSync(app.file(two), { recursive: true })
  await becomes(first - 4)
  await app.close()
  await becomes(0)
})

t.test('a service that closes while it sets its watches leaves none', onLinux, async (t) => {
  const before = watchesOf(process.pid)
  const ids = Array.from({ length: 60 }, () => randomUUID())
  const cases = Object.fromEntries(ids.map((id) => [id, { 'case.md': caseMd('A'), proof: {} }]))
  const app = await openTestService(t, { files: { memory: { cases } } })
  await app.close()
  t.equal(watchesOf(process.pid), before)
})

t.test('a folder of cases that goes is missed, and watched again when it is back', async (t) => {
  const { app, ids, isHeard } = await watched(t, ['One', 'Two'])
  const [one] = ids as [string]
  const health = async (watching: string) => {
    for (;;) {
      const { json } = await app.request('GET', '/health')
      if (json.watching === watching) return json
      await delay(20)
    }
  }
  renameSync(join(app.memory, 'cases'), join(app.memory, 'away'))
  await health('degraded')
  renameSync(join(app.memory, 'away'), join(app.memory, 'cases'))
  await health('ok')
  await isHeard(one)

  const published = listen(t, app)
  const stolen = stolenTime(t)
  renameSync(join(app.memory, 'cases'), join(app.memory, 'away'))
  mkdirSync(join(app.memory, 'cases'))
  for (const id of ids) {
    await published.newEvents()
    cpSync(join(app.memory, 'away', id), app.file(id), { recursive: true })
  }
  const words = await published.newWords()
  if (stolen() < 300) t.strictSame(words, [], 'a copy in its place')
  rmSync(app.file(one), { recursive: true })
  t.strictSame(await published.newWords(), ['case_deleted'])
  t.equal((await app.request('GET', '/cases')).json.length, 1)
})
