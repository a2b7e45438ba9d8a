import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Bus } from '../../src/events/bus.ts'
import { trailEnvelope } from '../../src/events/envelope.ts'
import { readTrail } from '../../src/markdown/trail.ts'
import type { TrailLine } from '../../src/model/trail.ts'
import { eventsOfLines } from '../../src/model/trail-lines.ts'
import { inTime, stopSignal } from '../../src/stopping.ts'
import { runBuilt, startBuilt, started } from '../fixtures/built-service.ts'
import type { ReceivedEvent } from '../fixtures/event-source.ts'
import { connect } from '../fixtures/event-source.ts'
import { inLongLane } from '../fixtures/full.ts'
import { SESSION, TRAIL } from '../fixtures/records.ts'
import {
  clientOf,
  envelope,
  finished,
  must,
  planned,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const wait = step(
  'echo begun; until test -e go; do sleep 0.02; done; rm go; echo gone',
  'sh run id=wait',
)

const idsOf = (events: readonly ReceivedEvent[]) =>
  events.filter(({ id }) => id !== undefined).map(({ id }) => Number(id))

const upTo = (last: number, first = 1) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

t.test('the whole of a session as it happens', async (t) => {
  const service = await openTestService(t, { mount: false })
  const ref = await planned(service, { runbook: wait + step('echo two >&2', 'sh run id=two') })
  const events = await stream(service, ref)
  const from = { 'casefile-actor': 'Ada Ng', 'casefile-client': 'console' }
  t.equal((await service.request('POST', `${ref.path}/approve`, undefined, from)).status, 200)
  await says(events, 'begun')
  const late = await stream(service, ref)
  writeFileSync(join(service.root, 'go'), '')
  t.equal(await events.closed, 'ended')
  t.equal(await late.closed, 'ended')

  const all = events.received.filter(({ event }) => event !== 'ping').map(envelope)
  const journal = all.filter(({ event_type }) => event_type !== 'session_output')
  t.strictSame(
    journal.map(({ event_type }) => event_type),
    [
      'session_created',
      'context_loaded',
      'session_state_changed',
      'hypothesis_written',
      'plan_written',
      'agent_completed',
      'session_state_changed',
      'plan_approved',
      'session_state_changed',
      'session_state_changed',
      'session_started',
      'base_recorded',
      'guarded',
      'step_started',
      'step_finished',
      'step_started',
      'step_finished',
      'diff_taken',
      'evidence_recorded',
      'agent_completed',
      'session_state_changed',
      'session_completed',
    ],
  )
  const text = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
  const lines = readTrail(text)?.lines.map(({ line }) => line) ?? []
  const last = lines.length
  t.strictSame(
    lines.map(({ event, fields }) => `${event} ${fields.state ?? ''}`.trim()),
    [
      'session_created',
      'plan_written plan_ready',
      'plan_approved approved',
      'session_started executing',
      'base_recorded',
      'guarded',
      'step_started',
      'step_finished',
      'step_started',
      'step_finished',
      'session_completed complete',
    ],
    'one line for each act',
  )
  t.strictSame(idsOf(events.received), upTo(last), 'the last event of a line has its number')
  t.strictSame(idsOf(late.received), upTo(last), 'who comes later misses nothing')
  t.strictSame(
    late.received
      .filter(({ event }) => event !== 'ping')
      .map(envelope)
      .filter(({ event_type }) => event_type !== 'session_output'),
    journal,
  )

  const ids = { case_id: ref.case_id, session_id: ref.id }
  const payloads = (type: string) =>
    all.filter((each) => each.event_type === type).map((each) => each.payload)
  t.strictSame(payloads('session_started'), [{ ...ids, provider: 'runbook' }])
  t.strictSame(payloads('agent_completed'), [
    { ...ids, provider: 'runbook', mode: 'plan', state: 'plan_ready' },
    { ...ids, provider: 'runbook', mode: 'work', state: 'complete' },
  ])
  t.strictSame(payloads('session_completed'), [ids])
  const { plan_sha256 } = await must(service, 'GET', ref.path)
  const approval = { ...ids, by: 'Ada Ng', via: 'console', plan_sha256 }
  t.strictSame(payloads('plan_approved'), [approval])
  t.strictSame(payloads('session_state_changed').at(-1), {
    ...ids,
    old_state: 'executing',
    new_state: 'complete',
  })
  t.match(payloads('session_output'), [
    { ...ids, step: 'wait', stream: 'stdout', text: 'begun\n' },
    { ...ids, step: 'wait', stream: 'stdout', text: 'gone\n' },
    { ...ids, step: 'two', stream: 'stderr', text: 'two\n' },
  ])
  const order = all.map(({ event_type, payload }) => `${event_type} ${payload.step ?? ''}`)
  const middle = order.slice(order.indexOf('step_started wait'), order.indexOf('step_started two'))
  t.strictSame(middle, [
    'step_started wait',
    'session_output wait',
    'session_output wait',
    'step_finished wait',
  ])
  for (const each of all) {
    t.strictSame(Object.keys(each), ['event_type', 'timestamp', 'payload'])
    t.match(each.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  for (const { event, data } of events.received) t.equal(event, JSON.parse(data).event_type)

  const tails: Record<string, object> = {
    wait: { tail: 'begun\ngone\n' },
    two: { tail: 'two\n' },
  }
  const impliedAfter = (after: number) =>
    eventsOfLines(lines)
      .filter(({ number }) => number > after)
      .map(({ event, time, fields }) => ({
        event_type: event,
        timestamp: time,
        payload: {
          ...ids,
          ...fields,
          ...(event === 'step_finished' ? tails[String(fields.step)] : {}),
        },
      }))
  t.strictSame(journal, impliedAfter(0), 'the events are what the lines in the file imply')

  const resumed = async (after: string, isHeader = false) => {
    const headers = isHeader ? { 'last-event-id': after } : {}
    const query = isHeader ? '' : `?after=${after}`
    const client = await connect(`${service.url}${ref.path}/stream${query}`, { headers })
    if (client.status === 200) await client.closed
    return client
  }
  for (const isHeader of [true, false])
    t.equal((await resumed(String(last), isHeader)).status, 204, 'after the end')
  for (const [after, isHeader] of [
    [0, false],
    [1, true],
    [2, false],
    [8, false],
    [last - 1, true],
  ] as const) {
    const { received } = await resumed(String(after), isHeader)
    t.strictSame(idsOf(received), upTo(last, after + 1), `after ${after}`)
    t.strictSame(received.map(envelope), impliedAfter(after), `all events after ${after}`)
    t.notOk(received.some(({ event }) => event === 'resync'))
  }
  for (const unknown of [String(last + 1), 'x', '-1', '1.5', '01', '9'.repeat(30)]) {
    const { received } = await resumed(unknown)
    t.match(envelope(received[0]!), { event_type: 'resync', payload: { session_id: ref.id } })
    t.match(received[0], { event: 'resync', id: undefined }, unknown)
    t.strictSame(idsOf(received), upTo(last))
  }
  const head = await service.request('HEAD', `${ref.path}/stream`)
  t.match(head, { status: 200, headers: { 'content-type': 'text/event-stream' }, text: '' })
  const other = `/cases/${ref.case_id}/sessions/0b7f7d0e-0000-4000-8000-000000000001/stream`
  t.match(await service.request('GET', other), { status: 404 })
  t.match(await service.request('POST', `${ref.path}/stream`), { status: 405 })
  await must(service, 'POST', `/cases/${ref.case_id}/proof`, { type: 'log', content: 'x' })
  const { received } = await resumed(String(last))
  t.strictSame(
    received.map(({ event }) => event),
    ['proof_attached', 'session_sealed'],
    'its seal comes to who resumes',
  )
})

t.test('resume across kill -9 and a restart', inLongLane, async (t) => {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {} })
  const service = await startBuilt(t, { root: join(dir, 'root'), stateDir: join(dir, 'state') })
  const ref = await planned(service, { runbook: step('echo one') + step('echo two') })
  const before = await stream(service, ref)
  await before.next((event) => envelope(event).payload.new_state === 'plan_ready')
  await service.stop('SIGKILL')
  t.equal(await before.closed, 'cut')
  await service.restart()
  const last = idsOf(before.received).at(-1)!
  const again = await stream(service, ref, { 'last-event-id': String(last) })
  const { session } = await finished(service, ref)
  t.equal(session.state, 'complete')
  t.equal(await again.closed, 'ended')
  const ids = [...idsOf(before.received), ...idsOf(again.received)]
  t.strictSame(ids, upTo(ids.length))
  t.equal(again.received.at(-1)?.event, 'session_completed')
  await service.restart()
  const over = await stream(service, ref, { 'last-event-id': String(ids.length) })
  t.equal(over.status, 204)
})

t.test(
  'clients that go away leave nothing behind, and a stream that waits ends',
  inLongLane,
  async (t) => {
    const service = await openTestService(t, { mount: false })
    let open = 0
    const count = <T>(bus: Bus<T>) => {
      const { subscribe } = bus
      bus.subscribe = (listener) => {
        const undo = subscribe(listener)
        open++
        return () => {
          open--
          undo()
        }
      }
    }
    const ref = await planned(service, { runbook: wait })
    count(service.service.caseChanges) // what answers requests listens by now
    count(service.service.outputs)
    const clients = await Promise.all(Array.from({ length: 5 }, () => stream(service, ref)))
    t.equal(open, 10)
    for (const client of clients) client.close()
    const deadline = Date.now() + 60_000
    while (open > 0 && Date.now() < deadline) await must(service, 'GET', '/version')
    t.equal(open, 0)
    const head = await service.request('HEAD', `${ref.path}/stream`)
    t.match(head.status, 200)
    t.equal(open, 0)

    const gone = await planned(service)
    const ofGone = await stream(service, gone)
    await ofGone.next((event) => envelope(event).payload.new_state === 'plan_ready')
    await must(service, 'DELETE', `/cases/${gone.case_id}`)
    t.equal(await ofGone.closed, 'ended', 'when its case is deleted')

    const waiting = await stream(service, await planned(service))
    const events = await stream(service, ref)
    await must(service, 'POST', `${ref.path}/approve`)
    await says(events, 'begun')
    await service.close()
    t.equal(await waiting.closed, 'ended', 'when the service stops')
    t.equal(await events.closed, 'ended')
    const state = { new_state: 'failed', reason: /service was stopped/ }
    t.match(events.received.slice(-2).map(envelope), [
      { event_type: 'session_state_changed', payload: state },
      { event_type: 'session_sealed' },
    ])
    t.equal(open, 0)
  },
)

t.test('a stop that hangs says what hangs', async (t) => {
  await t.rejects(inTime('a thing', new Promise(() => {}), 20), { message: /a thing did not end/ })
  await inTime('a thing', Promise.resolve())
})

t.test('who sends signals on and on ends the service at once', async (t) => {
  const stopped = stopSignal()
  const take = process.listeners('SIGINT').at(-1)!
  t.equal(process.listeners('SIGTERM').at(-1), take)
  const codes: unknown[] = []
  t.intercept(process, 'exit', { value: (code: unknown) => codes.push(code) })
  take('SIGINT')
  await stopped
  take('SIGTERM')
  t.strictSame(codes, [], 'npm forwards the first one')
  take('SIGINT')
  t.strictSame(codes, [1])
  process.off('SIGINT', take).off('SIGTERM', take)
})

t.test('an empty variable is not set, and a switch is on or off', inLongLane, async (t) => {
  t.teardown(() => {})
  const dir = t.testdir({ root: {}, state: {} })
  const args = ['serve', '--root', join(dir, 'root'), '--port', '0', '--state-dir']
  const state = join(dir, 'state')
  for (const dev of ['', '0', 'false', '1', 'true']) {
    const env = { CASEFILE_MEMORY_ROOT: '', CASEFILE_PORT: '', CASEFILE_DEV: dev }
    const { url, stop } = await started([...args, state], env)
    await must(
      clientOf(() => url),
      'POST',
      '/cases',
      { title: 'A' },
    )
    t.match(await stop('SIGTERM'), { code: 0 }, `CASEFILE_DEV=${dev}`)
  }
  t.strictSame(readdirSync(join(dir, 'root')), ['memory'])
  const wrong = await runBuilt([...args, state], { CASEFILE_DEV: 'yes' })
  t.match(wrong, { code: 1, stdout: '', stderr: /CASEFILE_DEV is "yes".*1 or true/ })
  t.match(await runBuilt([...args, '']), { code: 2, stderr: /Expected a folder/ })
})

t.test('no field of a trail makes an event another session’s', (t) => {
  const line = { ...TRAIL[0]!, fields: { case_id: 'x', session_id: 'y', note: 'z' } } as TrailLine
  t.strictSame(trailEnvelope(SESSION, line).payload, {
    note: 'z',
    case_id: SESSION.case_id,
    session_id: SESSION.id,
  })
  t.end()
})

t.test('a client that does not read is dropped, and delays nobody', inLongLane, async (t) => {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {} })
  const service = await startBuilt(t, { root: join(dir, 'root'), stateDir: join(dir, 'state') })
  const flood =
    'const line = "\\u0001".repeat(99) + "\\n"; for (let i = 0; i < 10400; i++) process.stdout.write(line)'
  const steps = Array.from({ length: 8 }, () => step(flood, 'js run')).join('')
  const ref = await planned(service, { runbook: steps })
  const { hostname, port } = new URL(service.url)
  const deaf = connectSocket(Number(port), hostname)
  const gone = new Promise<void>((resolve) => deaf.once('close', () => resolve()))
  deaf.on('error', () => {})
  deaf.pause()
  deaf.write(`GET ${ref.path}/stream HTTP/1.1\r\nHost: ${hostname}:${port}\r\n\r\n`)
  const { session, events } = await finished(service, ref)
  t.equal(session.state, 'complete')
  t.equal(events.at(-1)?.event_type, 'session_completed', 'who reads gets it all')
  const said = events.filter((each) => each.event_type === 'session_output')
  const size = said.reduce((sum, { payload }) => sum + payload.text.length, 0)
  t.ok(size > 8 * 1024 * 1024 * 0.95, `${size} characters`)
  deaf.resume()
  await gone
  const { bytesRead } = deaf
  t.ok(bytesRead < size * 4, `the other one got ${bytesRead} bytes`)
  await reaches(service, ref, 'complete')
})
