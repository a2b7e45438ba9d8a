import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ATTACK = '<script>pwned=1</script>'

const policy = (forms: 'none' | 'self') =>
  `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action '${forms}'; base-uri 'none'; frame-ancestors 'none'`
const DRAWING = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
const TEXT = "sandbox; default-src 'none'"

const OPENED = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}

t.test('what a browser may do with each kind of page and file', async (t) => {
  const app = await openTestService(t)
  const ref = await planned(app, { runbook: step(`echo '${ATTACK}'`, 'sh run id=say') })
  await must(app, 'POST', `${ref.path}/abandon`, {})
  mkdirSync(app.file(ref.case_id, 'artifacts'), { recursive: true })
  writeFileSync(app.file(ref.case_id, 'artifacts', '1-say.log'), ATTACK)
  const [of, api] = [`/case/${ref.case_id}`, `/cases/${ref.case_id}`]
  await must(app, 'PUT', `${api}/memory/notes.md`, ATTACK)
  const proof = await must(app, 'POST', `${api}/proof`, { type: 'log', content: ATTACK })
  writeFileSync(app.file(ref.case_id, 'artifacts', '1-page.html'), ATTACK)
  writeFileSync(app.file(ref.case_id, 'artifacts', '1-large.html'), ATTACK)
  truncateSync(app.file(ref.case_id, 'artifacts', '1-large.html'), 30 * 1024 * 1024)

  const html = 'text/html; charset=utf-8'
  const plain = 'text/plain; charset=utf-8'
  const artifacts = `${ref.path}/artifacts`
  const table: [path: string, type: string, policy: string, headers?: Record<string, string>][] = [
    ['/', html, policy('self')],
    ['/?type=x', html, policy('self')],
    ['/find', html, policy('self')],
    ['/find?q=x', html, policy('self')],
    ['/find?q=state:x', html, policy('self')],
    ['/new', html, policy('none')],
    ['/help', html, policy('none')],
    ['/help/console', html, policy('none')],
    ['/help-pictures/case.png', 'image/png', DRAWING],
    [of, html, policy('none')],
    [`${of}/session/1`, html, policy('none')],
    [`${of}/memory/notes.md`, html, policy('none')],
    [`${of}/memory/notes.md?source`, html, policy('none')],
    [`${of}/memory/case.md`, html, policy('none')],
    [`${of}/proof/${proof.id}`, html, policy('none')],
    [`${of}/memory/nothing.md`, html, policy('none'), OPENED],
    ['/case/x', html, policy('none'), OPENED],
    ['/nothing', html, policy('none'), OPENED],
    [of, html, policy('none'), { ...OPENED, 'sec-fetch-site': 'cross-site' }],
    ['/assets/console.js', 'text/javascript; charset=utf-8', policy('none')],
    ['/assets/console.css', 'text/css; charset=utf-8', policy('none')],
    ['/assets/favicon.svg', 'image/svg+xml', policy('none')],
    [`${api}/memory/notes.md`, 'text/markdown; charset=utf-8', TEXT],
    [`${api}/memory/case.md`, 'text/markdown; charset=utf-8', TEXT],
    [`${api}/memory/1.md`, 'text/markdown; charset=utf-8', TEXT],
    [`${api}/proof/${proof.id}/content`, plain, TEXT],
    [`${artifacts}/1-say.log`, plain, TEXT],
    [`${artifacts}/1-page.html`, plain, TEXT],
    [`${artifacts}/1-large.html`, plain, TEXT],
    [`${artifacts}/1-page.html`, plain, TEXT, { range: 'bytes=0-7' }],
  ]
  for (const [path, type, expected, headers = {}] of table) {
    const name = `${path.replace(/[\da-f-]{36}/g, '…')} ${Object.keys(headers).join(' ')}`
    const reply = await app.request('GET', path, undefined, headers)
    t.equal(reply.headers['content-type'], type, name)
    t.equal(reply.headers['content-security-policy'], expected, name)
    t.equal(reply.headers['x-content-type-options'], 'nosniff', name)
    t.equal(reply.headers['cross-origin-resource-policy'], 'same-origin', name)
    t.notOk(reply.headers['access-control-allow-origin'], name)
  }
})

t.test('what is for programs is no page', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase({ title: ATTACK })
  for (const path of ['/cases', `/cases/${id}`, '/health', '/triage', '/webhooks', '/cases/x']) {
    const { headers } = await app.request('GET', path)
    t.match(headers, {
      'content-type': /^application\/(?:problem\+)?json$/,
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    })
  }
})
