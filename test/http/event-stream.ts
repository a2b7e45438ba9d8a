import { once } from 'node:events'
import { type IncomingMessage, request as nodeRequest } from 'node:http'
import { mock } from 'node:test'
import { Hono } from 'hono'
import t, { type Test } from 'tap'
import type { LogEvent } from '../../src/events/event-log.ts'
import type { ServiceContext, ServiceEnv } from '../../src/http/context.ts'
import type { EndpointDeps } from '../../src/http/endpoint.ts'
import { originCheck } from '../../src/http/middleware/origin-check.ts'
import { requestListener } from '../../src/http/request-listener.ts'
import { streamEvents } from '../../src/http/routes/events.ts'
import { listen } from '../../src/http/server.ts'
import { createBroadcast } from '../../src/http/sse/broadcast.ts'
import {
  type EventStream,
  type EventStreamOptions,
  openEventStream,
  readResumePoint,
} from '../../src/http/sse/event-stream.ts'
import { createEventQueue } from '../../src/http/sse/session-stream.ts'
import { createStreamRegistry } from '../../src/http/sse/stream-registry.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import { connect } from '../fixtures/event-source.ts'
import { inLongLane } from '../fixtures/full.ts'
import { SESSION, TRAIL } from '../fixtures/records.ts'

const MIB = 1024 * 1024

/** A service with one stream route; `opened` gives each stream in the order of its clients. */
async function serveStreams(
  t: Test,
  options: EventStreamOptions | ((c: ServiceContext) => Response) = {},
) {
  const waiting: ((stream: EventStream) => void)[] = []
  const app = new Hono<ServiceEnv>()
  let port = 0
  app.use(originCheck(() => port))
  app.get('/events', (c) => {
    if (typeof options === 'function') return options(c)
    const stream = openEventStream(c, options)
    waiting.shift()?.(stream)
    return stream.response
  })
  const server = await listen(
    requestListener(app.fetch, (line) => t.fail(line)),
    { port: 0, log: (line) => t.fail(line) },
  )
  port = server.port
  t.teardown(() => server.close())
  const url = `${server.url}/events`
  const open = async () => {
    const opened = new Promise<EventStream>((resolve) => waiting.push(resolve))
    const client = await connect(url)
    t.teardown(() => client.close())
    return { client, stream: await opened }
  }
  /** The bytes themselves, for another reader of them. */
  const openRaw = async () => {
    const opened = new Promise<EventStream>((resolve) => waiting.push(resolve))
    const request = nodeRequest(url, { agent: false }).end()
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    for (const each of [request, response]) each.on('error', () => {}) // it is cut in the end
    t.teardown(() => request.destroy())
    return { response, stream: await opened }
  }
  return { url, open, openRaw }
}

t.test('a stream starts at once, with its headers and one retry', async (t) => {
  const { open } = await serveStreams(t)
  const { client, stream } = await open()
  t.equal(client.status, 200)
  t.match(client.headers, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache, no-transform',
    'x-accel-buffering': 'no',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  })
  stream.send({ event: 'first', data: '{}', id: 7 })
  t.same(await client.next(), { event: 'first', data: '{}', id: '7' })
  t.same(client.retries, [3000])
})

const texts: Record<string, string> = {
  'a line feed': 'a\nb',
  'a carriage return': 'a\rb',
  both: 'a\r\nb\r\n\r\nc',
  'an event inside': 'a\n\nevent: x\ndata: y',
  'a leading space': ' a',
  'a line separator': 'a\u2028b',
  'fields of an event': 'data: \n: no\n\nid: 9\nretry: 1\n\n\ufeff\0',
  nothing: '',
  'a megabyte': 'é'.repeat(MIB / 2),
}

t.test('data of any kind is one event', async (t) => {
  const { open } = await serveStreams(t)
  const { client, stream } = await open()
  for (const [name, data] of Object.entries(texts)) {
    stream.send({ event: 'text', data })
    const event = await client.next()
    t.ok(event.data === data.replace(/\r\n?/g, '\n'), name)
    t.equal(event.event, 'text')
  }
})

t.test('an event name or id of two lines is a mistake of ours', async (t) => {
  const { open } = await serveStreams(t)
  const { stream } = await open()
  for (const bad of ['a\nb', 'a\rb', 'a\0b']) {
    t.throws(() => stream.send({ event: bad, data: '' }), TypeError)
    t.throws(() => stream.send({ event: 'a', data: '', id: bad }), TypeError)
  }
})

