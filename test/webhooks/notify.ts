import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { expandUrl, notificationOf, render, shownUrl } from '../../src/webhooks/notification.ts'
import { openReceiver } from '../fixtures/receiver.ts'
import { git, must, planned, reaches, step } from '../fixtures/session-client.ts'
import { trusted } from '../fixtures/trust.ts'
import { openTestService } from '../fixtures/workspace.ts'

const settings = (...lines: string[]) =>
  `---\nnotify:\n${lines.map((line) => `  - ${line}\n`).join('')}---\n`

t.test('what waits is sent once, with title, branch and link, and only if trusted', async (t) => {
  const ntfy = await openReceiver(t)
  const slack = await openReceiver(t)
  const app = await openTestService(t, {
    environment: { ...process.env, CHAT: `${slack.url}/services/T0/B0/s3cr3t-part` },
    files: {
      'casefile.md': settings(`ntfy: ${ntfy.url}/topic`, `slack: \${CHAT}`),
    },
  })
  git(app.root, 'init', '--quiet', '--initial-branch=topic')
  await planned(app, { runbook: step('true') })
  t.strictSame(await must(app, 'GET', '/webhooks'), [], 'nothing without trust')
  t.match(await must(app, 'GET', '/health'), {
    problems: [
      {
        code: 'untrusted_settings',
        message: /^notify: not trusted, so nothing is sent to ntfy, slack/,
      },
    ],
  })
  t.match(await trusted(app), /ntfy: http:.*topic\n.*slack: "\$\{CHAT\}"/)

  const ref = await planned(app, {
    runbook: step('exit 3'),
    fields: { title: 'Żółć <!channel>' },
  })
  const first = await ntfy.next()
  t.match(first.headers, {
    title: `=?UTF-8?B?${Buffer.from('Żółć <!channel>').toString('base64')}?=`,
    priority: 'high',
    tags: 'memo',
    click: `${app.url}/case/${ref.case_id}/session/1`,
  })
  t.equal(first.body.toString(), 'The plan of session 1 is ready (root, branch topic)')
  const message = JSON.parse((await slack.next()).body.toString())
  t.match(
    message.text,
    'Żółć &lt;!channel&gt;: The plan of session 1 is ready (root, branch topic) http',
  )
  t.notMatch(JSON.stringify(message), '<!channel>')

  const listed = await must(app, 'GET', '/webhooks')
  // two of one millisecond come in either order
  const byKind = Object.fromEntries(listed.map((each: { notify: string }) => [each.notify, each]))
  t.equal(listed.length, 2)
  t.match(byKind, {
    slack: { url: /^\$\{CHAT\}$/ },
    ntfy: { url: /^http:\/\/127[^/]*\/…$/ },
  })
  t.notMatch(JSON.stringify(listed), 's3cr3t')
  const refused = await app.request('DELETE', `/webhooks/${listed[0].id}`)
  t.match([refused.status, refused.json.code], [422, 'wrong_state'])
  const paused = await app.request('PATCH', `/webhooks/${listed[0].id}`, { active: false })
  t.match([paused.status, paused.json.code], [422, 'wrong_state'])

  // by a forwarded port, as a browser elsewhere has it
  const browser = { host: 'localhost:9000', 'sec-fetch-site': 'same-origin' }
  t.equal((await app.request('GET', '/health', undefined, browser)).status, 200)
  await must(app, 'PUT', `/cases/${ref.case_id}`, { title: 'Another title' })
  const { plan_sha256 } = await must(app, 'GET', ref.path)
  await must(app, 'POST', `${ref.path}/approve`, { plan_sha256 })
  await reaches(app, ref, 'failed')
  const second = await ntfy.next()
  t.equal(second.body.toString(), 'Session 1 failed (root, branch topic)')
  t.equal(second.headers.click, `http://localhost:9000/case/${ref.case_id}/session/1`)
  await app.service.webhooks.idle()
  t.equal(ntfy.received.length, 2, 'once for each cause')

  writeFileSync(join(app.root, 'casefile.md'), settings(`webhook: ${slack.url}/other`))
  await trusted(app)
  await must(app, 'PUT', `/cases/${ref.case_id}/state`, {
    state: 'NEEDS_USER_INPUT',
    reason: 'the question itself',
  })
  await slack.next() // of the failure
  const asked = JSON.parse((await slack.next()).body.toString())
  t.match(asked, {
    title: 'Another title',
    kind: 'question',
    text: 'A question needs your answer',
    link: `http://localhost:9000/case/${ref.case_id}`,
  })
  t.notMatch(JSON.stringify(asked), 'the question itself')
  t.equal(ntfy.received.length, 2, 'an entry that is gone gets nothing')

  const [{ id }] = await must(app, 'GET', '/webhooks')
  t.match(await must(app, 'POST', `/webhooks/${id}/test`), { delivered: true })
  t.equal(JSON.parse((await slack.next()).body.toString()).kind, 'test')
})

