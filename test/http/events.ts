import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { createApp } from '../../src/http/app.ts'
import { createStreamRegistry } from '../../src/http/sse/stream-registry.ts'
import { connect, type EventSourceClient, numberOf } from '../fixtures/event-source.ts'
import { inLongLane } from '../fixtures/full.ts'
import { hookedAgent } from '../fixtures/hooks.ts'
import { envelope, finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const app = await openTestService(t)

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
  const live = await events(app, '?after=now')
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
  const { id: other } = await app.newCase({ title: 'Other' })
  const live = await events(app, '?after=now')
  t.match(live, { status: 200, headers: { 'content-type': 'text/event-stream' } })
  const quiet = await events(app, '?after=now&output=no')
  const ofOther = await events(app, `?case=${other}`)
  const begin = app.service.eventLog.last
  const fields = { description: `as in ${other}` }
  const ref = await planned(app, { runbook: step('echo done'), fields })
  const ofOne = await events(app, `?after=now&case=${ref.case_id}`)
  await must(app, 'PUT', `/cases/${other}`, { title: 'Meanwhile' })
  await finished(app, ref)
  const proof = { type: 'log', content: 'x' }
  const { id } = await must(app, 'POST', `/cases/${ref.case_id}/proof`, proof)
  await must(app, 'PUT', `/cases/${ref.case_id}/proof/${id}/verify`)
  await must(app, 'DELETE', `/cases/${ref.case_id}`)
  await must(app, 'PUT', `/cases/${other}`, { title: 'Afterwards' })
  const isLast = ({ id }: { id: string | undefined }) => numberOf(id) === app.service.eventLog.last
  const received = await until(live, ofCase(ref.case_id, 'case_deleted'))
  await Promise.all([quiet.next(isLast), ofOther.next(isLast)])

  const logged = received.filter(({ event }) => event !== 'session_output')
  t.strictSame(
    logged.map((event) => numberOf(event.id)),
    logged.map((_, index) => begin + index + 1),
  )
  t.strictSame(
    logged.map(({ event }) => event),
    [
      ...['case_created', 'memory_updated', 'session_created', 'case_state_changed'],
      ...['context_loaded', 'session_state_changed', 'hypothesis_written', 'plan_written'],
      ...['agent_completed', 'session_state_changed', 'attention_needed', 'case_updated'],
      ...['plan_approved', 'session_state_changed', 'case_state_changed', 'session_state_changed'],
      ...['session_started', 'base_recorded', 'guarded', 'step_started', 'step_finished'],
      ...['diff_taken', 'evidence_recorded', 'agent_completed', 'session_state_changed'],
      ...['session_completed', 'attention_needed', 'case_state_changed', 'proof_created'],
      ...['proof_attached', 'session_sealed', 'proof_updated', 'case_deleted'],
    ],
  )
  for (const event of logged) {
    t.strictSame(Object.keys(envelope(event)), ['event_type', 'timestamp', 'payload'])
    t.equal(envelope(event).event_type, event.event)
    t.match(envelope(event).timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  const output = received.filter(({ event }) => event === 'session_output')
  t.match(output, [{ id: undefined }])
  t.match(envelope(output[0]!).payload, { text: 'done\n', artifact: '1-step-1.log', offset: 0 })

  await t.test('?output=no leaves out what steps print, and nothing else', async (t) => {
    const withoutOutput = live.received.filter(({ event }) => event !== 'session_output')
    const [seen, all] = [quiet.received, withoutOutput].map((each) => each.map(({ id }) => id))
    t.strictSame(seen!.slice(0, all!.length), all)
  })
  await t.test('?case= gives the events of one case, and its output', async (t) => {
    const titles = ofOther.received.map((event) => [event.event, envelope(event).payload.case_id])
    t.strictSame(titles, [
      ['case_created', other],
      ['case_updated', other],
      ['case_updated', other],
    ])
    await until(ofOne, ofCase(ref.case_id, 'case_deleted'))
    const cases = ofOne.received.map((event) => envelope(event).payload.case_id)
    t.ok(cases.every((id) => id === ref.case_id))
    t.ok(ofOne.received.some(({ event }) => event === 'session_output'))
    t.notOk(ofOther.received.some(({ event }) => event === 'session_output'))
  })
  for (const client of [live, quiet, ofOther, ofOne]) client.close()
})

t.test('the event of a request is there before its answer', async (t) => {
  const { id } = await app.newCase()
  for (let n = 0; n < 5; n++) {
    const { last } = app.service.eventLog
    await must(app, 'PUT', `/cases/${id}`, { title: `T${n}` })
    const found: number[] = []
    for await (const event of app.service.eventLog.read(last)) found.push(event.id)
    t.strictSame([app.service.eventLog.last, found], [last + 1, [last + 1]], 'and can be read')
  }
})

t.test('an answer to a change waits until its events are stored', async (t) => {
  const { eventLog } = app.service
  const { flushed } = eventLog
  const { id } = await app.newCase()
  let store = () => {}
  const isAsked = new Promise<void>((asked) => {
    eventLog.flushed = () =>
      new Promise((resolve) => {
        store = resolve
        asked()
      })
  })
  const order: string[] = []
  const put = app.request('PUT', `/cases/${id}`, { title: 'B' }).then(() => order.push('answered'))
  await isAsked
  eventLog.flushed = flushed
  for (let n = 0; n < 3; n++) await app.request('GET', '/version')
  order.push('stored')
  store()
  await put
  t.strictSame(order, ['stored', 'answered'])
})

t.test('a client resumes with nothing lost and nothing twice, over a restart too', async (t) => {
  const { id } = await app.newCase()
  const begin = app.service.eventLog.last
  const begun = app.service.eventLog.nameOf(begin)
  for (let n = 0; n < 15; n++) await must(app, 'PUT', `/cases/${id}`, { title: `A${n}` })
  await app.restart()
  const changing = (async () => {
    for (let n = 0; n < 15; n++) await must(app, 'PUT', `/cases/${id}`, { title: `B${n}` })
  })()
  const seen = [begun]
  while (seen.length < 31) {
    const client = await events(app, '', { 'last-event-id': seen.at(-1)! })
    const wanted = 1 + ((seen.length * 7) % 12)
    for (let n = 0; n < wanted && seen.length < 31; n++) seen.push((await client.next()).id!)
    client.close()
  }
  await changing
  t.strictSame(
    seen.map(numberOf),
    Array.from({ length: 31 }, (_, index) => begin + index),
  )
})

t.test(
  'a file that could not be read for a while has not changed, over a restart too',
  async (t) => {
    const { id } = await app.newCase()
    const proof = await must(app, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
    await must(app, 'PUT', `/cases/${id}/proof/${proof.id}/verify`)
    const [path, aside] = [app.file(id, 'proof', `${proof.id}.md`), join(app.root, 'aside')]
    const problems = async () => (await must(app, 'GET', `/cases/${id}`)).problems
    renameSync(path, aside)
    mkdirSync(path)
    t.match(await problems(), [{ code: 'unreadable' }])
    await app.restart()
    rmdirSync(path)
    renameSync(aside, path)
    t.strictSame(await problems(), [])
    const client = await events(app, `?case=${id}`)
    await client.next(({ event }) => event === 'problem_cleared')
    const updates = client.received.filter(({ event }) => event === 'proof_updated')
    t.equal(updates.length, 1)
    client.close()
  },
)

t.test('where a resume begins', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  for (let n = 2; n <= 5; n++) await must(app, 'PUT', `/cases/${id}`, { title: `T${n}` })
  const idOf = app.service.eventLog.nameOf
  const epoch = idOf(1).replace(/-.*/, '')
  const table: [string, string, Record<string, string>, string[]][] = [
    ['without an id: all that the log holds', '', {}, ['1', '2', '3', '4', '5', '6']],
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
    ...['3', 'e1-3', `${epoch}-99`, `${epoch}-03`].map(
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
  await t.test('an id of a lost log gets resync, and all that the new log has', async (t) => {
    const old = idOf(6)
    await app.close()
    rmSync(app.stateDir, { recursive: true })
    await app.restart()
    for (let n = 1; n <= 10; n++) await must(app, 'PUT', `/cases/${id}`, { title: `N${n}` })
    for (const after of [old, '6']) {
      const client = await events(app, '', { 'last-event-id': after })
      t.equal((await client.next()).event, 'resync')
      for (let n = 1; n <= 10; n++) t.equal(numberOf((await client.next()).id), n)
      client.close()
    }
  })
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

t.test('what is no case, and no word for output, is 400', async (t) => {
  for (const query of [
    'case=',
    'case=x',
    'case=A0000000-0000-4000-8000-000000000000',
    'output=yes',
  ]) {
    const reply = await app.request('GET', `/events?${query}`)
    t.match(reply, { status: 400, json: { errors: [{ path: query.split('=')[0] }] } }, query)
  }
})

t.test('the log reaches back 10,000 events', inLongLane, async (t) => {
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
  writeFileSync(`${app.memory}/cases/nobody`, '')
  t.match((await app.request('GET', '/health')).json, {
    status: 'ok',
    cases: app.service.catalog.size(),
    watching: /ok|starting/,
    problems: [{ code: 'bad_name', file: 'cases/nobody' }],
  })
})

t.test('while files are read, each request waits for what it needs', async (t) => {
  const begin = { indexed: () => {}, begun: () => {} }
  const until = (what: 'indexed' | 'begun') =>
    new Promise<void>((resolve) => {
      begin[what] = resolve
    })
  const start = {
    stage: () => 'indexing' as const,
    indexed: until('indexed'),
    begun: until('begun'),
  }
  const starting = createApp(
    { ...app.service, start, log: () => {} },
    { port: () => 0, streams: createStreamRegistry() },
  )
  const answered: string[] = []
  const ask = (path: string, method = 'GET') =>
    Promise.resolve(starting.request(path, { method })).then(() => void answered.push(path))
  const later = [ask('/cases'), ask('/events'), ask('/webhooks', 'POST')]
  await Promise.all([ask('/health'), ask('/version')])
  t.strictSame(answered.splice(0).sort(), ['/health', '/version'])
  begin.indexed()
  await later[0]
  await ask('/cases/x')
  t.strictSame(answered.splice(0), ['/cases', '/cases/x'])
  begin.begun()
  await Promise.all(later)
  t.strictSame(answered.sort(), ['/events', '/webhooks'])
})