t.test('a ping comes every 15 s', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.teardown(() => mock.timers.reset())
  const { open } = await serveStreams(t)
  const { client } = await open()
  for (let n = 1; n <= 2; n++) {
    mock.timers.tick(14_999)
    t.equal(client.received.length, n - 1, 'not before')
    mock.timers.tick(1)
    t.match(await client.next(), {
      event: 'ping',
      id: undefined,
      data: /"timestamp":".*Z","payload":\{\}/,
    })
  }
})

t.test('onClose runs once', async (t) => {
  const registry = createStreamRegistry()
  let closes = 0
  const closed: (() => void)[] = []
  const onClose = () => {
    closes++
    closed.shift()?.()
  }
  const { url, open } = await serveStreams(t, { registry, onClose, maxUnsentBytes: 1000 })
  const nextClose = () => new Promise<void>((resolve) => closed.push(resolve))

  await t.test('when the service ends the stream', async (t) => {
    const { client, stream } = await open()
    t.equal(registry.size, 1)
    stream.send({ event: 'last', data: '' })
    stream.end()
    stream.end()
    t.equal(await client.closed, 'ended')
    t.match(await client.next(), { event: 'last' })
    t.equal(stream.send({ event: 'late', data: '' }), false)
    t.equal(await stream.drained(), false)
    t.equal(closes, 1)
  })

  await t.test('when the client goes away', async (t) => {
    const { client, stream } = await open()
    const close = nextClose()
    client.close()
    await close
    t.equal(stream.isOpen, false)
    t.equal(stream.send({ event: 'late', data: '' }), false)
    t.equal(closes, 2)
  })

  await t.test('for a HEAD request, which gets the headers only', async (t) => {
    const response = await new Promise<import('node:http').IncomingMessage>((resolve) => {
      nodeRequest(url, { method: 'HEAD', agent: false }, resolve).end()
    })
    response.resume()
    t.equal(response.statusCode, 200)
    t.equal(response.headers['content-type'], 'text/event-stream')
    t.equal(closes, 3)
  })
  t.equal(registry.size, 0)
})

t.test('a client that does not read is dropped, and delays nobody', inLongLane, async (t) => {
  const { open } = await serveStreams(t, { maxUnsentBytes: 100_000 })
  const idle = await open()
  const eager = await open()
  idle.client.pause()
  const data = 'x'.repeat(10_000)
  let sent = 0
  while (idle.stream.isOpen && sent < 5000) {
    sent++
    idle.stream.send({ event: 'e', data, id: sent })
    t.equal(eager.stream.send({ event: 'e', data, id: sent }), true)
    await eager.client.next(({ id }) => id === String(sent))
  }
  t.equal(idle.stream.isOpen, false)
  t.ok(sent < 5000, `dropped after ${sent}`)
  t.equal(eager.client.received.length, sent)
  idle.client.resume()
  t.equal(await idle.client.closed, 'cut')
})

t.test('a burst within one tick does not count as not reading', async (t) => {
  const { open } = await serveStreams(t, { maxUnsentBytes: 50_000 })
  const { client, stream } = await open()
  for (let id = 1; id <= 20; id++) stream.send({ event: 'e', data: 'x'.repeat(10_000), id })
  t.equal((await client.next(({ id }) => id === '20')).id, '20')
})

t.test('a client that stops reading in a replay is dropped', async (t) => {
  const { open } = await serveStreams(t, { drainMs: 100, maxUnsentBytes: 100 * MIB })
  const { client, stream } = await open()
  client.pause()
  while (await stream.drained()) stream.send({ event: 'part', data: 'x'.repeat(MIB) })
  t.equal(stream.isOpen, false)
  client.resume()
  t.equal(await client.closed, 'cut')
})

const OUTPUT = {
  case_id: '',
  session_id: '',
  step: 's',
  stream: 'stdout',
  artifact: '1-s.log',
  offset: 0,
  text: 'x',
  time: '',
} as const

t.test(
  'what waits for a slow client comes in order, the trail from the newest session',
  async (t) => {
    const sent: string[] = []
    let letGo = () => {}
    const drained = new Promise<boolean>((resolve) => {
      letGo = () => resolve(true)
    })
    const ended = new Promise<void>((resolve) => {
      const feed = createEventQueue(
        {
          isOpen: true,
          send: (...events) => sent.push(...events.map(({ event, id }) => `${id ?? event}`)) > 0,
          drained: () => drained,
          end: resolve,
          drop: () => t.fail('dropped'),
        },
        0,
        (_, line) => line,
      )
      const lines = ['a', 'b', 'c', 'd'].map(
        (event, index) => ({ ...TRAIL[0]!, event, number: index + 1 }) as TrailLine,
      )
      const output = OUTPUT
      feed({ session: { ...SESSION, trail: lines.slice(0, 1) } })
      feed({ session: { ...SESSION, trail: lines.slice(0, 2) } })
      feed({ output })
      feed({ session: { ...SESSION, trail: lines.slice(0, 3) } })
      feed({ session: { ...SESSION, trail: lines, state: 'complete' } })
      letGo()
    })
    await ended
    t.strictSame(sent, ['1', '2', 'session_output', '3', '4'])
  },
)

