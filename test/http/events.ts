import { rmSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { stolenTime } from '../fixtures/cpu-time.ts'
import { connect, type EventSourceClient, numberOf } from '../fixtures/event-source.ts'
import { inLongLane } from '../fixtures/full.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { dialogue } from '../fixtures/raw-socket.ts'
import { envelope, finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const events = (app: TestService, query = '', headers: Record<string, string> = {}) =>
  connect(`${app.url}/events${query}`, { headers })

/** The ids and types up to the event that fits. */
async function until(client: EventSourceClient, fits: (type: string, payload: object) => boolean) {
  await client.next((event) => fits(event.event, envelope(event).payload))
  return client.received.filter(({ event }) => event !== 'ping')
}

const ofCase = (id: string, type: string) => (event: string, payload: { case_id?: string }) =>
  event === type && payload.case_id === id

t.test('each plan that waits for approval needs attention, also a revised one', async (t) => {
  const app = await openTestService(t)
  const live = await events(app)
  const { id: case_id } = await app.newCase({ title: 'Limit' })
  const agent = hookedAgent(app, { case_id })
  const isAttention = ofCase(case_id, 'attention_needed')
  const waiting = async (count: number) => {
    const { received } = live
    const needed = () =>
      received.filter((each) => isAttention(each.event, envelope(each).payload as object))
    while (needed().length < count) await live.next((each) => each.event === 'attention_needed')
    t.equal(needed().length, count)
  }
  for (const [at, plan] of ['1. Raise it.', '1. Raise it to ten.', '1. Raise it.'].entries()) {
    const asked = agent.present(plan)
    await waiting(at + 1)
    const [session] = await must(app, 'GET', `/cases/${case_id}/sessions`)
    const verb = at < 2 ? 'revise' : 'abandon'
    await must(app, 'POST', `/cases/${case_id}/sessions/${session.id}/${verb}`, { note: 'Why?' })
    t.match(await asked, { behavior: 'deny' })
  }
  live.close()
})

t.test('every change of the workspace is on GET /events, with one id each', async (t) => {
  const app = await openTestService(t)
  const live = await events(app)
  t.match(live, { status: 200, headers: { 'content-type': 'text/event-stream' } })
  const ref = await planned(app, { runbook: step('echo done') })
  await finished(app, ref)
  const proof = { type: 'log', content: 'x' }
  const { id } = await must(app, 'POST', `/cases/${ref.case_id}/proof`, proof)
  await must(app, 'PUT', `/cases/${ref.case_id}/proof/${id}/verify`)
  await must(app, 'DELETE', `/cases/${ref.case_id}`)
  const received = await until(live, ofCase(ref.case_id, 'case_deleted'))

  const logged = received.filter(({ event }) => event !== 'session_output')
  t.strictSame(
    logged.map((event) => numberOf(event.id)),
    logged.map((_, index) => index + 1),
  )
  t.strictSame(
    logged.map(({ event }) => event),
    [
      'case_created',
      'memory_updated',
      'session_created',
      'case_state_changed',
      'context_loaded',
      'session_state_changed',
      'hypothesis_written',
      'plan_written',
      'agent_completed',
      'session_state_changed',
      'attention_needed',
      'plan_approved',
      'session_state_changed',
      'case_state_changed',
      'session_state_changed',
      'session_started',
      'base_recorded',
      'guarded',
      'step_started',
      'step_finished',
      'diff_taken',
      'evidence_recorded',
      'agent_completed',
      'session_state_changed',
      'session_completed',
      'attention_needed',
      'case_state_changed',
      'proof_created',
      'proof_attached',
      'session_sealed',
      'proof_updated',
      'case_deleted',
    ],
  )
  for (const event of logged) {
    t.strictSame(Object.keys(envelope(event)), ['event_type', 'timestamp', 'payload'])
    t.equal(envelope(event).event_type, event.event)
    t.match(envelope(event).timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  const output = received.filter(({ event }) => event === 'session_output')
  t.match(output, [{ id: undefined }])
  t.equal(envelope(output[0]!).payload.text, 'done\n')
})

t.test('the event of a request is there before its answer', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  for (let n = 0; n < 20; n++) {
    await must(app, 'PUT', `/cases/${id}`, { title: `T${n}` })
    t.equal(app.service.eventLog.last, n + 2)
    const found: number[] = []
    for await (const event of app.service.eventLog.read(n + 1)) found.push(event.id)
    t.strictSame(found, [n + 2], 'and can be read')
  }
})

t.test('a client resumes with nothing lost and nothing twice, over a restart too', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  for (let n = 0; n < 200; n++) await must(app, 'PUT', `/cases/${id}`, { title: `A${n}` })
  await app.restart()
  const changing = (async () => {
    for (let n = 0; n < 200; n++) await must(app, 'PUT', `/cases/${id}`, { title: `B${n}` })
  })()
  const seen: string[] = []
  while (seen.length < 401) {
    const after = seen.at(-1)
    const client = await events(app, '', after === undefined ? {} : { 'last-event-id': after })
    const wanted = 1 + ((seen.length * 7) % 60)
    for (let n = 0; n < wanted && seen.length < 401; n++) seen.push((await client.next()).id!)
    client.close()
  }
  await changing
  t.strictSame(
    seen.map(numberOf),
    Array.from({ length: 401 }, (_, index) => index + 1),
  )
})

t.test('where a resume begins', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  for (let n = 2; n <= 5; n++) await must(app, 'PUT', `/cases/${id}`, { title: `T${n}` })
  const idOf = app.service.eventLog.nameOf
  const epoch = idOf(1).replace(/-.*/, '')
  const table: [string, string, Record<string, string>, string[]][] = [
    ['without an id: all that the log holds', '', {}, ['1', '2', '3', '4', '5', '6']],
    ['?after=', `?after=${idOf(3)}`, {}, ['4', '5', '6']],
    ['Last-Event-ID', '', { 'last-event-id': idOf(4) }, ['5', '6']],
    ['the header before the query', '?after=x', { 'last-event-id': idOf(4) }, ['5', '6']],
    ['the last one: what comes next', `?after=${idOf(5)}`, {}, ['6']],
    ['?after=now', '?after=now', {}, ['6']],
    [
      '?after=now of a client that comes back',
      '?after=now',
      { 'last-event-id': idOf(2) },
      ['3', '4', '5', '6'],
    ],
    ['from the beginning', '?after=0', {}, ['1', '2', '3', '4', '5', '6']],
    ...['3', '99', '-1', 'x', 'e1-3', `${epoch}-99`, `${epoch}-03`, '9'.repeat(400)].map(
      (unknown): [string, string, Record<string, string>, string[]] => [
        `an id that is none here: ${unknown.slice(0, 20)}`,
        `?after=${unknown}`,
        {},
        ['resync', '1', '2', '3', '4', '5', '6'],
      ],
    ),
  ]
  const clients = await Promise.all(table.map(([, query, headers]) => events(app, query, headers)))
  await must(app, 'PUT', `/cases/${id}`, { title: 'T6' })
  for (const [index, [name, , , expected]] of table.entries()) {
    await t.test(name, async (t) => {
      const client = clients[index]!
      await client.next(({ id }) => numberOf(id) === 6)
      t.strictSame(
        client.received.map(({ id, event }) => (id ? String(numberOf(id)) : event)),
        expected,
      )
    })
  }
})

t.test('an id of a lost log gets resync, and all that the new log has', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  for (let n = 2; n <= 6; n++) await must(app, 'PUT', `/cases/${id}`, { title: `T${n}` })
  const old = app.service.eventLog.nameOf(6)
  await app.close()
  rmSync(app.stateDir, { recursive: true })
  await app.restart()
  for (let n = 1; n <= 10; n++) await must(app, 'PUT', `/cases/${id}`, { title: `N${n}` })
  for (const after of [old, '6']) {
    const client = await events(app, '', { 'last-event-id': after })
    t.equal((await client.next()).event, 'resync')
    for (let n = 1; n <= 10; n++) t.equal(numberOf((await client.next()).id), n)
  }
})

