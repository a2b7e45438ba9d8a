import { Agent, get } from 'node:http'
import { connect as dial, type Socket } from 'node:net'
import t from 'tap'
import { LIMITS } from '../../src/http/server.ts'
import { connect } from '../fixtures/event-source.ts'
import { isFull } from '../fixtures/full.ts'
import { serveTwice } from '../fixtures/second-server.ts'

const LINE = 'GET /version HTTP/1.1\r\n'
/** What each sends at once, and then again and again. */
const SLOW: [string, string][] = [
  ['', ''],
  ['GET /', 'a'],
  [LINE, 'X-A: 1\r\n'],
  [`${LINE}X-A: `, '1'],
  [
    'POST /cases HTTP/1.1\r\nHOST\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n',
    ' ',
  ],
  [
    'POST /cases HTTP/1.1\r\nHOST\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    '1\r\n \r\n',
  ],
  [
    'PUT /cases/x/memory/a.md HTTP/1.1\r\nHOST\r\nOrigin: null\r\nContent-Length: 9999\r\n\r\n',
    'x',
  ],
]

interface Slow {
  /** From the connection to its end. */
  ms: Promise<number>
  said(): string
}

function slowClient(port: number, [first, again]: [string, string], everyMs: number): Slow {
  let said = ''
  const socket: Socket = dial(port, '127.0.0.1')
  const ms = new Promise<number>((resolve) => {
    let began = 0
    let drip: NodeJS.Timeout
    socket.on('connect', () => {
      began = performance.now()
      socket.write(first.replace('HOST', `Host: 127.0.0.1:${port}`))
      drip = setInterval(() => again && socket.write(again), everyMs)
    })
    socket.on('data', (some) => {
      said += some
    })
    socket.on('error', () => {}) // 'close' follows
    socket.on('close', () => {
      clearInterval(drip)
      resolve(performance.now() - began)
    })
  })
  return { ms, said: () => said }
}

t.test('slow clients are cut in time, and delay nobody', async (t) => {
  const limits = isFull ? {} : { headersMs: 1500, requestMs: 1500, checkEveryMs: 100 }
  const { requestMs, checkEveryMs } = { ...LIMITS, ...limits }
  const { app, port, url } = await serveTwice(t, limits)
  const { id } = await app.newCase()
  const agent = new Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  const slow = Array.from({ length: isFull ? 500 : 210 }, (_, index) =>
    slowClient(port, SLOW[index % SLOW.length]!, requestMs / 15),
  )
  const live = await connect(`${url}/events?after=now`)
  let slowest = 0
  let isOver = false
  const all = Promise.all(
    slow.map(async ({ ms }) => {
      slowest = Math.max(slowest, await ms)
    }),
  ).then(() => {
    isOver = true
  })

  const times: number[] = []
  const statuses = new Set<number>()
  while (!isOver) {
    const began = performance.now()
    statuses.add(await statusOf(agent, `${url}/cases/${id}`))
    times.push(performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  await all
  await app.request('PUT', `/cases/${id}`, { title: 'Still here' })
  await live.next(({ event }) => event === 'case_updated') // a stream is cut by none of this
  live.close()
  t.strictSame([...statuses], [200])
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)]!
  t.comment(
    `${times.length} answers, p99 ${p99.toFixed(1)} ms; the last was cut after ${slowest.toFixed()} ms`,
  )
  t.ok(times.length > 20 && p99 <= 500, `p99 ${p99} ms of ${times.length}`)
  t.ok(slowest <= requestMs + 2 * checkEveryMs + 2000, `cut after ${slowest} ms`)
  const answers = slow.map(({ said }) => said().slice(0, 12))
  t.strictSame([...new Set(answers)].sort(), ['HTTP/1.1 403', 'HTTP/1.1 408'])
})

function statusOf(agent: Agent, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
    request.on('error', reject)
  })
}
