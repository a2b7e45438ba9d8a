import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect as dial, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { isFull } from '../fixtures/full.ts'
import { heldBytes } from '../fixtures/garbage.ts'
import { serveTwice } from '../fixtures/second-server.ts'
import { must, planned, step } from '../fixtures/session-client.ts'
import type { TestService } from '../fixtures/workspace.ts'

const MIB = 1024 * 1024
const READERS = fileURLToPath(new URL('../fixtures/stream-readers.mjs', import.meta.url))

/** A process with so many clients of a stream, of which the first stops to read once it is connected. */
async function readersOf(t: Test, url: string, count: number, isPaused: boolean) {
  const child = spawn(process.execPath, [READERS, url, String(count), isPaused ? 'paused' : ''], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  t.teardown(() => child.kill('SIGKILL'))
  child.stdout.setEncoding('utf8')
  await once(child.stdout, 'data') // all are connected
  return child
}

async function waitUntil(fits: () => boolean, withinMs: number): Promise<boolean> {
  const end = Date.now() + withinMs
  while (!fits() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10))
  return fits()
}

t.test('100 clients get 5,000 events in time while one does not read', async (t) => {
  const [count, events, everyMs] = isFull ? [100, 5000, 40] : [20, 1000, 4]
  const { app, url, streams } = await serveTwice(t)
  const { id } = await app.newCase()
  const child = await readersOf(t, `${url}/events?after=now`, count, true)
  t.equal(streams.size, count)
  const before = process.memoryUsage().rss
  let most = before
  const began = performance.now()
  for (let n = 1; n <= events; n++) {
    app.service.eventLog.append([eventOf(id, n)])
    await app.service.eventLog.flushed()
    most = Math.max(most, process.memoryUsage().rss)
    const early = began + n * everyMs - performance.now()
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early))
  }
  const published = once(child.stdout!, 'data')
  child.stdin!.write(`${events}\n`)
  const { counts, p99 } = JSON.parse(String((await published)[0]))
  t.strictSame(counts, Array(count - 1).fill(events), 'who reads gets all of them, in their order')
  const isDropped = await waitUntil(() => {
    app.service.eventLog.append([eventOf(id, 0)]) // looked at with each event
    return streams.size === count - 1
  }, 10_000)
  t.ok(isDropped, `who does not is dropped: ${streams.size} are left`)
  const grown = (most - before) / MIB
  t.comment(`p99 ${p99} ms, ${grown.toFixed()} MiB more memory`)
  t.ok(p99 <= 500, `p99 ${p99} ms`)
  t.ok(grown <= 100, `${grown} MiB`)
})

/** One of 10 KB that says when it was sent. */
function eventOf(case_id: string, n: number) {
  const payload = { case_id, n, sent: Date.now(), text: 'x'.repeat(10_000) }
  const type = 'memory_updated'
  const envelope = { event_type: type, timestamp: new Date().toISOString(), payload }
  return { type, envelope: JSON.stringify(envelope) }
}

/** What streams hold, counted from now on: subscriptions, and timers that repeat. */
function counted(t: Test, { service }: TestService): () => number {
  const open = new Set<unknown>()
  for (const bus of [service.caseChanges, service.outputs, service.eventLog]) {
    const subscribe = bus.subscribe.bind(bus) as (listener: never) => () => void
    bus.subscribe = ((listener: never) => {
      const undo = subscribe(listener)
      open.add(undo)
      return () => {
        open.delete(undo)
        undo()
      }
    }) as typeof bus.subscribe
  }
  const { setInterval, clearInterval } = globalThis
  const timers = new Set<unknown>()
  globalThis.setInterval = ((...args: Parameters<typeof setInterval>) => {
    const timer = setInterval(...args)
    timers.add(timer)
    return timer
  }) as typeof setInterval
  globalThis.clearInterval = (timer) => {
    timers.delete(timer)
    clearInterval(timer)
  }
  t.teardown(() => Object.assign(globalThis, { setInterval, clearInterval }))
  return () => open.size + timers.size
}

/** Each begins with a stream that is asked for, and ends with none. */
const ENDS: Record<string, (socket: Socket) => Promise<unknown>> = {
  'a reset': async (socket) => {
    await once(socket, 'data')
    socket.resetAndDestroy()
  },
  'a reset before the answer': async (socket) => socket.resetAndDestroy(),
  'an end': async (socket) => {
    await once(socket, 'data')
    socket.destroy()
  },
  'an end of its own side alone': async (socket) => {
    socket.resume().end()
    await once(socket, 'close')
  },
  'a reset when it has read nothing': async (socket) => {
    socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 20))
    socket.resetAndDestroy()
  },
}

t.test('500 clients that go away in every way leave nothing behind', async (t) => {
  const { app, port, url, streams } = await serveTwice(t)
  const ref = await planned(app, { runbook: step('true') })
  const open = counted(t, app)
  const paths = ['/events', `${ref.path}/stream`]
  const cycles = async (count: number) => {
    for (let n = 0; n < count; n += 10) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const end = Object.values(ENDS)[index % 5]!
          const socket = dial(port, '127.0.0.1').on('error', () => {})
          await once(socket, 'connect')
          const path = paths[index % 2]
          socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
          await end(socket)
        }),
      )
      await must(app, 'PUT', `/cases/${ref.case_id}`, { title: `T${n}` }) // an event to all
    }
    t.ok(await waitUntil(() => streams.size === 0, 16_000), `${streams.size} clients`)
    return { bytes: heldBytes(), resources: resources(), open: open() }
  }
  const before = await cycles(100)
  const after = await cycles(isFull ? 500 : 200)
  t.equal(after.open, before.open, 'subscriptions and timers')
  const more = () => {
    return Object.entries(resources()).filter(([name, n]) => n > (before.resources[name] ?? 0))
  }
  await waitUntil(() => more().length === 0, 16_000)
  t.strictSame(more(), [], 'nothing more keeps the process alive')
  const grown = (after.bytes - before.bytes) / MIB
  t.comment(`${grown.toFixed(2)} MiB`)
  t.ok(grown <= 10, `${grown} MiB`)

  await t.test('and so do those of a process that stands still, and is killed', async (t) => {
    const children: ChildProcess[] = []
    for (const path of paths) children.push(await readersOf(t, `${url}${path}`, 20, false))
    t.equal(streams.size, 40)
    for (const child of children) child.kill('SIGSTOP')
    for (let n = 0; n < 20; n++) await must(app, 'PUT', `/cases/${ref.case_id}`, { title: `S${n}` })
    for (const child of children) child.kill('SIGKILL')
    t.ok(await waitUntil(() => streams.size === 0, 16_000), `${streams.size} clients`)
    t.equal(open(), before.open)
  })
})

/** How many of each kind keep this process alive, but for kept connections and files that are just read or written. */
function resources(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo())
    if (!/^(?:TCPSocketWrap|TickObject|Immediate|FSReq.*)$/.test(name))
      counts[name] = (counts[name] ?? 0) + 1
  return counts
}