t.test(
  '10,000 events reach a client that comes back 50 times, each once',
  inLongLane,
  async (t) => {
    const seed = Number(process.env.CASEFILE_TEST_SEED)
    t.comment(`CASEFILE_TEST_SEED=${seed}`)
    const app = await openTestService(t)
    const { eventLog } = app.service
    const { id } = await app.newCase()
    const one = {
      event_type: 'memory_updated',
      timestamp: app.service.now(),
      payload: { case_id: id },
    }
    const event = { type: 'memory_updated', envelope: JSON.stringify(one) }
    const telling = (async () => {
      while (eventLog.last < 10_000) {
        eventLog.append(Array.from({ length: 101 }, () => event))
        await eventLog.flushed()
      }
    })()
    const [cuts] = fc.sample(
      fc.uniqueArray(fc.integer({ min: 1, max: 9999 }), { minLength: 50, maxLength: 50 }),
      { seed, numRuns: 1 },
    )
    const seen: (string | undefined)[] = []
    for (const cut of [...cuts!.sort((a, b) => a - b), 10_000]) {
      const after = seen.at(-1)
      const client = await events(app, '', after === undefined ? {} : { 'last-event-id': after })
      while (seen.length < cut) seen.push((await client.next()).id)
      client.close()
    }
    await telling
    t.ok(
      seen.every((each, index) => numberOf(each) === index + 1),
      'no gap, and none twice',
    )
    t.equal(seen.length, 10_000)
  },
)

