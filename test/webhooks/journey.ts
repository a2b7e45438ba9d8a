import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { LogEvent } from '../../src/events/event-log.ts'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../src/model/event-lookup.ts'
import { stolenTime } from '../fixtures/cpu-time.ts'
import { drip, openReceiver, type Received, raw } from '../fixtures/receiver.ts'
import { type Envelope, must, ran, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const reported = ({ body }: Received): Envelope => JSON.parse(body.toString())
const numberOf = ({ headers }: Received) => Number(String(headers['webhook-id']).split('_')[1])

/** A service and a healthy receiver of these events. */
async function opened(t: Test, events = ['*']) {
  const app = await openTestService(t)
  const receiver = await openReceiver(t)
  const register = (url: string, wanted: object = {}) =>
    must(app, 'POST', '/webhooks', { url, secret: 's', events, ...wanted })
  const { id } = await register(receiver.url)
  return { app, receiver, register, webhook: `/webhooks/${id}` }
}

t.test('the whole way of a case arrives, in the bytes and the order of GET /events', async (t) => {
  const { app, receiver, webhook } = await opened(t)
  const { ref } = await ran(app, step('echo done'))
  const path = `/cases/${ref.case_id}`
  await must(app, 'PUT', path, { title: 'Zażółć “gęślą” 🦔' })
  const proof = await must(app, 'POST', `${path}/proof`, { type: 'log', content: 'It ran.' })
  await must(app, 'PUT', `${path}/proof/${proof.id}/verify`)
  await must(app, 'PUT', `${path}/state`, { state: 'RESOLVED' })
  const expected: { id: number; envelope: string }[] = []
  for await (const { id, type, envelope } of app.service.eventLog.read(0)) {
    if (DEFAULT_EVENTS.includes(type)) expected.push({ id, envelope })
  }
  const all = await receiver.until(expected.length)
  t.strictSame(
    all.map((each) => ({ id: numberOf(each), envelope: each.body.toString() })),
    expected,
  )
  t.strictSame(
    new Set(all.map((each) => reported(each).event_type)),
    new Set(DEFAULT_EVENTS),
    'each of the seven types',
  )
  for (const each of all) {
    t.equal(each.headers['x-service-event'], reported(each).event_type)
    t.strictSame(Object.keys(reported(each)), ['event_type', 'timestamp', 'payload'])
  }
  const payloads = Object.fromEntries(
    all.map((each) => [reported(each).event_type, reported(each).payload]),
  )
  const [case_id, session_id, proof_id] = [ref.case_id, ref.id, proof.id]
  t.match(payloads.session_started, { case_id, session_id, provider: 'runbook' })
  t.match(payloads.session_completed, { case_id, session_id })
  t.match(payloads.agent_completed, { case_id, session_id, provider: 'runbook', mode: 'work' })
  t.strictSame(payloads.case_updated, { case_id })
  t.strictSame(payloads.case_state_changed, {
    case_id,
    old_state: 'VERIFYING',
    new_state: 'RESOLVED',
  })
  t.strictSame(payloads.proof_created, { case_id, proof_id, proof_type: 'log' })
  t.match(payloads.proof_updated, { case_id, proof_id, proof_type: 'log', verified: true })
  t.match(await must(app, 'GET', webhook), { retrying: 0, dead: 0, failing_since: null })
})

t.test('however large the documents, what is sent is small', async (t) => {
  const { app, receiver, register } = await opened(t)
  const further = await openReceiver(t)
  await register(further.url, { events: [...DEFAULT_EVENTS, ...FURTHER_EVENTS] })
  const text = (size: number) => 'A line of a large document.\n'.repeat(size / 28)
  const { ref } = await ran(app, `${text(3000)}\n${step(`printf '%s' '${text(60_000)}'`)}`, {
    fields: { title: 'T'.repeat(200), description: text(200_000) },
  })
  const path = `/cases/${ref.case_id}`
  await must(app, 'PUT', `${path}/memory/notes.md`, text(2 ** 20))
  const proof = await must(app, 'POST', `${path}/proof`, { type: 'log', content: text(2 ** 20) })
  await must(app, 'PUT', `${path}/proof/${proof.id}/verify`)
  await must(app, 'PUT', `${path}/state`, { state: 'RESOLVED', reason: 'R'.repeat(1000) })
  await must(app, 'PUT', path, { description: text(240_000) })
  const events: LogEvent[] = []
  for await (const event of app.service.eventLog.read(0)) events.push(event)
  const wanted = (types: readonly string[]) => events.filter(({ type }) => types.includes(type))
  const all = [
    ...(await receiver.until(wanted(DEFAULT_EVENTS).length)),
    ...(await further.until(wanted([...DEFAULT_EVENTS, ...FURTHER_EVENTS]).length)),
  ]
  const large = all.filter(({ body }) => body.length > 20 * 1024)
  t.strictSame(
    large.map((each) => reported(each).event_type),
    ['plan_approved'],
    'which is the text that was approved, for who asks for it by name',
  )
  t.ok(all.length > 20)
})

t.test('what a person saves arrives, also what was saved while the service was down', async (t) => {
  const { app, receiver } = await opened(t)
  const [kept, other] = [await app.newCase({ title: 'Old' }), await app.newCase()]
  const file = app.file(kept.id, 'case.md')
  const save = (title: string) =>
    readFileSync(file, 'utf8').replace(/^title: .*/m, `title: ${title}`)
  const updated = { event_type: 'case_updated', payload: { case_id: kept.id } }
  writeFileSync(file, save('In place'))
  t.match(reported(await receiver.next()), updated)
  writeFileSync(`${file}~`, save('By rename'))
  renameSync(`${file}~`, file)
  t.match(reported(await receiver.next()), updated)
  await app.close()
  writeFileSync(file, save('Meanwhile').replace('state: OPEN', 'state: BLOCKED'))
  await app.restart()
  const { case_id } = { case_id: kept.id }
  t.match(reported(await receiver.next()), {
    event_type: 'case_state_changed',
    payload: { case_id, old_state: 'OPEN', new_state: 'BLOCKED' },
  })
  t.match(reported(await receiver.next()), updated)
  await app.restart()
  await must(app, 'PUT', `/cases/${other.id}`, { title: 'Last' })
  t.match(reported(await receiver.next()), { payload: { case_id: other.id } }, 'and each only once')
})

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n'

t.test('receivers that misbehave harm neither the others nor the service', async (t) => {
  const { app, receiver, register } = await opened(t)
  const stolen = stolenTime(t)
  const innocent = await openReceiver(t)
  const bad = [
    () => {}, // never answers
    drip('HTTP/1.1 200 OK\r\nx-slow: ', 50),
    drip(HEAD, 50),
    raw(HEAD + 'x'.repeat(200_000)),
    raw('220 smtp.example.com ESMTP\r\n', 'end'),
    raw('', 'reset'),
    raw(`HTTP/1.1 307 Elsewhere\r\nlocation: ${innocent.url}\r\ncontent-length: 0\r\n\r\n`),
    raw(`HTTP/1.1 302 Elsewhere\r\nlocation: ${innocent.url}\r\ncontent-length: 0\r\n\r\n`),
  ]
  const receivers = await Promise.all(bad.map((otherwise) => openReceiver(t, { otherwise })))
  for (const { url } of receivers) await register(url)
  const { id } = await app.newCase()
  const changes = 50
  for (let n = 0; n < changes; n++) await must(app, 'PUT', `/cases/${id}`, { title: `Title ${n}` })
  const all = await receiver.until(changes)
  const late = all
    .map((each) => each.at - Date.parse(reported(each).timestamp))
    .sort((a, b) => a - b)
  const p99 = late[Math.ceil(late.length * 0.99) - 1]!
  t.ok(
    p99 <= 1000 + stolen(),
    `the others get theirs ${late[changes / 2]} ms (p50), ${p99} ms (p99) later`,
  )
  for (const each of receivers) {
    const ids = (await each.until(1)).map(({ headers }) => headers['webhook-id'])
    t.ok(new Set(ids).size <= changes) // retries come too, where the machine is slow
  }
  t.strictSame(innocent.received, [], 'no redirect is followed')
  const health = await must(app, 'GET', '/health')
  t.equal(health.status, 'ok')
  t.equal(health.webhooks.active, bad.length + 1)
  t.notOk(
    app.log.some((line) => /\n\s+at /.test(line)),
    'nothing unexpected happened',
  )
  const began = performance.now()
  await app.close()
  t.comment(`stopped in ${Math.round(performance.now() - began)} ms`)
  await Promise.all(receivers.map((each) => each.quiet()))
})

t.test('a test of a receiver that hangs does not hold up the stop', async (t) => {
  const { app, register } = await opened(t)
  const hanging = await openReceiver(t, { otherwise: () => {} })
  const { id } = await register(hanging.url)
  const tested = fetch(`${app.url}/webhooks/${id}/test`, { method: 'POST' }) // its own connection
  await hanging.next()
  await app.close()
  const answer = await tested
  t.match([answer.status, await answer.json()], [503, { code: 'stopping' }])
})
