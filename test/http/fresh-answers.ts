import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { stolenTime } from '../fixtures/cpu-time.ts'
import { listen } from '../fixtures/published-events.ts'
import { openTestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)
await app.service.watched()

t.test('what a hand saved is in the next answer, and what it deleted is not', async (t) => {
  const cases = [await app.newCase(), await app.newCase()]
  for (let round = 0; round < 2; round++) {
    for (const { id } of cases) {
      const title = `Title ${round} ${id.slice(0, 4)}`
      const text = `---\nid: ${id}\ntitle: ${title}\n---\n\nText.\n`
      const file = app.file(id, 'case.md')
      if (round % 2 === 0) writeFileSync(file, text)
      else {
        writeFileSync(`${file}.tmp`, text)
        renameSync(`${file}.tmp`, file)
      }
      t.equal((await app.request('GET', `/cases/${id}`)).json.title, title)
      const list = await app.request('GET', '/cases')
      t.same(list.json.find((each: { id: string }) => each.id === id).title, title)
    }
  }
  const [gone] = cases
  rmSync(app.file(gone.id), { recursive: true })
  // an editor that deletes a file before it writes it anew is given a moment
  while ((await app.request('GET', `/cases/${gone.id}`)).status !== 404) await delay(10)
  t.equal((await app.request('GET', '/cases')).json.length, 1)
})

t.test('a memory file that is being saved is listed, and holds up no answer', async (t) => {
  const { id } = await app.newCase()
  const path = app.file(id, 'notes.md')
  const listed = async () =>
    (await app.request('GET', `/cases/${id}/memory`)).json.map(
      ({ filename, size }: Record<string, unknown>) => `${filename} ${size}`,
    )
  const published = listen(t, app)
  const events = () => published.history.filter(({ payload }) => payload.filename).length
  const steps: [string, () => void, RegExp | null][] = [
    ['made', () => writeFileSync(path, 'one'), /^notes.md 3$/],
    ['emptied', () => writeFileSync(path, ''), /^notes.md 0$/],
    ['deleted', () => rmSync(path), null],
  ]
  for (const [name, step, expected] of steps) {
    const before = events()
    const stolen = stolenTime(t)
    step()
    const paths = ['/health', '/cases', `/cases/${id}`, '/search?q=one', `/cases/${id}/history`]
    for (const path of paths) t.equal((await app.request('GET', path)).status, 200, path)
    const names = await listed()
    t.equal(names.filter((each: string) => expected?.test(each)).length, expected ? 1 : 0, name)
    t.equal((await app.request('PUT', `/cases/${id}`, { title: name })).status, 200)
    if (stolen() < 300) t.equal(events(), before, `${name}, which has no event yet`)
    while (events() === before) await delay(10)
  }
})

t.test('a list has what is there now, newest first, however it came to be', async (t) => {
  const { catalog } = app.service
  const cases = await Promise.all(Array.from({ length: 4 }, () => app.newCase()))
  const write = (id: string, created: string, title: string) =>
    writeFileSync(
      app.file(id, 'case.md'),
      `---\nid: ${id}\ntitle: ${title}\ncreated_at: ${created}\n---\n\nText.\n`,
    )
  const [a, b, c, d] = cases.map(({ id }) => id) as [string, string, string, string]
  const steps: [string, () => unknown][] = [
    ['nothing changed', () => {}],
    ['one title', () => app.request('PUT', `/cases/${a}`, { title: 'A' })],
    [
      'two titles, one of them twice',
      async () => {
        for (const id of [a, b, a]) await app.request('PUT', `/cases/${id}`, { title: `of ${id}` })
      },
    ],
    ['one that is older now', () => write(c, '2020-01-01T00:00:00.000Z', 'C')],
    ['one that is newer, and a title', () => [write(c, '2030-01-01', 'C2'), write(d, '2029', 'D')]],
    ['one more', () => app.newCase()],
    ['one less', () => rmSync(app.file(b), { recursive: true })],
    [
      'more changes than are kept in mind',
      () => {
        for (let change = 0; change < 5000; change++) catalog.invalidate(a)
      },
    ],
  ]
  for (const [name, step] of steps) {
    await step()
    await app.request('GET', '/cases')
    while (name === 'one less' && catalog.has(b)) await delay(10)
    const list = await app.request('GET', '/cases')
    const cases = catalog.ids().map((id) => JSON.parse(catalog.json(id)!))
    cases.sort((x, y) =>
      x.created_at < y.created_at || (x.created_at === y.created_at && x.id > y.id) ? 1 : -1,
    )
    t.equal(list.text, `${JSON.stringify(cases)}\n`, name)
    const pages = await Promise.all(
      ['/cases?limit=1000', '/cases?state=OPEN'].map((path) => app.request('GET', path)),
    )
    for (const page of pages) t.equal(page.text, list.text, `${name}, as a page and filtered`)
  }
})