t.test('what no longer waits is not sent, and a missing variable is named', async (t) => {
  const receiver = await openReceiver(t)
  const lines = [`webhook: $\{NOT_SET_HERE}`, `ntfy: ${receiver.url}/t`]
  const app = await openTestService(t, { files: { 'casefile.md': settings(...lines) } })
  await trusted(app)
  receiver.script(500)
  const ref = await planned(app, { runbook: step('true') })
  await receiver.next()
  await app.service.webhooks.idle()
  const webhooks = await must(app, 'GET', '/webhooks')
  const [failing, retried] = ['webhook', 'ntfy'].map((kind) =>
    webhooks.find(({ notify }: { notify: string }) => notify === kind),
  )
  const [newest] = await must(app, 'GET', `/webhooks/${failing.id}/deliveries`)
  t.match(newest.attempts, [{ error: 'the variable NOT_SET_HERE is not set' }])
  t.equal(newest.state, 'retrying', 'it may be set later')
  await must(app, 'POST', `${ref.path}/abandon`)
  const path = `/webhooks/${retried.id}/deliveries`
  const [first] = await must(app, 'GET', path)
  await must(app, 'POST', `${path}/${first.id}/redeliver`)
  await app.service.webhooks.idle()
  const [late] = await must(app, 'GET', path)
  t.match(late, { state: 'dead', attempts: [{ status: 500 }, { error: /no longer waits/ }] })
  t.equal(receiver.received.length, 1)
})

t.test('a plan that a person has seen is not announced, until it changes', async (t) => {
  const receiver = await openReceiver(t)
  const app = await openTestService(t, {
    files: { 'casefile.md': settings(`ntfy: ${receiver.url}/t`) },
  })
  await trusted(app)
  const [{ id }] = await must(app, 'GET', '/webhooks')
  const newest = async () => (await must(app, 'GET', `/webhooks/${id}/deliveries`))[0]
  const sendAgain = async () =>
    must(app, 'POST', `/webhooks/${id}/deliveries/${(await newest()).id}/redeliver`)
  const ref = await planned(app, { runbook: step('true') })
  await receiver.next()
  const { plan, plan_sha256 } = await must(app, 'GET', ref.path)
  t.match(await must(app, 'GET', `${ref.path}/approval`), { seen: false })
  t.match(await must(app, 'POST', `${ref.path}/seen`, { plan_sha256 }), { seen: true })
  t.match(await must(app, 'GET', `${ref.path}/approval?soon_seen=true`), { seen: true })
  await sendAgain()
  await app.service.webhooks.idle()
  t.match(await newest(), { state: 'dead', attempts: [{}, { error: /the plan was seen/ }] })
  t.match(await must(app, 'GET', '/health'), { webhooks: { failing: 0 } }, 'it did not fail')
  t.equal(receiver.received.length, 1)

  await must(app, 'PUT', `${ref.path}/plan`, { plan: plan.replace('true', 'false') })
  t.match(await must(app, 'GET', `${ref.path}/approval`), { seen: false })
  await sendAgain()
  await receiver.next()
})

t.test('what each kind of receiver reads', async (t) => {
  const shown = {
    title: 'A <!here> & b',
    text: 'c > d',
    kind: 'failed' as const,
    workspace: 'shop',
    branch: 'main',
    link: 'http://127.0.0.1:1/',
  }
  t.strictSame(JSON.parse(render('webhook', shown).body), shown)
  t.strictSame(render('ntfy', shown), {
    headers: {
      title: 'A <!here> & b',
      priority: 'default',
      tags: 'x',
      click: 'http://127.0.0.1:1/',
      'content-type': 'text/plain; charset=utf-8',
    },
    body: 'c > d (shop, branch main)',
  })
  const slack = JSON.parse(render('slack', shown).body)
  const title = 'A &lt;!here&gt; &amp; b'
  t.equal(slack.text, `${title}: c &gt; d (shop, branch main) http://127.0.0.1:1/`)
  t.equal(
    slack.blocks[0].text.text,
    `*<http://127.0.0.1:1/|${title}>*\nc &gt; d (shop, branch main)`,
  )
  const kinds = ['plan', 'question', 'failed', 'proof', 'test'] as const
  const priorities = kinds.map((kind) => render('ntfy', { ...shown, kind }).headers.priority)
  t.strictSame(priorities, ['high', 'high', 'default', 'default', 'default'])
  const payload = { case_id: 'a', kind: 'question' as const, session: null }
  const long = { ...payload, title: `two\n lines \u202e${'x'.repeat(300)}`, text: 'b\tc' }
  const made = notificationOf(
    long as never,
    { workspace: 'shop', branch: null },
    'http://127.0.0.1:1',
  )
  t.match(made, { text: 'b c', branch: null, link: 'http://127.0.0.1:1/case/a' })
  t.match(made.title, /^two lines [^\u202e]+x…$/)
  t.equal(made.title.length, 200)
})

t.test('of a URL only the host is shown, and a variable is put in', async (t) => {
  const shown: [url: string, shown: string][] = [
    ['https://hooks.slack.com/services/T/B/x', 'https://hooks.slack.com/…'],
    [`https://ntfy.sh/$\{TOPIC}`, `https://ntfy.sh/$\{TOPIC}`],
    [`$\{SLACK}`, `$\{SLACK}`],
    ['https://example.com/', 'https://example.com/'],
    ['https://ada:pw@example.com/', 'https://…@example.com/…'],
    ['https://example.com?token=x', 'https://example.com/…'],
  ]
  for (const [url, expected] of shown) t.equal(shownUrl(url), expected)
  const two = `$\{A_HOST}/$\{A_TOPIC}`
  const environment = { A_HOST: ' http://a ', A_TOPIC: 't' }
  t.strictSame(expandUrl(two, environment), { ok: true, url: 'http://a/t' })
  t.strictSame(expandUrl(two, { A_HOST: 'http://a' }), { ok: false, missing: 'A_TOPIC' })
})
