import { createHmac } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { WebhookJson } from '../../src/http/schemas/webhook.ts'
import { inLongLane } from '../fixtures/full.ts'
import { openReceiver, type Received } from '../fixtures/receiver.ts'
import { openTestService, type Reply } from '../fixtures/workspace.ts'

const NOBODY = '00000000-0000-4000-8000-000000000000'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
/** Nobody listens there: for webhooks that are sent nothing. */
const SILENT = 'http://127.0.0.1:2/hook'
const SECRET = 'a secret that nobody may see'

const app = await openTestService(t)
const { request, newCase } = app

/** Registers a webhook, which must work; gives it and its path. */
async function register(body: object, list = '/webhooks') {
  const reply = await request('POST', list, body)
  if (reply.status !== 201) throw new Error(`POST ${list}: ${reply.status} ${reply.text}`)
  return { ...reply.json, path: reply.headers.location as string }
}

const rename = (id: string, title: string) => request('PUT', `/cases/${id}`, { title })

/** Asks again until the answer fits. */
async function once(path: string, fits: (json: Reply['json']) => boolean): Promise<Reply['json']> {
  for (;;) {
    const reply = await request('GET', path)
    if (reply.status !== 200) throw new Error(`GET ${path}: ${reply.status} ${reply.text}`)
    if (fits(reply.json)) return reply.json
    await delay(5)
  }
}

const settled = (path: string, count: number) =>
  once(`${path}/deliveries`, ({ length }) => length === count)

const envelope = ({ body }: Received) => JSON.parse(body.toString())
const idsOf = (all: { id: string }[]) => all.map(({ id }) => id)

function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const mac = createHmac('sha256', secret).update(body).digest('hex')
  return headers['x-service-signature'] === `sha256=${mac}`
}

/** One 400 that names the field. */
function namesField(t: Test, reply: Reply, path: string, ...parts: RegExp[]): void {
  t.equal(reply.status, 400, path)
  const error = reply.json.errors.find((each: { path: string }) => each.path === path)
  t.ok(error, `names ${path}`)
  for (const part of parts) t.match(error?.message, part)
}

// Registering

t.test('POST /webhooks gives the webhook, where it is, and the secret it made', async (t) => {
  const reply = await request('POST', '/webhooks', { url: SILENT })
  t.equal(reply.status, 201)
  const { secret, ...webhook } = reply.json
  t.match(secret, /^whsec_[A-Za-z0-9+/]{32}$/)
  t.match(webhook, { id: UUID, created_at: TIME, updated_at: webhook.created_at })
  const { id, created_at, updated_at } = webhook
  const expected = {
    id,
    case_id: null,
    url: SILENT,
    events: ['*'],
    active: true,
    disabled: null,
    retrying: 0,
    dead: 0,
    failing_since: null,
    created_at,
    updated_at,
  }
  t.strictSame(webhook, expected)
  t.strictSame(Object.keys(webhook), Object.keys(expected))
  t.equal(reply.headers.location, `/webhooks/${id}`)
  const got = await request('GET', `/webhooks/${id}`)
  t.strictSame(got.json, webhook, 'GET gives it without the secret')
})

t.test('POST /cases/:id/webhooks needs a url only', async (t) => {
  const { id } = await newCase()
  const reply = await request('POST', `/cases/${id}/webhooks`, { url: SILENT })
  t.equal(reply.status, 201)
  t.match(reply.json, { case_id: id, events: ['*'], secret: /^whsec_/ })
  t.equal(reply.headers.location, `/webhooks/${reply.json.id}`)
  const { secret: _, ...webhook } = reply.json
  t.strictSame((await request('GET', reply.headers.location ?? '')).json, webhook)

  const more = { url: SILENT, events: ['case_updated'], secret: SECRET }
  const scoped = await request('POST', `/cases/${id}/webhooks`, more)
  t.match(scoped.json, { case_id: id, events: ['case_updated'] }, 'but takes the rest too')
})