t.test('an id that is none is answered within a second, whatever it is', async (t) => {
  const app = await openTestService(t)
  const ref = await planned(app, { runbook: step('true') })
  const stolen = stolenTime(t)
  const unknown = ['-1', 'x', '9'.repeat(400), '9'.repeat(15_000), '1'.repeat(16), 'é', '*']
  for (const path of ['/events', `${ref.path}/stream`]) {
    for (const id of unknown) {
      const before = stolen()
      const began = performance.now()
      const client = await connect(app.url + path, { headers: { 'last-event-id': id } })
      t.equal((await client.next()).event, 'resync', `${path} ${id.slice(0, 20)}`)
      const ms = performance.now() - began
      t.ok(ms <= 1000 + stolen() - before, `after ${ms.toFixed()} ms`)
      client.close()
    }
    const port = Number(new URL(app.url).port)
    for (const [status, id] of [
      [431, 'x'.repeat(1_000_000)],
      [400, '1\x002'],
    ] as const) {
      const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nLast-Event-ID: ${id}\r\n\r\n`
      t.strictSame((await dialogue(port, head, 1000)).statuses, [status])
    }
  }
})

t.test('?case= gives the events of one case, under the numbers of the log', async (t) => {
  const app = await openTestService(t)
  const { id: other } = await app.newCase({ title: 'Other' })
  const { id } = await app.newCase({ description: `as in ${other}` })
  const early = await events(app, `?case=${id}`)
  await must(app, 'PUT', `/cases/${other}`, { title: 'O2' })
  await must(app, 'PUT', `/cases/${id}`, { title: 'T2' })
  writeFileSync(`${app.memory}/cases/nobody`, '')
  const ref = await planned(app, { runbook: step('echo other') })
  await finished(app, ref)
  await must(app, 'PUT', `/cases/${id}`, { title: 'T3' })
  const { last } = app.service.eventLog
  await early.next((event) => numberOf(event.id) === last)
  const received = (client: EventSourceClient) =>
    client.received.map((event) => [
      numberOf(event.id),
      event.event,
      envelope(event).payload.case_id,
    ])
  t.strictSame(received(early), [
    [2, 'case_created', id],
    [4, 'case_updated', id],
    [last, 'case_updated', id],
  ])
  const resumed = await connect(`${app.url}/events?case=${id}`, {
    headers: { 'last-event-id': app.service.eventLog.nameOf(4) },
  })
  await resumed.next()
  t.strictSame(received(resumed), [[last, 'case_updated', id]])
  const session = await events(app, `?case=${ref.case_id}`)
  await until(session, ofCase(ref.case_id, 'session_completed'))
  t.ok(received(session).every(([, , caseId]) => caseId === ref.case_id))
})

t.test('output is of its case too', async (t) => {
  const app = await openTestService(t)
  const [one, two] = [
    await planned(app, { runbook: step('echo one') }),
    await planned(app, { runbook: step('echo two') }),
  ]
  const client = await events(app, `?after=now&case=${two.case_id}`)
  await finished(app, one)
  await finished(app, two)
  const received = await until(client, ofCase(two.case_id, 'session_completed'))
  const said = received.filter(({ event }) => event === 'session_output').map(envelope)
  t.match(said, [{ payload: { text: 'two\n', artifact: '1-step-1.log', offset: 0 } }])
  t.equal(said.length, 1)
})

t.test('?output=no leaves out what steps print, and nothing else', async (t) => {
  const app = await openTestService(t)
  const ref = await planned(app, { runbook: step('echo one') })
  const client = await events(app, '?after=now&output=no')
  await finished(app, ref)
  const received = await until(client, ofCase(ref.case_id, 'session_completed'))
  const names = received.map(({ event }) => event)
  t.ok(names.includes('step_started'), names.join())
  t.notOk(names.includes('session_output'))
  const reply = await app.request('GET', '/events?output=yes')
  t.match(reply, { status: 400, json: { errors: [{ path: 'output' }] } })
})

t.test('what is no case of ?case= is 400', async (t) => {
  const app = await openTestService(t)
  for (const id of ['', 'x', 'A0000000-0000-4000-8000-000000000000']) {
    const reply = await app.request('GET', `/events?case=${id}`)
    t.match(reply, { status: 400, json: { errors: [{ path: 'case' }] } })
  }
})

t.test('the log reaches back 10,000 events', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const { eventLog } = app.service
  const one = {
    event_type: 'memory_updated',
    timestamp: app.service.now(),
    payload: { case_id: id },
  }
  const event = { type: 'memory_updated', envelope: JSON.stringify(one) }
  for (let n = 0; n < 30; n++) {
    eventLog.append(Array.from({ length: 1000 }, () => event))
    await eventLog.flushed()
  }
  await app.restart()
  const { first, last, nameOf } = app.service.eventLog
  t.equal(last, 30_001)
  t.ok(last - first + 1 >= 10_000 && first > 1, `from ${first}`)
  const client = await events(app, `?after=${nameOf(last - 10_000)}`)
  await client.next((event) => numberOf(event.id) === last)
  t.equal(client.received.length, 10_000)
  const old = await events(app, '?after=0')
  t.equal((await old.next()).event, 'resync')
  t.equal(numberOf((await old.next()).id), first)
})

t.test('the service says how it watches, and what is wrong with no case', async (t) => {
  const app = await openTestService(t)
  await app.newCase()
  writeFileSync(`${app.memory}/cases/nobody`, '')
  t.match((await app.request('GET', '/health')).json, {
    status: 'ok',
    cases: 1,
    watching: /ok|starting/,
    problems: [{ code: 'bad_name', file: 'cases/nobody' }],
  })
})
