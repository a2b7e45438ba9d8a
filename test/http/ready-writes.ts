import { createServer, type OutgoingHttpHeaders, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { readyWrites } from '../../src/http/ready-writes.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/** Whether a request is carried out at once, before an app that says `app` to all the rest. */
async function openReady(t: Test, app: TestService) {
  const server = createServer((incoming, outgoing) =>
    ready(incoming, outgoing, () => incoming.resume().on('end', () => outgoing.end('app'))),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const ready = readyWrites(app.service, () => port)
  t.teardown(() => server.close())
  const ask = (method: string, path: string, sent: string, more: Record<string, unknown> = {}) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const usual = { host: `localhost:${port}`, 'content-type': 'application/json' }
      const headers = {
        ...usual,
        'content-length': Buffer.byteLength(sent),
        ...more,
      } as OutgoingHttpHeaders
      const options = { port, host: '127.0.0.1', method, path, agent: false, headers }
      const asked = request(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      asked.on('error', reject)
      asked.end(sent)
    })
  return { ask, port }
}

t.test('a plain write is carried out before the app, every other request by it', async (t) => {
  const app = await openTestService(t)
  const { ask } = await openReady(t, app)
  const made = await ask('POST', '/cases', '{"title":"Größe","description":"ß"}')
  t.match(made, { status: 201, text: /"title":"Größe"/ })
  const { id } = JSON.parse(made.text)
  const path = `/cases/${id}`
  t.match(await ask('PUT', path, '{"title":"Länge"}'), { status: 200, text: /"title":"Länge"/ })
  t.match(await ask('PUT', path, '{"title":"Es"}', { 'sec-fetch-site': 'none' }), { status: 200 })

  const others: [string, string, Record<string, unknown>?][] = [
    ['DELETE', path],
    ['POST', path],
    ['PUT', '/cases'],
    ['PUT', `${path}/state`],
    ['PUT', `${path}?x=1`],
    ['PUT', path.toUpperCase()],
    ['PUT', '/cases/../../../../x'],
    ['PUT', path, { host: 'evil.com' }],
    ['PUT', path, { host: 'localhost:1' }],
    ['PUT', path, { origin: 'http://evil.com' }],
    ['PUT', path, { 'sec-fetch-site': 'cross-site' }],
    ['PUT', path, { 'if-match': '*' }],
    ['PUT', path, { 'if-none-match': '"x"' }],
    ['PUT', path, { 'content-type': 'text/plain' }],
    ['PUT', path, { 'content-type': 'application/json; charset=latin1' }],
    ['PUT', path, { 'content-encoding': 'gzip' }],
  ]
  const body = '{"title":"Never"}'
  for (const [method, asked, headers] of others) {
    const name = `${method} ${asked.replace(id, ':id')} ${JSON.stringify(headers ?? {})}`
    t.equal((await ask(method, asked, body, headers)).text, 'app', name)
  }
  const long = JSON.stringify({ description: 'x'.repeat(1024 * 1024) })
  t.equal((await ask('PUT', path, long)).text, 'app', 'a body that is too long')
  t.equal((await app.request('GET', path)).json.title, 'Es')
})

t.test('its answers and refusals are those of the app, header for header', async (t) => {
  const app = await openTestService(t)
  const [one, two] = [await app.newCase(), await app.newCase()]
  const text = 'Ein Stück „Text“ 🙂'
  const longWay = { 'if-match': '*' }
  const both = async (method: string, path: (id: string) => string, body: string | object) => {
    const replies = [
      await app.request(method, path(one.id), body, { 'content-type': 'application/json' }),
      await app.request(method, path(two.id), body, {
        ...{ 'content-type': 'application/json' },
        ...longWay,
      }),
    ].map(({ status, headers: { date: _, ...headers }, text }) => {
      const id = (headers.location ?? '').slice('/cases/'.length)
      const plain = [one.id, two.id, id || 'no id'].reduce(
        (said, each) => said.replaceAll(each, 'ID'),
        `${status} ${Object.entries({ ...headers, etag: /^"\w{32}"$/.test(headers.etag ?? '') }).sort()} ${text}`,
      )
      return plain.replaceAll(/"(created|updated)_at":"[^"]+"/g, '')
    })
    t.equal(replies[0], replies[1], `${method} ${JSON.stringify(body).slice(0, 60)}`)
    return replies[0]!
  }
  const put = (body: string | object) => both('PUT', (id) => `/cases/${id}`, body)
  const post = (body: string | object) => both('POST', () => '/cases', body)
  t.match(await post({ title: text, description: text, tags: ['a'] }), /^201 /)
  t.match(await put({ title: text, description: text }), /^200 /)
  t.match(await put({ title: text }), /^200 /, 'nothing is new')
  t.match(await put({ description: null, type: null, tags: null, outcome: null }), /^200 /)
  for (const body of [
    '',
    '[]',
    '{',
    '{"title":"\\ud800"}',
    '{}',
    '{"title":7}',
    '{"title":null}',
  ]) {
    t.match(await put(body), /^400 /)
    t.match(await post(body), /^400 /)
  }
  t.match(await put({ description: 'x'.repeat(250_000) }), /^413 /)
  t.match(
    await both('PUT', () => `/cases/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`, {
      title: 'x',
    }),
    /^404 /,
  )
})

t.test('its events are on the disk before the answer', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const before = app.service.eventLog.last
  await app.request('PUT', `/cases/${id}`, { title: 'Another' })
  const told: string[] = []
  for await (const { type } of app.service.eventLog.read(before)) told.push(type)
  t.strictSame(told, ['case_updated'])
})

t.test('a body that breaks off changes nothing', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: 'As it was' })
  const { ask, port } = await openReady(t, app)
  const head = `PUT /cases/${id} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Type: application/json\r\n`
  await new Promise<void>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.end(`${head}Content-Length: 40\r\n\r\n{"title":"Half"}`)
    })
    socket
      .resume()
      .on('error', () => {})
      .on('close', () => resolve())
  })
  t.match(await ask('PUT', `/cases/${id}`, '{"type":"bug"}'), { text: /"title":"As it was"/ })
})
