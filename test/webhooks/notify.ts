import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { render, shownUrl } from '../../src/webhooks/notification.ts'
import { openReceiver } from '../fixtures/receiver.ts'
import { git, must, planned, ran, reaches, step } from '../fixtures/session-client.ts'
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
  t.equal(first.body.toString(), 'The plan of session 1 is ready (branch topic)')
  const message = JSON.parse((await slack.next()).body.toString())
  t.match(message.text, 'Żółć &lt;!channel&gt;: The plan of session 1 is ready (branch topic) http')
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

  await must(app, 'PUT', `/cases/${ref.case_id}`, { title: 'Another title' })
  const { plan_sha256 } = await must(app, 'GET', ref.path)
  await must(app, 'POST', `${ref.path}/approve`, { plan_sha256 })
  await reaches(app, ref, 'failed')
  const second = await ntfy.next()
  t.equal(second.body.toString(), 'Session 1 failed (branch topic)')
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
    link: `${app.url}/case/${ref.case_id}`,
  })
  t.notMatch(JSON.stringify(asked), 'the question itself')
  t.equal(ntfy.received.length, 2, 'an entry that is gone gets nothing')

  const [{ id }] = await must(app, 'GET', '/webhooks')
  t.match(await must(app, 'POST', `/webhooks/${id}/test`), { delivered: true })
  t.equal(JSON.parse((await slack.next()).body.toString()).kind, 'test')
})

t.test('what no longer waits is not sent, and a missing variable is named', async (t) => {
  const receiver = await openReceiver(t)
  const app = await openTestService(t, {
    files: { 'casefile.md': settings(`webhook: $\{NOT_SET_HERE}`, `ntfy: ${receiver.url}/t`) },
  })
  await trusted(app)
  receiver.script(500)
  const { ref } = await ran(app, step('true'))
  await app.service.webhooks.idle()
  const webhooks = await must(app, 'GET', '/webhooks')
  const failing = webhooks.find(({ notify }: { notify: string }) => notify === 'webhook')
  const [newest] = await must(app, 'GET', `/webhooks/${failing.id}/deliveries`)
  t.match(newest.attempts, [{ error: 'the variable NOT_SET_HERE is not set' }])
  t.match(ref, { case_id: String })
})

t.test('of a URL only the host is shown', async (t) => {
  t.equal(shownUrl('https://hooks.slack.com/services/T/B/x'), 'https://hooks.slack.com/…')
  t.equal(shownUrl(`https://ntfy.sh/$\{TOPIC}`), `https://ntfy.sh/$\{TOPIC}`)
  t.equal(shownUrl(`$\{SLACK}`), `$\{SLACK}`)
  const shown = {
    title: 'A',
    text: 'b',
    kind: 'test' as const,
    branch: null,
    link: 'http://127.0.0.1:1/',
  }
  t.strictSame(JSON.parse(render('webhook', shown).body), shown)
})