const taken: [string, object, string[]][] = [
  ['events null', { events: null }, ['*']],
  ['secret null', { secret: null }, ['*']],
  ['names', { events: ['case_updated', 'plan_approved'] }, ['case_updated', 'plan_approved']],
  ['a name twice', { events: ['*', 'case_created', '*'] }, ['*', 'case_created']],
  ['a secret of one character', { secret: ' ' }, ['*']],
  ['a secret of 1000', { secret: 'é'.repeat(1000) }, ['*']],
  ['fields that nobody knows', { disabled: true, id: NOBODY, case_id: NOBODY, x: {} }, ['*']],
]

t.test('POST /webhooks makes a paused one, where it is asked to', async (t) => {
  const receiver = await openReceiver(t)
  const { id } = await newCase()
  const { path } = await register({ url: receiver.url, active: false })
  t.match((await request('GET', path)).json, { active: false, disabled: null })
  await rename(id, 'while it is paused')
  await request('PATCH', path, { active: true })
  t.match(envelope(await receiver.next()), { event_type: 'case_updated' })
})

t.test('POST /webhooks takes', async (t) => {
  for (const [name, fields, events] of taken) {
    const { json, status } = await request('POST', '/webhooks', { url: SILENT, ...fields })
    t.match([status, json], [201, { case_id: null, events, active: true }], name)
    t.not(json.id, NOBODY)
    const isGiven = 'secret' in fields && fields.secret !== null
    t.equal('secret' in json, !isGiven, 'a secret is shown only where it was made')
  }
})

// Refusing

const wrongFields: [field: string, value: unknown, ...RegExp[]][] = [
  ['url', 7, /expected a string; got the number 7/],
  ['url', null, /expected a string; got null/],
  ['url', 'example.com/hook', /http or https URL/],
  ['url', 'ftp://127.0.0.1/hook', /http or https URL/],
  ['url', 'http://ada:hunter2@127.0.0.1/hook', /without a user name or password/],
  ['url', 'http://169.254.169.254/latest', /link-local/],
  ['url', app.url, /this service itself/],
  ['events', '*', /expected an array; got the string "\*"/],
  ['events', [], /at least one/],
  ['events', Array(101).fill('*'), /at most 100 items/],
  ['events[1]', ['*', 5], /expected a string; got the number 5/],
  ['events[1]', ['*', 'case_exploded'], /got the string "case_exploded"/, /^.{0,150}$/],
  ['events[0]', ['constructor'], /got the string "constructor"/],
  ['events[0]', ['case_update'], /did you mean case_updated\?/],
  ['events[0]', ['session_output'], /is not sent to webhooks/, /GET \/events/],
  ['events[0]', ['ping'], /POST …\/test/],
  ['secret', '', /1 to 1000 characters; got 0 characters/],
  ['secret', SECRET.repeat(50), /1 to 1000 characters; got 1400 characters/],
  ['secret', 123454321, /another type/],
  ['secret', [SECRET], /another type/],
  ['active', 'yes', /true or false/],
]

