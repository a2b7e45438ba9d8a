import { statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { connect } from '../fixtures/event-source.ts'
import { inLongLane } from '../fixtures/full.ts'
import { filesBelow } from '../fixtures/paths-below.ts'
import { listen } from '../fixtures/published-events.ts'
import { openReceiver, raw } from '../fixtures/receiver.ts'
import { git, must, ran, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const FIRST = 'first-Zq8vR3-secret'
const SECOND = 'second-Xw7kT1-secret'
const REFUSED = 'refused-Jm4nB9-secret'

/** Deliveries that arrive, that fail in several ways, and that are tried again; gives all made secrets. */
async function history(t: Test, app: TestService, answers: string[]) {
  const ask = async (method: string, path: string, body?: object | string) => {
    const answer = await app.request(method, path, body, { 'content-type': 'application/json' })
    // the one answer that is to tell a secret, and only one that it made
    if (!(method === 'POST' && /webhooks$/.test(path) && answer.status === 201))
      answers.push(`${answer.text}${JSON.stringify(answer.headers)}`)
    return answer
  }
  const good = await openReceiver(t)
  const bad = await openReceiver(t, { otherwise: 500 })
  const odd = await openReceiver(t, { otherwise: raw('no HTTP\r\n', 'reset') })
  const secrets: string[] = [FIRST, SECOND]
  const webhooks: string[] = []
  const { id } = await app.newCase({ title: 'Keeps a secret' })
  for (const list of ['/webhooks', `/cases/${id}/webhooks`]) {
    for (const { url } of [good, bad, odd]) {
      for (const secret of [FIRST, undefined]) {
        const made = await ask('POST', list, { url, secret, events: ['*', 'webhook_disabled'] })
        t.equal(made.status, 201)
        t.equal(made.text.includes(FIRST), false, 'a given secret is not said again')
        if (secret === undefined) secrets.push(made.json.secret)
        webhooks.push(made.headers.location as string)
      }
    }
  }
  const { ref } = await ran(app, step('env; echo done; ls -la'), { fields: { title: 'Runs' } })
  for (const path of webhooks) {
    await ask('PATCH', path, { secret: SECOND })
    await ask('POST', `${path}/test`)
    for (const body of [
      { secret: [REFUSED] },
      { secret: { [REFUSED]: REFUSED } },
      { secret: REFUSED.repeat(100) },
      { secret: REFUSED, url: 'file:///etc/passwd' },
      { secret: REFUSED, events: ['no such event'] },
      `{"secret":"${REFUSED}","url":`,
      `{"secret":"${REFUSED}" "url":"http://x/"}`,
      `{"secret":"${REFUSED}\\ud800"}`,
      `${REFUSED}`,
    ]) {
      const refused = await ask('PATCH', path, body)
      t.equal(refused.status, 400, refused.text)
      t.equal((await ask('POST', '/webhooks', body)).status, 400)
    }
  }
  await ask('PUT', `/cases/${id}`, { title: 'Kept a secret' })
  const delivered = (path: string) => must(app, 'GET', `${path}/deliveries`)
  for (const path of webhooks) {
    let all = await delivered(path)
    while (all.length === 0 || all[0].attempts.length === 0) all = await delivered(path)
    await ask('POST', `${path}/deliveries/${all[0].id}/redeliver`)
  }
  return { id, ref, webhooks, secrets: [...secrets, REFUSED], ask, good }
}

t.test('after a whole history a secret stands in the database alone', inLongLane, async (t) => {
  const app = await openTestService(t, { dev: true })
  git(app.root, 'init', '--quiet')
  const reported = listen(t, app)
  const events = await connect(`${app.url}/events?after=0`)
  const answers: string[] = []
  const { id, ref, webhooks, secrets, ask, good } = await history(t, app, answers)
  t.equal(secrets.length, 9)

  await app.restart()
  await must(app, 'PUT', `/cases/${id}`, { title: 'Keeps it still' })

  const paths = ['/', '/health', '/version', '/openapi.json', '/webhooks', '/providers', '/triage']
  const ofCases = [`/cases/${id}`, ref.path, `/cases/${ref.case_id}`].flatMap((path) => [
    path,
    `${path}/webhooks`,
    `${path}/memory`,
    `${path}/proof`,
    `${path}/stream`,
  ])
  const pages = [`/case/${id}`, `/case/${ref.case_id}`, `/case/${ref.case_id}/session/1`]
  for (const path of [...paths, ...ofCases, ...pages]) {
    await ask('GET', path)
    await ask('DELETE', `${path}/nothing`)
  }
  for (const path of webhooks) {
    for (const method of ['GET', 'PUT', 'HEAD']) await ask(method, path)
    await ask('GET', `${path}/deliveries?limit=1000`)
  }
  const again = await connect(`${app.url}/events?after=0`)
  await again.next(({ event }) => event === 'case_updated')
  await app.service.webhooks.idle()
  events.close()
  again.close()
  await app.close() // or git finds files that are on their way to another name

  const said = {
    answers: answers.join('\n'),
    streams: [...events.received, ...again.received].map(({ data }) => data).join('\n'),
    reported: JSON.stringify(reported.history),
    log: app.log.join('\n'),
    payloads: good.received.map(({ body, headers }) => body + JSON.stringify(headers)).join('\n'),
    'git add': git(app.root, 'add', '--all', '--force', '--dry-run'),
  }
  git(app.root, 'add', '--all', '--force')
  for (const secret of secrets) {
    const forms = [secret, secret.replace('whsec_', ''), Buffer.from(secret).toString('base64')]
    forms.push(Buffer.from(secret).toString('hex'), encodeURIComponent(secret))
    for (const [where, words] of Object.entries(said)) {
      for (const form of forms) t.notOk(words.includes(form), where)
    }
    t.throws(() => git(app.root, 'grep', '--cached', '--quiet', '-F', '-e', secret), {
      status: 1,
    } as unknown as Error)
    for (const { path, bytes } of filesBelow(app.root)) t.notOk(bytes.includes(secret), path)
    const holders = [...filesBelow(app.stateDir)].filter(({ bytes }) => bytes.includes(secret))
    t.equal(holders.length > 0, secret !== REFUSED)
    for (const { path } of holders) {
      t.match(path, /\/state\/casefile\.db$/)
      t.equal(statSync(path).mode & 0o777, 0o600)
      t.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
    }
  }
  t.ok(said.streams.length > 1000 && said.answers.length > 10_000 && said['git add'] !== '')
})

t.test('a secret that was replaced or deleted is in no file', async (t) => {
  const app = await openTestService(t)
  const { url } = await openReceiver(t)
  const holds = (secret: string) =>
    [...filesBelow(app.stateDir)].some(({ bytes }) => bytes.includes(secret))
  const { headers } = await app.request('POST', '/webhooks', { url, secret: FIRST })
  const path = headers.location as string
  t.ok(holds(FIRST))
  await must(app, 'PATCH', path, { secret: SECOND })
  await app.restart()
  await must(app, 'PATCH', path, { secret: REFUSED }) // SECOND counts for some time
  t.notOk(holds(FIRST), 'replaced twice')
  await must(app, 'DELETE', path)
  for (const secret of [FIRST, SECOND, REFUSED]) t.notOk(holds(secret))
})
