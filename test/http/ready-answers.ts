import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { ListBlocks } from '../../src/http/list-blocks.ts'
import { readyAnswers } from '../../src/http/ready-answers.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

interface Answer {
  status: number
  headers: Record<string, unknown>
  text: string
}

/** The answers to plain reads alone, before an app that says `app` to all the rest. */
async function openReady(t: Test, app: TestService) {
  const server = createServer((incoming, outgoing) =>
    ready(incoming, outgoing, () => outgoing.end('app')),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ready = readyAnswers(app.service, () => port)
  t.teardown(() => server.close())
  return (method: string, path: string, headers: Record<string, string | string[]> = {}) =>
    new Promise<Answer>((resolve, reject) => {
      const host = { host: `localhost:${port}` }
      const options = { port, host: '127.0.0.1', method, path, agent: false }
      const sent = request({ ...options, headers: { ...host, ...headers } }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('error', reject)
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      sent.on('error', reject)
      sent.end()
    })
}

t.test('a plain read is answered before the app, every other request by it', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'Größe', description: 'ß' })
  await app.service.watched
  const ask = await openReady(t, app)
  const path = `/cases/${id}`

  const one = await ask('GET', path)
  t.match(one, { status: 200, text: /"title":"Größe"/ })
  const all = await ask('GET', '/cases')
  t.equal(all.text, `[${one.text.trimEnd()}]\n`)
  for (const [asked, { headers }] of [[path, one] as const, ['/cases', all] as const]) {
    const etag = String(headers.etag)
    for (const held of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const same = await ask('GET', asked, { 'if-none-match': held })
      t.match(same, { status: 304, text: '', headers: { etag, 'cache-control': 'no-cache' } })
      t.equal(same.headers['content-type'], undefined)
    }
    t.match(await ask('GET', asked, { 'if-none-match': '"x"' }), { status: 200 })
  }
  t.match(await ask('GET', path, { 'sec-fetch-site': 'same-origin' }), { status: 200, text: /^\{/ })

  const others: [string, string, Record<string, string | string[]>?][] = [
    ['HEAD', path],
    ['PUT', path],
    ['GET', `${path}?x=1`],
    ['GET', `${path}/`],
    ['GET', path.toUpperCase()],
    ['GET', `/cases/${'0'.repeat(36)}`],
    ['GET', `/cases/../${id.slice(3)}`],
    ['GET', '/cases?limit=1'],
    ['GET', '/cases/'],
    ['GET', path, { host: 'evil.com' }],
    ['GET', path, { host: 'localhost:1' }],
    ['GET', path, { origin: 'http://evil.com' }],
    ['GET', '/cases', { 'sec-fetch-site': 'cross-site' }],
    ['GET', '/cases', { 'sec-fetch-site': 'same-site' }],
    ['GET', path, { 'content-length': '0' }],
    ['GET', path, { range: 'bytes=0-1' }],
    ['GET', path, { 'if-none-match': ['"a"', '"b"'] }],
  ]
  for (const [method, asked, headers] of others) {
    const name = `${method} ${asked.replace(id, ':id')} ${JSON.stringify(headers ?? {})}`
    const { text } = await ask(method, asked, headers)
    t.equal(text, method === 'HEAD' ? '' : 'app', name)
  }
  const { headers } = await ask('HEAD', path)
  t.equal(headers.etag, undefined)
})

t.test('its answers are those of the app, header for header', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ description: 'Ein Stück „Text“ 🙂' })
  const longWay = { range: 'bytes=0-' }
  for (const path of [`/cases/${id}`, '/cases']) {
    const [ready, asked] = [
      await app.request('GET', path),
      await app.request('GET', path, undefined, longWay),
    ]
    const { date: _, ...headers } = ready.headers
    const { date: __, ...expected } = asked.headers
    t.strictSame(headers, expected)
    t.ok(ready.bytes.equals(asked.bytes))
    t.equal(headers['content-length'], String(ready.bytes.length))
    const held = { 'if-none-match': String(headers.etag) }
    const none = await app.request('GET', path, undefined, held)
    const noneAsked = await app.request('GET', path, undefined, { ...held, ...longWay })
    t.match([none.status, noneAsked.status], [304, 304])
    t.strictSame({ ...none.headers, date: '' }, { ...noneAsked.headers, date: '' })
    const head = await app.request('HEAD', path)
    t.match(head, { status: 200, text: '', headers: { etag: headers.etag } })
  }
})

