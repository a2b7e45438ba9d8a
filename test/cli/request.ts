import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { ConnectionLost, httpRequest } from '../../src/client/request.ts'

/** An address where each connection is met so. */
async function address(t: Test, meet: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {}) // who asked is gone
    meet(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const after = (some: string, then: (socket: Socket) => void) => (socket: Socket) => {
  socket.once('data', () => socket.write(some, () => then(socket)))
}
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'
const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n'
const BREAKS: Record<string, (socket: Socket) => void> = {
  'ended as soon as it is there': (socket) => socket.end(),
  'destroyed as soon as it is there': (socket) => socket.destroy(),
  'reset as soon as it is there': (socket) => socket.resetAndDestroy(),
  'ended when asked': after('', (socket) => socket.end()),
  'reset in the head': after('HTTP/1.1 200 OK\r\nx', (socket) => socket.resetAndDestroy()),
  'ended in a body of a length': after(`${HEAD}abc`, (socket) => socket.end()),
  'reset in a body of a length': after(`${HEAD}abc`, (socket) => socket.resetAndDestroy()),
  'ended in a body of chunks': after(CHUNKED, (socket) => socket.end()),
  'no HTTP': after('220 mail\r\n', (socket) => socket.end()),
}

/** Fetch of Node 20 forgets some of the first three, with their promise. */
t.test('a connection that breaks is told, whenever it breaks', async (t) => {
  for (const [when, meet] of Object.entries(BREAKS)) {
    await t.test(when, async (t) => {
      const url = await address(t, meet)
      const signal = new AbortController().signal
      for (const method of ['GET', 'POST']) {
        const lost = Array.from({ length: 10 }, async () => {
          const asked = { method, signal, ...(method === 'POST' ? { body: 'x' } : {}) }
          return (await httpRequest(url, asked)).bytes()
        })
        const came = await Promise.allSettled(lost)
        t.ok(came.every((each) => (each as { reason?: unknown }).reason instanceof ConnectionLost))
        const parted = (async () => {
          const parts = (await httpRequest(url, { method, signal })).parts()
          while (!(await parts.next()).done);
        })()
        await t.rejects(parted, { name: 'ConnectionLost', cause: Error })
      }
    })
  }
})

t.test('where nobody listens the cause says so', async (t) => {
  const url = await address(t, () => {})
  const gone = url.replace(/\d+\/$/, '1/')
  const asked = httpRequest(gone, { signal: new AbortController().signal })
  await t.rejects(asked, { name: 'ConnectionLost', cause: { code: 'ECONNREFUSED' } })
})

t.test('who aborts gets the reason, wherever the answer is', async (t) => {
  const silent = await address(t, () => {})
  const half = await address(
    t,
    after(`${HEAD}abc`, () => {}),
  )
  const controller = new AbortController()
  const waits = httpRequest(silent, { signal: controller.signal })
  const { status, header, bytes } = await httpRequest(half, { signal: controller.signal })
  t.strictSame([status, header('content-length'), header('etag')], [200, '9', null])
  const rest = bytes()
  controller.abort(new Error('enough'))
  await t.rejects(waits, { message: 'enough' })
  await t.rejects(rest, { message: 'enough' })
  await t.rejects(httpRequest(half, { signal: controller.signal }), { message: 'enough' })
})

t.test('who wants no more of it ends the connection', async (t) => {
  const sockets: Socket[] = []
  const url = await address(
    t,
    after(CHUNKED, (socket) => sockets.push(socket)),
  )
  const response = await httpRequest(url, { signal: new AbortController().signal })
  const parts = response.parts()
  t.strictSame(await parts.next(), { value: 'abc', done: false })
  const next = parts.next()
  response.end()
  await t.rejects(next, ConnectionLost)
  if (!sockets[0]!.closed) await once(sockets[0]!, 'close')
})