t.test('what is wrong is refused by its name, by POST and by PATCH', async (t) => {
  const { path } = await register({ url: SILENT })
  const { id } = await newCase()
  // without the counts, which go on meanwhile
  const registered = async () => {
    const all: WebhookJson[] = (await request('GET', '/webhooks')).json
    return all.map(({ id, url, events, active }) => ({ id, url, events, active }))
  }
  const before = await registered()
  const asked: [string, string][] = [
    ['POST', '/webhooks'],
    ['POST', `/cases/${id}/webhooks`],
    ['PATCH', path],
  ]
  for (const [method, where] of asked) {
    for (const [field, value, ...says] of wrongFields) {
      const body = { url: SILENT, [field.replace(/\[.*/, '')]: value }
      const reply = await request(method, where, body)
      namesField(t, reply, field, ...says)
      for (const secret of [SECRET, '123454321', 'hunter2']) t.notMatch(reply.text, secret)
    }
    const body = `{"url":${JSON.stringify(SILENT)},"secret":"${SECRET}\\ud800"}`
    const reply = await request(method, where, body, { 'content-type': 'application/json' })
    namesField(t, reply, 'secret', /half of a surrogate pair/)
    t.notMatch(reply.text, SECRET)
  }
  const wrong = ['nope', '*', 'nada', 'rien']
  const { errors } = (await request('POST', '/webhooks', { url: SILENT, events: wrong })).json
  const paths = errors.map((each: { path: string }) => each.path)
  t.strictSame(paths, ['events[0]', 'events[2]', 'events[3]'], 'all of them are named')
  namesField(t, await request('POST', '/webhooks', {}), 'url', /it is missing/)
  t.strictSame(await registered(), before, 'nothing was made or changed')
  t.strictSame((await request('GET', `/cases/${id}/webhooks`)).json, [])
})

// Lists and addresses

t.test('the lists are apart: global, and of each case', async (t) => {
  const [one, other] = [await newCase(), await newCase()]
  const own: string[] = []
  for (const _ of [1, 2, 3]) {
    own.push((await register({ url: SILENT }, `/cases/${one.id}/webhooks`)).id)
  }
  const { id } = await register({ url: SILENT })
  const all = (await request('GET', '/webhooks')).json
  t.ok(idsOf(all).includes(id))
  t.ok(all.every((each: { case_id: unknown }) => each.case_id === null))
  t.strictSame((await request('GET', `/cases/${other.id}/webhooks`)).json, [])

  const listed = await request('GET', `/cases/${one.id}/webhooks`)
  t.strictSame(idsOf(listed.json).sort(), own.sort())
  const times = listed.json.map((each: { created_at: string }) => each.created_at)
  t.strictSame(times, [...times].sort().reverse(), 'newest first')
  const { etag = '' } = listed.headers
  const held = await request('GET', `/cases/${one.id}/webhooks`, undefined, {
    'if-none-match': etag,
  })
  t.equal(held.status, 304)

  const first = await request('GET', `/cases/${one.id}/webhooks?limit=2`)
  t.strictSame(first.json, listed.json.slice(0, 2))
  t.equal(first.headers['x-total-count'], '3')
  const next = /<(.*)>; rel="next"/.exec(first.headers.link ?? '')?.[1] ?? ''
  t.strictSame((await request('GET', next)).json, listed.json.slice(2))
  t.equal((await request('GET', '/webhooks?limit=0')).status, 400)
})

/** What can be done with any webhook: method, path behind it, status where it is found. */
const deeds: [string, string, number][] = [
  ['GET', '', 200],
  ['PATCH', '', 200],
  ['POST', '/test', 200],
  ['GET', '/deliveries', 200],
  ['POST', '/deliveries/evt_1_0/redeliver', 404],
  ['DELETE', '', 200],
]
const doing = (method: string, path: string) =>
  request(method, path, method === 'PATCH' ? { active: true } : undefined)

t.test(
  'a webhook of a case is reached by its id alone, and deleted below the case too',
  async (t) => {
    const { id } = await newCase()
    const webhook = await register({ url: SILENT }, `/cases/${id}/webhooks`)
    for (const [method, path, status] of deeds) {
      const reply = await doing(method, webhook.path + path)
      t.equal(reply.status, status, `${method} ${path}: ${reply.text}`)
    }
    t.equal((await request('GET', webhook.path)).status, 404, 'it is deleted')
    const other = await register({ url: SILENT }, `/cases/${id}/webhooks`)
    t.equal((await request('DELETE', `/cases/${id}${other.path}`)).status, 200)
    t.equal((await request('GET', other.path)).status, 404, 'it is deleted')
  },
)

t.test('it is not reached below another case, nor a global one below any', async (t) => {
  const [one, other] = [await newCase(), await newCase()]
  const scoped = await register({ url: SILENT }, `/cases/${one.id}/webhooks`)
  const global = await register({ url: SILENT })
  for (const [method, path] of [
    ['DELETE', `/cases/${other.id}/webhooks/${scoped.id}`],
    ['DELETE', `/cases/${one.id}/webhooks/${global.id}`],
    ['DELETE', `/cases/${NOBODY}/webhooks/${scoped.id}`],
    ...deeds.map(([method, path]) => [method, `/webhooks/${NOBODY}${path}`]),
  ]) {
    const reply = await doing(method!, path!)
    t.equal(reply.status, 404, `${method} ${path}`)
    t.equal(reply.json.code, 'not_found')
  }
  for (const id of [NOBODY, 'x']) {
    t.equal((await request('GET', `/cases/${id}/webhooks`)).status, 404)
    t.equal((await request('POST', `/cases/${id}/webhooks`, { url: SILENT })).status, 404)
  }
  for (const { path } of [scoped, global]) t.equal((await request('GET', path)).status, 200)
})

// What is sent

t.test('a global webhook gets all cases, one of a case only that case', async (t) => {
  const [everything, scoped] = [await openReceiver(t), await openReceiver(t)]
  const [one, other] = [await newCase(), await newCase()]
  const global = await register({ url: everything.url, secret: SECRET })
  const own = await register({ url: scoped.url }, `/cases/${one.id}/webhooks`)
  await rename(other.id, 'first')
  await rename(one.id, 'second')
  await request('PUT', `/cases/${other.id}/state`, { state: 'BLOCKED' })

  const all = await everything.until(3)
  t.match(all.map(envelope), [
    { event_type: 'case_updated', payload: { case_id: other.id } },
    { event_type: 'case_updated', payload: { case_id: one.id } },
    { event_type: 'case_state_changed', payload: { case_id: other.id, new_state: 'BLOCKED' } },
  ])
  t.ok(all.every((each) => isSignedWith(SECRET, each)))
  const mine = await scoped.next()
  t.strictSame(envelope(mine), envelope(all[1]!))
  t.ok(isSignedWith(own.secret, mine))
  await settled(global.path, 3)
  t.equal((await settled(own.path, 1)).length, 1)
  for (const { path } of [global, own]) await request('DELETE', path)
})

t.test('POST …/test sends a ping, and says what came of it', async (t) => {
  const receiver = await openReceiver(t)
  const { id: caseId } = await newCase()
  const { id, path, secret } = await register({ url: receiver.url }, `/cases/${caseId}/webhooks`)
  const good = await request('POST', `${path}/test`)
  t.equal(good.status, 200)
  t.match(good.json, {
    id: /^ping_/,
    event_type: 'ping',
    delivered: true,
    status: 200,
    error: null,
  })
  t.strictSame(Object.keys(good.json), ['id', 'event_type', 'delivered', 'status', 'error', 'ms'])
  t.type(good.json.ms, 'number')
  const ping = await receiver.next()
  t.match(ping.headers, { 'x-service-event': 'ping', 'webhook-id': good.json.id })
  t.match(envelope(ping), { event_type: 'ping', payload: { webhook_id: id, case_id: caseId } })
  t.ok(isSignedWith(secret, ping))

  await request('PATCH', path, { active: false })
  receiver.script(500)
  const bad = await request('POST', `/webhooks/${id}/test`)
  t.equal(bad.status, 200, 'also while it is paused')
  t.match(bad.json, { delivered: false, status: 500, error: /500/ })

  await receiver.close()
  const none = await request('POST', `${path}/test`)
  t.match(none.json, { delivered: false, status: null, error: /refused/ })
  t.strictSame((await request('GET', `${path}/deliveries`)).json, [], 'it is kept nowhere')
  t.match((await request('GET', path)).json, { retrying: 0, failing_since: null })
})

// Changing

t.test('PATCH changes what it names, and nothing else', async (t) => {
  const before = await register({ url: SILENT, events: ['case_updated'] })
  const { path, secret } = before
  const changes: [object, object][] = [
    [{ url: 'http://127.0.0.1:3/' }, { url: 'http://127.0.0.1:3/' }],
    [{ events: ['case_created', 'case_created'] }, { events: ['case_created'] }],
    [{ events: null }, { events: ['*'] }],
    [{ active: false }, { active: false, disabled: null }],
    [
      { active: true, x: 1, id: NOBODY, dead: 7 },
      { active: true, dead: 0 },
    ],
    [{ secret: SECRET }, {}],
  ]
  let now = (await request('GET', path)).json
  for (const [change, expected] of changes) {
    const reply = await request('PATCH', path, change)
    t.equal(reply.status, 200, reply.text)
    const { updated_at } = reply.json
    t.strictSame(reply.json, { ...now, ...expected, updated_at })
    t.ok(updated_at >= now.updated_at)
    const got = await request('GET', path)
    t.strictSame(got.json, reply.json)
    t.equal(got.headers.etag, reply.headers.etag)
    now = got.json
  }
  const made = await request('PATCH', path, { secret: null })
  t.match(made.json.secret, /^whsec_/)
  t.not(made.json.secret, secret)
  const got = await request('GET', path)
  const { secret: _, ...shown } = made.json
  t.strictSame(got.json, shown, 'it is shown once')
  t.equal(got.headers.etag, made.headers.etag, 'and is no part of the ETag')
})

t.test('PATCH refuses what names nothing, and what is no true or false', async (t) => {
  const { path } = await register({ url: SILENT })
  for (const body of [{}, { case_id: NOBODY, x: 1 }]) {
    const reply = await request('PATCH', path, body)
    t.equal(reply.status, 400)
    t.match(reply.json.detail, /at least one of url, events, secret, active/)
  }
  for (const active of [null, 'false', 0]) {
    const reply = await request('PATCH', path, { active })
    namesField(t, reply, 'active', /expected true or false; got/)
  }
})

t.test('PATCH reaches the receiver: another secret, other events, another url', async (t) => {
  const [receiver, next] = [await openReceiver(t), await openReceiver(t)]
  const { id } = await newCase()
  const list = `/cases/${id}/webhooks`
  const { path, secret } = await register({ url: receiver.url, secret: 'old' }, list)
  t.equal(secret, undefined)
  const { json } = await request('PATCH', path, { secret: null })
  await rename(id, 'one')
  const first = await receiver.next()
  t.ok(isSignedWith(json.secret, first))
  t.match(first.headers['webhook-signature'], /^v1,\S+ v1,\S+$/, 'the old one signs too')

  await request('PATCH', path, { events: ['case_state_changed'], url: next.url })
  await rename(id, 'two')
  await request('PUT', `/cases/${id}/state`, { state: 'WATCHLIST' })
  t.match(envelope(await next.next()), { event_type: 'case_state_changed' })
  t.equal(receiver.received.length, 1)
})

t.test('a paused webhook gets its events when it is resumed', async (t) => {
  const receiver = await openReceiver(t)
  const { id } = await newCase()
  const { path } = await register({ url: receiver.url }, `/cases/${id}/webhooks`)
  t.match((await request('PATCH', path, { active: false })).json, { active: false })
  await rename(id, 'while it is paused')
  t.strictSame((await request('GET', `${path}/deliveries`)).json, [])
  t.equal(receiver.received.length, 0)
  await request('PATCH', path, { active: true })
  t.match(envelope(await receiver.next()), { event_type: 'case_updated' })
})

t.test('PATCH and DELETE keep to If-Match', async (t) => {
  const { path } = await register({ url: SILENT })
  const patch = (etag: string, body: object) => request('PATCH', path, body, { 'if-match': etag })
  const { etag = '' } = (await request('GET', path)).headers
  t.match(etag, /^"[0-9a-f]+"$/)
  const held = await request('GET', path, undefined, { 'if-none-match': etag })
  t.equal(held.status, 304)
  const stale = await patch('"x"', { active: false })
  t.equal(stale.status, 412)
  t.match(stale.json, { code: 'precondition_failed', etag })

  const both = await Promise.all([
    patch(etag, { events: ['case_created'] }),
    patch(etag, { events: ['case_deleted'] }),
  ])
  t.strictSame(both.map(({ status }) => status).sort(), [200, 412], 'one of two at once')
  const kept = both.find(({ status }) => status === 200)!
  t.strictSame((await request('GET', path)).json, kept.json)

  const gone = (held: string) => request('DELETE', path, undefined, { 'if-match': held })
  t.equal((await gone(etag)).status, 412)
  t.equal((await gone(kept.headers.etag ?? '')).status, 200)
})

// Deliveries

t.test('the list of deliveries, and the states', async (t) => {
  const receiver = await openReceiver(t)
  const { id } = await newCase()
  const { path } = await register({ url: receiver.url }, `/cases/${id}/webhooks`)
  receiver.script(200, 503)
  await rename(id, 'arrives')
  await rename(id, 'fails')
  await rename(id, 'arrives too')
  const list = await settled(path, 3)
  const idOf = (at: number) => String(receiver.received[at]?.headers['webhook-id'])
  const [first, second, third] = [idOf(0), idOf(1), idOf(2)]
  t.strictSame(idsOf(list), [third, second, first], 'the newest first, with the ids that were sent')
  t.match(list, [{ state: 'delivered' }, { state: 'retrying' }, { state: 'delivered' }])
  const keys = [
    'id',
    'event_id',
    'event_type',
    'state',
    'created_at',
    'next_attempt_at',
    'attempts',
    'envelope',
  ]
  t.strictSame(Object.keys(list[0]), keys)
  const sent = envelope(receiver.received[0]!)
  t.match(list[2], {
    event_type: 'case_updated',
    created_at: sent.timestamp,
    next_attempt_at: null,
    attempts: [{ at: TIME, ms: Number, status: 200, error: null }],
    envelope: sent,
  })
  t.equal(list[2].id.split('_')[1], String(list[2].event_id))
  t.match(list[1], { next_attempt_at: TIME, attempts: [{ status: 503, error: /503/ }] })
  t.strictSame(Object.keys(list[1].attempts[0]), ['at', 'ms', 'status', 'error'])
  t.match((await request('GET', path)).json, { retrying: 1, dead: 0, failing_since: null })

  const states: [string, string[]][] = [
    ['delivered', [third, first]],
    ['retrying', [second]],
    ['dead', []],
    ['dead,retrying', [second]],
    ['dead&state=retrying', [second]],
  ]
  for (const [state, expected] of states) {
    const { json } = await request('GET', `${path}/deliveries?state=${state}`)
    t.strictSame(idsOf(json), expected, `state=${state}`)
  }
  namesField(t, await request('GET', `${path}/deliveries?state=`), 'state', /it is empty/)
  const wrong = await request('GET', `${path}/deliveries?state=retrying,lost`)
  namesField(t, wrong, 'state', /expected one of delivered, retrying, dead; got "lost"/)
})

t.test('deliveries come in pages, in the order of the log', inLongLane, async (t) => {
  const receiver = await openReceiver(t)
  const { id } = await newCase()
  const { path } = await register({ url: receiver.url }, `/cases/${id}/webhooks`)
  for (let n = 0; n < 12; n++) await rename(id, `title ${n}`)
  const all = await settled(path, 12)
  const events = all.map((each: { event_id: number }) => each.event_id)
  t.strictSame(
    events,
    [...events].sort((a, b) => b - a),
    'by number, not by text',
  )

  const paged: { id: string }[] = []
  let next: string | undefined = `${path}/deliveries?state=delivered&limit=9`
  for (let pages = 0; next !== undefined; pages++) {
    const reply: Reply = await request('GET', next)
    t.equal(reply.headers['x-total-count'], String(12 + pages))
    paged.push(...reply.json)
    next = /<(.*)>; rel="next"/.exec(reply.headers.link ?? '')?.[1]
    await rename(id, `newer ${pages}`) // it moves nothing of what is still to come
    await settled(path, 13 + pages)
  }
  t.strictSame(paged, all)
})

t.test('POST …/redeliver sends the same once more', async (t) => {
  const receiver = await openReceiver(t)
  const { id } = await newCase()
  const { path } = await register({ url: receiver.url }, `/cases/${id}/webhooks`)
  receiver.script(500)
  await rename(id, 'again')
  const [failed] = await settled(path, 1)
  const where = `${path}/deliveries/${failed.id}`
  t.equal(failed.state, 'retrying')

  await request('PATCH', path, { active: false })
  t.match((await request('GET', `${path}/deliveries`)).json, [
    { state: 'retrying', next_attempt_at: null },
  ])
  const paused = await request('POST', `${where}/redeliver`)
  t.equal(paused.status, 422)
  t.match(paused.json, { code: 'wrong_state', detail: /"active": true/ })
  await request('PATCH', path, { active: true })

  for (const tries of [2, 3]) {
    const reply = await request('POST', `${where}/redeliver`)
    t.equal(reply.status, 202)
    t.match(reply.json, { id: failed.id, envelope: { event_type: 'case_updated' } })
    const [sent] = await once(`${path}/deliveries`, ([only]) => only.attempts.length === tries)
    t.match(sent, { state: 'delivered' })
    t.match(sent.attempts.at(-1), { status: 200 })
  }
  const bodies = new Set(receiver.received.map(({ body }) => body.toString()))
  t.equal(bodies.size, 1)
  t.equal((await request('POST', `${path}/deliveries/nope/redeliver`)).status, 404)
})

// The end

t.test('a deleted webhook is sent nothing more', async (t) => {
  const [receiver, witness] = [await openReceiver(t), await openReceiver(t)]
  const { id } = await newCase()
  const { path, id: gone } = await register({ url: receiver.url }, `/cases/${id}/webhooks`)
  await register({ url: witness.url }, `/cases/${id}/webhooks`)
  const reply = await request('DELETE', path)
  t.equal(reply.status, 200)
  t.strictSame(reply.json, { id: gone, deleted: true })
  t.equal((await request('DELETE', path)).status, 404)
  await rename(id, 'unheard')
  await witness.next()
  t.equal(receiver.received.length, 0)
})

t.test('with a deleted case its webhooks go, once they have what was told of it', async (t) => {
  const receiver = await openReceiver(t)
  const { id } = await newCase()
  const list = `/cases/${id}/webhooks`
  const events = ['case_updated', 'case_deleted']
  const webhook = await register({ url: receiver.url, events }, list)
  const global = await register({ url: SILENT })
  await rename(id, 'at last')
  const reply = await request('DELETE', `/cases/${id}`)
  t.equal(reply.status, 200)
  t.equal((await request('GET', list)).status, 404)
  t.equal((await request('GET', `/webhooks/${webhook.id}`)).status, 404)
  const received = await receiver.until(2)
  t.strictSame(
    received.map((each) => envelope(each).event_type),
    events,
  )
  t.equal((await request('GET', global.path)).status, 200)
})

t.test('no webhook stays behind when its case is deleted at the same moment', async (t) => {
  const { webhooks } = app.service
  const { add } = webhooks
  t.teardown(() => {
    webhooks.add = add
  })
  const { id } = await newCase()
  webhooks.add = async (wanted) => {
    await request('DELETE', `/cases/${id}`)
    return add(wanted)
  }
  t.equal((await request('POST', `/cases/${id}/webhooks`, { url: SILENT })).status, 404)
  t.strictSame(webhooks.list(id), [])
})

t.test('where the folder of a case is removed by hand, its webhooks stay', async (t) => {
  const { id } = await newCase()
  const { id: webhook } = await register({ url: SILENT }, `/cases/${id}/webhooks`)
  await rm(app.file(id), { recursive: true })
  t.equal((await request('DELETE', `/cases/${id}/webhooks/${webhook}`)).status, 404)
  t.equal((await request('GET', `/cases/${id}/webhooks`)).status, 404)
  t.match((await request('GET', `/webhooks/${webhook}`)).json, { case_id: id, active: true })
  t.equal((await request('DELETE', `/webhooks/${webhook}`)).status, 200)
})

t.test('after a restart all is as before, and no secret was ever told', async (t) => {
  const { id } = await newCase()
  const { path } = await register({ url: SILENT, secret: SECRET }, `/cases/${id}/webhooks`)
  const { secret } = await register({ url: SILENT })
  await rename(id, 'it fails')
  await settled(path, 1)
  await request('PATCH', path, { active: false }) // else it is tried again in 4 s
  await app.service.webhooks.idle() // the global ones were refused as well, each in its own time
  const paths = ['/webhooks', path, `${path}/deliveries`]
  const before = await Promise.all(paths.map((where) => request('GET', where)))
  await app.restart()
  for (const [index, where] of paths.entries()) {
    const after = await request('GET', where)
    t.strictSame(after.json, before[index]?.json, where)
    for (const each of [SECRET, secret]) t.notOk(after.text.includes(each))
  }
  for (const each of [SECRET, secret, 'whsec_']) t.notOk(app.log.join('\n').includes(each))
})
