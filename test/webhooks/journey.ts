import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { LogEvent } from '../../src/events/event-log.ts'
import { DEFAULT_EVENTS, FURTHER_EVENTS } from '../../src/model/event-lookup.ts'
import { inLongLane } from '../fixtures/full.ts'
import { drip, openReceiver, type Received, raw } from '../fixtures/receiver.ts'
import { type Envelope, must, ran, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const reported = ({ body }: Received): Envelope => JSON.parse(body.toString())
const numberOf = ({ headers }: Received) => Number(String(headers['webhook-id']).split('_')[1])
const large = (size: number) => 'A line of a large document.\n'.repeat(size / 28)
const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n'

t.test('the events of a workspace arrive', inLongLane, async (t) => {
  const app = await openTestService(t)
  const receiver = await openReceiver(t)
  const further = await openReceiver(t)
  const register = (url: string, wanted: object = {}) =>
    must(app, 'POST', '/webhooks', { url, secret: 's', events: ['*'], ...wanted })
  const { id } = await register(receiver.url)
  await register(further.url, { events: [...DEFAULT_EVENTS, ...FURTHER_EVENTS] })

  await t.test('the whole way of a case, in the bytes and the order of GET /events', async (t) => {
    const runbook = `${large(3000)}\n${step(`printf '%s' '${large(60_000)}'`)}`
    const fields = { title: 'T'.repeat(200), description: large(200_000) }
    const { ref } = await ran(app, runbook, { fields })
    const path = `/cases/${ref.case_id}`
    await must(app, 'PUT', path, { title: 'Zażółć “gęślą” 🦔' })
    await must(app, 'PUT', `${path}/memory/notes.md`, large(2 ** 20))
    const content = large(2 ** 20)
    const proof = await must(app, 'POST', `${path}/proof`, { type: 'log', content })
    await must(app, 'PUT', `${path}/proof/${proof.id}/verify`)
    await must(app, 'PUT', `${path}/state`, { state: 'RESOLVED', reason: 'R'.repeat(1000) })
    const events: LogEvent[] = []
    for await (const event of app.service.eventLog.read(0)) events.push(event)
    const wanted = (types: readonly string[]) => events.filter(({ type }) => types.includes(type))
    const all = await receiver.until(wanted(DEFAULT_EVENTS).length)
    t.strictSame(
      all.map((each) => ({ id: numberOf(each), envelope: each.body.toString() })),
      wanted(DEFAULT_EVENTS).map(({ id, envelope }) => ({ id, envelope })),
    )
    t.strictSame(new Set(all.map((each) => reported(each).event_type)), new Set(DEFAULT_EVENTS))
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
    const states = { old_state: 'VERIFYING', new_state: 'RESOLVED' }
    t.strictSame(payloads.case_state_changed, { case_id, ...states })
    t.strictSame(payloads.proof_created, { case_id, proof_id, proof_type: 'log' })
    t.match(payloads.proof_updated, { case_id, proof_id, proof_type: 'log', verified: true })
    t.match(await must(app, 'GET', `/webhooks/${id}`), { retrying: 0, dead: 0 })

    const both = [
      ...all,
      ...(await further.until(wanted([...DEFAULT_EVENTS, ...FURTHER_EVENTS]).length)),
    ]
    t.strictSame(
      both.filter(({ body }) => body.length > 20 * 1024).map((each) => reported(each).event_type),
      [],
      'however large the documents, what is sent is small',
    )
  })

  await t.test('what a person saves, also while the service was down', inLongLane, async (t) => {
    const [kept, other] = [await app.newCase({ title: 'Old' }), await app.newCase()]
    const saved = await openReceiver(t)
    await register(saved.url)
    const file = app.file(kept.id, 'case.md')
    const save = (title: string) =>
      readFileSync(file, 'utf8').replace(/^title: .*/m, `title: ${title}`)
    const updated = { event_type: 'case_updated', payload: { case_id: kept.id } }
    writeFileSync(file, save('In place'))
    t.match(reported(await saved.next()), updated)
    writeFileSync(`${file}~`, save('By rename'))
    renameSync(`${file}~`, file)
    t.match(reported(await saved.next()), updated)
    await app.close()
    writeFileSync(file, save('Meanwhile').replace('state: OPEN', 'state: BLOCKED'))
    await app.restart()
    t.match(reported(await saved.next()), {
      event_type: 'case_state_changed',
      payload: { case_id: kept.id, old_state: 'OPEN', new_state: 'BLOCKED' },
    })
    t.match(reported(await saved.next()), updated)
    await app.restart()
    await must(app, 'PUT', `/cases/${other.id}`, { title: 'Last' })
    t.match(reported(await saved.next()), { payload: { case_id: other.id } }, 'and each only once')
  })

  await t.test('receivers that misbehave harm nobody', inLongLane, async (t) => {
    const innocent = await openReceiver(t)
    const healthy = await openReceiver(t)
    const bad = [
      () => {}, // never answers
      drip('HTTP/1.1 200 OK\r\nx-slow: ', 50),
      drip(HEAD, 50),
      raw(HEAD + 'x'.repeat(200_000)),
      raw('220 smtp.example.com ESMTP\r\n', 'end'),
      raw('', 'reset'),
      raw(`HTTP/1.1 307 Elsewhere\r\nlocation: ${innocent.url}\r\ncontent-length: 0\r\n\r\n`),
    ]
    const receivers = await Promise.all(bad.map((otherwise) => openReceiver(t, { otherwise })))
    for (const { url } of receivers) await register(url)
    await register(healthy.url)
    const before = (await must(app, 'GET', '/health')).webhooks.active
    const { id } = await app.newCase()
    const changes = 5
    for (let n = 0; n < changes; n++)
      await must(app, 'PUT', `/cases/${id}`, { title: `Title ${n}` })
    t.equal((await healthy.until(changes)).length, changes, 'while the others still hang')
    for (const each of receivers) await each.until(1)
    t.strictSame(innocent.received, [], 'no redirect is followed')
    t.match(await must(app, 'GET', '/health'), { status: 'ok', webhooks: { active: before } })
    t.notOk(
      app.log.some((line) => /\n\s+at /.test(line)),
      'nothing unexpected happened',
    )

    const [hanging] = receivers
    const listed = await must(app, 'GET', '/webhooks')
    const stuck = listed.find(({ url }: { url: string }) => url === hanging!.url)
    const count = hanging!.received.length
    const tested = fetch(`${app.url}/webhooks/${stuck.id}/test`, { method: 'POST' }) // its own connection
    await hanging!.until(count + 1)
    await app.close()
    const answer = await tested
    t.match([answer.status, await answer.json()], [503, { code: 'stopping' }], 'nor hold up a stop')
    await Promise.all(receivers.map((each) => each.quiet()))
  })
})
