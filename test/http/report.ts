import { writeFileSync } from 'node:fs'
import t from 'tap'
import { pngOf } from '../fixtures/pictures.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('a report has all of a case in one file that loads and runs nothing', async (t) => {
  const app = await openTestService(t)
  const ref = await planned(app, { runbook: step('echo "<b>out</b>"; echo "| x"') })
  await finished(app, ref)
  const { case_id: id } = ref
  const path = `/cases/${id}`
  const title = 'Tags <script>alert(1)</script> & *stars*'
  const description = '# Why\n\n<img src=x onerror=alert(1)> ![p](https://example.com/p.png)'
  await must(app, 'PUT', path, { title, description })
  const item = { description: 'Seen', type: 'screenshot', required: true }
  await must(app, 'POST', `${path}/proof/checklist`, item)
  const png = pngOf(4, 3)
  const sent = { 'content-type': 'image/png' }
  const { json: proof } = await app.request('POST', `${path}/proof`, png, sent)
  await must(app, 'PUT', `${path}/proof/${proof.id}/verify`)
  await must(app, 'POST', `${path}/proof`, { type: 'log', content: '```\nfence' })

  const html = await app.request('GET', `${path}/report`)
  t.match(html, {
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    },
  })
  t.notMatch(html.text, /<script|<img[^>]+onerror|(?:src|srcset)="(?!data:)|<link|@import|url\(/)
  t.match(html.text, `src="data:image/png;base64,${png.toString('base64')}"`)
  const { plan_sha256 } = await must(app, 'GET', ref.path)
  for (const shown of [
    'Tags &lt;script&gt;alert(1)&lt;/script&gt; &amp; *stars*',
    `Seen (screenshot, required): proved by ${proof.id}`,
    `plan ${plan_sha256}`,
    'exit 0 after',
    '&lt;b&gt;out&lt;/b&gt;',
    proof.sha256,
  ]) {
    t.ok(html.text.includes(shown), shown)
  }

  const md = await app.request('GET', `${path}/report?format=md`)
  t.match(md, { status: 200, headers: { 'content-type': 'text/markdown; charset=utf-8' } })
  t.match(md.text, /^# Tags \\<script\\>alert\(1\)\\<\/script\\> & \\\*stars\\\*\n/)
  t.match(md.text, '### Why', 'headings of a text stay below that of the report')
  t.match(md.text, `- [x] Seen (screenshot, required): proved by ${proof.id}`)
  t.match(md.text, '````text\n```\nfence\n````')
  const one = await app.request('GET', `${path}/report?format=md&session=${ref.id}`)
  t.ok(md.text.includes(one.text.trim()), 'the part of a session is the same')
  t.match(one.text, /^## Session 1: /)
  t.equal((await app.request('GET', `${path}/report?format=pdf`)).status, 400)
})

t.test('the report of a huge case is cut, and says so', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const lines = Array.from({ length: 2000 }, (_, n) => `A note, number ${n}.`)
  writeFileSync(app.file(id, 'history.md'), `# History\n\n${lines.join('\n\n')}\n`)
  const content = 'x'.repeat(5 * 1024 * 1024)
  await must(app, 'POST', `/cases/${id}/proof`, { type: 'log', content })
  const { text } = await app.request('GET', `/cases/${id}/report`)
  t.ok(text.length < 500_000, String(text.length))
  t.match(text, /older lines are left out/)
  t.match(text, /more characters are left out/)
  t.ok(text.includes('number 1999'))
})
