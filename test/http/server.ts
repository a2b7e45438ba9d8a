import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Hono } from 'hono'
import t, { type Test } from 'tap'
import { createApp } from '../../src/http/app.ts'
import { requestListener } from '../../src/http/request-listener.ts'
import { LIMITS, listen } from '../../src/http/server.ts'
import { createStreamRegistry } from '../../src/http/sse/stream-registry.ts'
import { inLongLane } from '../fixtures/full.ts'
import { dialogue } from '../fixtures/raw-socket.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** Any app behind the server; closed with the test. */
async function serve(t: Test, app: Hono, limits: Partial<typeof LIMITS> = {}) {
  const log = (line: string) => t.fail(line)
  const server = await listen(requestListener(app.fetch, log), { port: 0, log, limits })
  t.teardown(() => server.close())
  return server
}

// Where it listens

const isIPv6 = networkInterfaces().lo?.some(({ address }) => address === '::1') ?? false
const noIPv6 = isIPv6 ? {} : { skip: 'this machine has no ::1' }

/** Where this process listens, as the system tells: `address:port` in hex, in the byte order of the machine. */
function listening(): string[] {
  const own = new Set<string>()
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      own.add(readlinkSync(`/proc/self/fd/${name}`))
    } catch {} // the descriptor of the listing itself
  }
  return ['tcp', 'tcp6'].flatMap((family) => {
    const lines = readFileSync(`/proc/net/${family}`, 'utf8').trim().split('\n').slice(1)
    return lines.flatMap((line) => {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/)
      return state === '0A' && own.has(`socket:[${inode}]`) ? [`${family} ${local}`] : []
    })
  })
}

const noProc = process.platform === 'linux' ? {} : { skip: '/proc tells of sockets on Linux alone' }
t.test(
  'it listens on 127.0.0.1 and ::1, and nowhere else, as the system says',
  noProc,
  async (t) => {
    const before = listening()
    const app = await openTestService(t)
    const port = Number(new URL(app.url).port)
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    t.strictSame(
      listening().filter((each) => !before.includes(each)),
      [`tcp 0100007F:${hex}`, ...(isIPv6 ? [`tcp6 00000000000000000000000001000000:${hex}`] : [])],
    )
  },
)

t.test('it answers over ::1, and a close waits for the requests there', noIPv6, async (t) => {
  const app = new Hono()
  let finish = () => {}
  const isAsked = new Promise<void>((asked) => {
    app.get('/', async (c) => {
      await new Promise<void>((resolve) => {
        finish = resolve
        asked()
      })
      return c.text('done')
    })
  })
  const server = await serve(t, app)
  t.equal(server.hasLocalhost, true)
  const answer = fetch(`http://[::1]:${server.port}/`).then((reply) => reply.text())
  await isAsked
  const closed = server.close()
  finish()
  t.equal(await answer, 'done')
  await closed
  await t.rejects(fetch(`http://[::1]:${server.port}/`), 'nothing listens any more')
})