t.test('so is the health, and it needs no app', async (t) => {
  const app = await openTestService(t)
  await app.service.watched
  const ready = await app.request('GET', '/health')
  const asked = await app.request('GET', '/health', undefined, { range: 'bytes=0-' })
  const { date: _, ...headers } = ready.headers
  const { date: __, ...expected } = asked.headers
  t.strictSame(headers, expected)
  t.equal(ready.text, asked.text)
  const alone = await (await openReady(t, app))('GET', '/health')
  t.match(JSON.parse(alone.text), { status: 'ok', watching: 'ok' })
})

t.test('what a hand saved is in the next answer, and what it deleted is not', async (t) => {
  const app = await openTestService(t)
  await app.service.watched
  const cases = [await app.newCase(), await app.newCase()]
  for (let round = 0; round < 10; round++) {
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
  while ((await app.request('GET', `/cases/${gone.id}`)).status !== 404);
  t.equal((await app.request('GET', '/cases')).json.length, 1)
})

t.test('a list has what is there now, newest first, however it came to be', async (t) => {
  const app = await openTestService(t)
  await app.service.watched
  const { catalog } = app.service
  const cases = await Promise.all(Array.from({ length: 8 }, () => app.newCase()))
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
        for (let change = 0; change < 5000; change++) catalog.touch(a)
      },
    ],
  ]
  for (const [name, step] of steps) {
    await step()
    await app.request('GET', '/cases')
    while (name === 'one less' && catalog.has(b)) await app.request('GET', '/cases')
    const list = await app.request('GET', '/cases')
    const rows = catalog.ids().map((id) => catalog.digest(id)!)
    rows.sort((x, y) =>
      x.created_at < y.created_at || (x.created_at === y.created_at && x.id > y.id) ? 1 : -1,
    )
    t.equal(list.text, `[${rows.map(({ json }) => json).join(',')}]\n`, name)
  }
})

t.test('a list in blocks is the JSON of the whole, whatever came before', async (t) => {
  const row = (number: number, version = 0) => ({
    json: JSON.stringify({ number, version, text: 'ü' }),
    id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
  })
  const textOf = (list: ListBlocks) => {
    const { parts, length } = list.bytes()
    t.equal(Buffer.concat(parts).length, length)
    return Buffer.concat(parts).toString()
  }
  const fresh = (rows: ReturnType<typeof row>[]) => {
    const list = new ListBlocks()
    list.set(rows)
    return list
  }
  const list = new ListBlocks()
  list.set([])
  t.equal(textOf(list), '[]\n')
  let rows = Array.from({ length: 1000 }, (_, number) => row(number))
  for (const change of [
    () => rows,
    () => rows.with(500, row(500, 1)),
    () => rows.toSpliced(0, 1),
    () => rows.toSpliced(700, 0, row(5000)),
    () => [row(6000), ...rows],
    () => rows.slice(0, 1),
    () => rows.slice(1),
  ]) {
    rows = change()
    list.set(rows)
    t.equal(textOf(list), `[${rows.map(({ json }) => json).join(',')}]\n`)
    t.equal(list.bytes().etag, fresh(rows).bytes().etag)
    const text = textOf(list)
    list.forgetBytes()
    t.equal(textOf(list), text)
  }
  const many = Array.from({ length: 1000 }, (_, number) => row(number))
  const replaced = fresh(many)
  for (const [round, places] of [[0], [500, 501, 502], [999, 0], [500]].entries()) {
    if (round !== 2) textOf(replaced)
    for (const at of places) {
      many[at] = row(at, round + 2)
      replaced.replace(at, many[at])
    }
    if (round === 1) continue // what is asked for after the next round has changed twice
    t.equal(textOf(replaced), `[${many.map(({ json }) => json).join(',')}]\n`)
    t.equal(replaced.bytes().etag, fresh(many).bytes().etag)
  }
  const kept = fresh(many)
  const pieces = new Set(kept.bytes().parts)
  kept.set(many.with(500, row(500, 1)))
  const made = kept
    .bytes()
    .parts.slice(2)
    .filter((part) => !pieces.has(part))
  t.ok(pieces.size > 4 && made.length === 1, 'one change makes one block anew')
  t.not(kept.bytes().etag, fresh(many).bytes().etag)
})