t.test('what waits for a slow client has an end: more than 1 MiB of output drops it', async (t) => {
  const calls: string[] = []
  const feed = createEventQueue(
    {
      isOpen: true,
      send: () => true,
      drained: () => new Promise(() => {}),
      end: () => calls.push('end'),
      drop: () => calls.push('drop'),
    },
    0,
    (_, line) => line,
  )
  feed({ session: { ...SESSION, trail: TRAIL.slice(0, 1) } })
  const output = { ...OUTPUT, text: 'x'.repeat(MIB / 4) }
  for (let count = 0; count < 4; count++) feed({ output })
  t.strictSame(calls, [])
  feed({ output })
  t.strictSame(calls, ['drop'])
})

t.test('who reads nothing of a replay is dropped once 10,000 events wait for him', async (t) => {
  let publish: (event: LogEvent) => void = () => {}
  const needs = {
    log: t.fail,
    now: () => '',
    outputs: { subscribe: () => () => {} },
    eventLog: {
      first: 1,
      last: 1,
      nameOf: String,
      subscribe(listener: typeof publish) {
        publish = listener
        return () => {}
      },
      async *read() {
        await new Promise(() => {})
        yield* []
      },
    },
  } as unknown as EndpointDeps
  const streams = createStreamRegistry()
  const service = { ...needs, streams, broadcast: createBroadcast(needs.eventLog) }
  const { url } = await serveStreams(t, (c) => streamEvents(c, service, {}))
  const client = await connect(url)
  for (let id = 2; id < 10_002; id++) publish({ id, type: 'a', envelope: '{}' })
  t.equal(streams.size, 1)
  publish({ id: 10_002, type: 'a', envelope: '{}' })
  t.equal(streams.size, 0)
  t.equal(await client.closed, 'cut')
})

t.test('who joins gets nothing that was told before', async (t) => {
  let publish: (event: LogEvent) => void = () => {}
  const broadcast = createBroadcast({
    nameOf: (id) => `e7-${id}`,
    subscribe(listener) {
      publish = listener
      return () => {}
    },
  })
  const ids = (bytes: Uint8Array[]) =>
    Buffer.concat(bytes)
      .toString()
      .match(/(?<=id: e7-)\d+/g)
  const [first, second]: Uint8Array[][] = [[], []]
  broadcast.subscribe({ sendBytes: (bytes) => first!.push(bytes) > 0 })
  publish({ id: 1, type: 'a', envelope: '{}' })
  broadcast.subscribe({ sendBytes: (bytes) => second!.push(bytes) > 0 })
  publish({ id: 2, type: 'a', envelope: '{}' })
  broadcast.flush()
  t.strictSame([ids(first!), ids(second!)], [['1', '2'], ['2']])
})

t.test('the stop of the service ends every stream, and those that come after', async (t) => {
  const registry = createStreamRegistry()
  const { open } = await serveStreams(t, { registry })
  const clients = await Promise.all([open(), open(), open()])
  t.equal(registry.size, 3)
  registry.endAll()
  clients.push(await open())
  for (const { client } of clients) t.equal(await client.closed, 'ended')
  t.equal(registry.size, 0)
})

const points: [string | undefined, string, object][] = [
  [undefined, '', { kind: 'none' }],
  ['', '', { kind: 'none' }],
  ['0', '', { kind: 'after', id: 0 }],
  ['12', '?after=3', { kind: 'after', id: 12 }],
  [undefined, '?after=3', { kind: 'after', id: 3 }],
  ['x', '?after=3', { kind: 'unknown' }],
  ['-1', '', { kind: 'unknown' }],
  ['1.5', '', { kind: 'unknown' }],
  ['1e3', '', { kind: 'unknown' }],
  ['99999999999999999999', '', { kind: 'unknown' }],
  ['007', '', { kind: 'unknown' }],
  [undefined, '?after=%00', { kind: 'unknown' }],
]

t.test('where to go on', async (t) => {
  const app = new Hono<ServiceEnv>().get('/', (c: ServiceContext) => c.json(readResumePoint(c)))
  for (const [header, query, expected] of points) {
    const headers = header === undefined ? {} : { 'last-event-id': header }
    const response = await app.request(`/${query}`, { headers })
    t.same(await response.json(), expected, `${header} ${query}`)
  }
})