t.test('without ::1 at its port, it does not answer to the name localhost', noIPv6, async (t) => {
  const other = createServer().listen(0, '::1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const app = await openTestService(t)
  const { fetch: answer } = createApp(app.service, {
    port: () => port,
    hasLocalhost: () => server.hasLocalhost,
    streams: createStreamRegistry(),
  })
  const log = (line: string) => t.fail(line)
  const server = await listen(requestListener(answer, log), { port, log })
  t.teardown(() => server.close())
  t.equal(server.hasLocalhost, false)
  const asked = (host: string) =>
    dialogue(port, `GET /version HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
    const said = await asked(host)
    t.strictSame(said.statuses, [403], host)
    t.match(said.text, `Use http://127.0.0.1:${port}.`)
  }
  for (const host of [`127.0.0.1:${port}`, 'localhost:9000'])
    t.strictSame((await asked(host)).statuses, [200], host)
})

t.test('it listens on loopback, and a port in use is refused with advice', async (t) => {
  const server = await serve(t, new Hono())
  t.equal(server.url, `http://127.0.0.1:${server.port}`)
  await t.rejects(
    listen(() => {}, { port: server.port, log: () => {} }),
    {
      code: 'already_active',
      message: new RegExp(`Port ${server.port} .*--port 0`),
    },
  )
  const next = await listen(() => {}, { port: server.port, orNext: true, log: () => {} })
  t.teardown(() => next.close())
  t.ok(next.port > server.port, 'a start without a chosen port takes the next free one')
})

t.test('a Casefile on the port is named with its workspace', async (t) => {
  const app = new Hono()
  app.get('/health', (c) => c.json({ status: 'ok', workspace: 'my\u202eproject' }))
  const { port } = await serve(t, app)
  await t.rejects(
    listen(() => {}, { port, log: () => {} }),
    { message: new RegExp(`is in use\\. Another Casefile serves .* http://127.0.0.1:${port}\\.`) },
  )
})

t.test('a service that ends soon answers one request on each connection', async (t) => {
  const log = (line: string) => t.fail(line)
  const answer = requestListener(new Hono().get('/', (c) => c.text('yes')).fetch, log)
  const server = await listen(answer, { port: 0, log, oneRequestEach: true })
  t.teardown(() => server.close())
  const reply = await fetch(server.url)
  t.match([reply.headers.get('connection'), await reply.text()], ['close', 'yes'])
})

// Slow clients

t.test('the limits', async (t) => {
  t.match(LIMITS, { maxConnections: 512, headersMs: 15_000, requestMs: 15_000, checkEveryMs: 1000 })
  t.equal(LIMITS.unreadMs, 120_000)
})

t.test(
  'who reads nothing of an answer is cut, who reads it slowly is not',
  inLongLane,
  async (t) => {
    const log = (line: string) => t.fail(line)
    const large = Buffer.alloc(64 * 1024 * 1024)
    const cut: Promise<string>[] = []
    const server = await listen(
      ({ url, socket }, response) => {
        cut.push(new Promise((resolve) => socket.on('close', () => resolve(url!))))
        response.end(large)
      },
      { port: 0, log, limits: { unreadMs: 1000 } },
    )
    t.teardown(() => server.close())
    const ask = (path: string) => {
      const socket = dial(server.port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
      t.teardown(() => socket.destroy())
      return socket
    }
    ask('/never')
    const slow = ask('/slowly')
    let read = 0
    slow.on('data', (some) => {
      read += some.length
      slow.pause()
      setTimeout(() => slow.resume(), 1)
    })
    await new Promise((resolve) => slow.on('close', resolve))
    t.ok(read > large.length, 'it has all of it')
    t.strictSame((await Promise.all(cut)).sort(), ['/never', '/slowly'])
  },
)

t.test('of 513 connections the last is dropped, until another ends', async (t) => {
  const server = await serve(t, new Hono())
  const sockets = await Promise.all(
    Array.from({ length: LIMITS.maxConnections }, () => {
      return new Promise<Socket>((resolve, reject) => {
        const socket = dial(server.port, '127.0.0.1', () => resolve(socket)).on('error', reject)
        t.teardown(() => socket.destroy())
      })
    }),
  )
  const ask = `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`
  t.strictSame((await dialogue(server.port, ask)).statuses, [])
  const [one] = sockets
  // the service has closed its side when its end has come
  one!.resume().end('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n')
  await new Promise((resolve) => one!.on('close', resolve))
  t.strictSame((await dialogue(server.port, ask)).statuses, [404])
})

// The end

t.test('close', async (t) => {
  let release = () => {}
  let entered = () => {}
  const app = new Hono()
    .get('/quick', (c) => c.text('quick'))
    .get('/slow', async (c) => {
      entered()
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return c.text('slow')
    })
  const start = async (closeMs: number) => {
    const running = new Promise<void>((resolve) => {
      entered = resolve
    })
    const server = await serve(t, app, { closeMs })
    const answer = dialogue(server.port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n')
    await running
    return { server, answer }
  }

  await t.test('lets a running request finish, and takes no other', async (t) => {
    const { server, answer } = await start(60_000)
    const idle = dialogue(server.port, 'GET /quick HTTP/1.1\r\nHost: x\r\n\r\n')
    const isServed = await fetch(`${server.url}/quick`)
    t.equal(await isServed.text(), 'quick')
    const closed = server.close()
    t.match((await idle).text, /quick$/)
    await t.rejects(dialogue(server.port, ''), { code: 'ECONNREFUSED' })
    release()
    t.match((await answer).text, /^HTTP\/1\.1 200 .*slow$/s)
    await closed
    await server.close()
  })

  await t.test('cuts one that takes too long', async (t) => {
    const { server, answer } = await start(50)
    await server.close()
    t.equal((await answer).text, '')
    release()
  })
})
