import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { must, planned, ran, says, step, stream } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

async function get(service: TestService, path: string) {
  const answer = await service.request('GET', path, undefined, { accept: 'text/html' })
  return { ...answer, html: answer.text }
}

const numbers = (html: string) =>
  [...html.matchAll(/data-line="(\d+)"/g)].map(([, at]) => Number(at))

const logOf = ({ case_id }: { case_id: string }, artifact: string) =>
  `/case/${case_id}/session/1/log/${artifact}`

t.test('a log comes in pages, and each line has its number', async (t) => {
  const service = await openTestService(t)
  const print = `for (let i = 1; i <= 200000; i++) { if (i === 3000) w('\\x1b[31m'); w(i + (i === 3777 ? ' ERROR: no' : ' of many') + '\\n') }`
  const script = `let s = ''; const w = (text) => { s += text }; ${print}; process.stdout.write(s)`
  writeFileSync(join(service.root, 'print.cjs'), script)
  const { ref } = await ran(service, step('node print.cjs', 'sh run id=many'))
  const log = logOf(ref, '1-many.log')

  const first = await get(service, log)
  t.equal(first.status, 200)
  t.match(first.html, '200,000 lines')
  t.strictSame([numbers(first.html)[0], numbers(first.html).at(-1)], [1, 2000])
  t.match(first.html, /Lines <!-- -->?1|Lines 1–2,000 of 200,000/)
  t.notMatch(first.html, / style="/)

  const inside = await get(service, `${log}?line=3777`)
  t.strictSame([numbers(inside.html)[0], numbers(inside.html).at(-1)], [2001, 4000])
  t.match(
    inside.html,
    /<span class="line suspect" id="L3777" data-line="3777"><span class="fg-1">3777 ERROR: no/,
    'the colour of an earlier line goes on',
  )
  const later = await get(service, `${log}?page=3`)
  t.match(later.html, /id="L4001" data-line="4001"><span class="fg-1">/, 'also on later pages')
  t.match((await get(service, `${log}?line=999999`)).html, 'id="L200000"', 'the last page')

  const error = await get(service, `${log}?error-after=0`)
  t.equal(error.headers.location, `${log}?line=3777#L3777`)
  const none = await get(service, `${log}?error-after=3777`)
  t.match(none.html, 'No more errors after line 3,777.')

  const filtered = await get(service, `${log}?filter=%20error`)
  t.match(filtered.html, /1 line with &quot; error&quot;/)
  t.match(filtered.html, `${log}?view=raw&amp;line=3777#L3777`)
  const many = await get(service, `${log}?filter=MANY`)
  t.match(many.html, /199,999 lines with .* here are the first 1,000/)
  t.ok(many.html.length < 1_000_000, `${many.html.length}`)
})

t.test('a line that is longer than a page', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(
    service,
    step(`head -c 700000 /dev/zero | tr '\\0' x; printf '\\nshort\\n'`, 'sh run id=long'),
  )
  const log = logOf(ref, '1-long.log')
  const first = await get(service, log)
  t.ok(first.html.length < 400_000, `${first.html.length}`)
  const last = await get(service, `${log}?page=3`)
  t.match(last.html, 'This page begins within line 1.')
  t.match(last.html, 'id="L2" data-line="2">short')
  t.match((await get(service, `${log}?line=2`)).html, 'id="L2"')
})

t.test('a log that grows', async (t) => {
  const service = await openTestService(t)
  const wait = 'echo one; echo two >&2; until test -e go; do sleep 0.02; done; echo three'
  const ref = await planned(service, { runbook: step(wait, 'sh run id=wait') })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'two')
  const log = logOf(ref, '1-wait.log')
  const during = await get(service, log)
  t.match(during.html, 'Follow it live')
  t.match(during.html, /class="line error" id="L2"/, 'standard error is marked')
  writeFileSync(join(service.root, 'go'), '')
  t.equal(await events.closed, 'ended')
  const after = await get(service, log)
  t.notMatch(after.html, 'Follow it live')
  t.match(after.html, 'id="L3" data-line="3">three')
})

t.test('only the artifacts of the session are there, and what is hostile stays text', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(
    service,
    step(`printf '<b>"&\\033]0;x\\007\\342\\200\\256gnp\\n'`, 'sh run id=say'),
  )
  const { html } = await get(service, logOf(ref, '1-say.log'))
  t.match(html, '&lt;b&gt;&quot;&amp;[U+202E]gnp')
  t.match(
    (await get(service, `${logOf(ref, '1-say.log')}?filter=${encodeURIComponent('"><b>')}`)).html,
    'value="&quot;&gt;&lt;b&gt;"',
  )
  for (const name of ['2-say.log', '1-none.log', '..%2f..%2fcase.md', 'x', '%00']) {
    t.equal((await get(service, logOf(ref, name))).status, 404, name)
  }
})
