import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import t from 'tap'
import { must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'
import { words } from '../fixtures/web-page.ts'
import { openTestService } from '../fixtures/workspace.ts'

const service = await openTestService(t)

/** The page as its server sends it. */
async function page(path: string) {
  const { status, text, headers } = await service.request('GET', path, undefined, {
    accept: 'text/html',
  })
  return { status, headers, html: text }
}

const pageOf = ({ case_id }: { case_id: string }, number: number | string = 1) =>
  `/case/${case_id}/session/${number}`

const hidden = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]

t.test('a plan that waits', async (t) => {
  const runbook = `First look.\n\n${step('ls -la', 'sh run id=look')}\n${step('npm test', 'sh run id=test timeout=90s proof=tap')}`
  const ref = await planned(service, { runbook })
  const session = await must(service, 'GET', ref.path)
  const { html, headers, status } = await page(pageOf(ref))
  const text = words(html)

  t.equal(status, 200)
  t.match(headers['content-security-policy'], /script-src 'self'/)
  t.match(text, /The plan of session 1 waits for approval\. Nothing runs before that\./)
  t.match(text, /Casefile runs these 2 steps in order; no agent is involved\./)
  t.match(html, /<figure class="step" id="step-look"/, 'what will run is marked')
  t.match(text, /look will run .*test will run at most 90 s · proves: test report \(TAP\)/)
  t.equal(hidden(html, 'plan_sha256'), session.plan_sha256, 'the hash that the API gives')
  t.equal(hidden(html, 'plan_sha256'), createHash('sha256').update(session.plan).digest('hex'))
  t.match(text, /Approve and run 2 steps/)
  t.notMatch(html, / style="/, 'the policy allows no inline style')

  t.test('its source, and nothing to compare it with', async (t) => {
    const source = await page(`${pageOf(ref)}?view=source`)
    t.match(
      source.html,
      /id="L3"><span class="hl-meta">````sh run id=look<\/span>\n<\/span><span [^>]*id="L4"><span [^>]*>ls<\/span> -la/,
      'with line numbers',
    )
    t.equal(hidden(source.html, 'plan_sha256'), session.plan_sha256)
    t.notMatch(source.html, /What changed/)
  })

  t.test('an edit is held to what is shown, and can be compared afterwards', async (t) => {
    const etag = /data-if-match="([^"]+)"/.exec(html)![1]!.replaceAll('&quot;', '"')
    const plan = session.plan.replace('ls -la', 'ls -l')
    const headers = { 'if-match': etag }
    const edited = await service.request('PUT', `${ref.path}/plan`, { plan }, headers)
    t.equal(edited.status, 200)
    t.equal((await service.request('PUT', `${ref.path}/plan`, { plan }, headers)).status, 412)

    const diff = await page(`${pageOf(ref)}?view=diff`)
    t.match(words(diff.html), /4 ls - ?la .*4 ls - ?l /)
    const own = await page(`${pageOf(ref)}?view=diff&against=${edited.json.plan_sha256}`)
    t.match(words(own.html), /4 ls - ?la .*4 ls - ?l /, 'never with itself')
    t.equal(hidden(diff.html, 'plan_sha256'), edited.json.plan_sha256)
    t.notMatch(diff.html, 'id="approve-button"', 'it shows a part of the text alone')
    t.match(words(diff.html), /Read the whole plan to approve it/)
    t.match(words(diff.html), /Plan revisions edited .* current written by the provider/)
  })

  t.test('one with mistakes cannot be approved', async (t) => {
    const file = service.file(ref.case_id, 'sessions', '1.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('id=look', 'id=look retries=3'))
    const { html } = await page(pageOf(ref))
    t.match(words(html), /The plan can't be approved yet\. 1 mistake in its steps/)
    t.match(words(html), /Line 3: unknown key "retries"/)
    t.match(html, /<button[^>]*id="approve-button"[^>]*disabled/)
  })
})

t.test(
  'what Casefile says of a plan stands before what others wrote, whose frames say who',
  async (t) => {
    const said = '**Casefile runs nothing.**'
    const runbook = `${said}\n\n${step('true')}\n\n## Hypothesis\n\n${said}\n`
    const ref = await planned(service, { runbook })
    const { html } = await page(pageOf(ref))
    t.match(
      words(html),
      /Plan to approve .*Casefile runs this one step; no agent.* Hypothesis from runbook\.md Casefile runs nothing\. Plan from runbook\.md Casefile runs nothing\. 1 step-1 sh/,
    )
    await must(service, 'PUT', `${ref.path}/plan`, {
      plan: `${'> '.repeat(101)}x\n\n${step('true')}`,
    })
    const complex = words((await page(pageOf(ref))).html)
    t.match(
      complex,
      /Plan edited This plan is too complex to render, .* ▶ 1 step-1 sh ````sh run true ````/,
    )
  },
)

t.test('a plan in a file with conflict markers cannot be approved', async (t) => {
  const ref = await planned(service, { runbook: step('ls', 'sh run id=look') })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const marks = '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n'
  writeFileSync(file, `${readFileSync(file, 'utf8').replace('## Plan', `${marks}\n## Plan`)}`)
  const { html } = await page(pageOf(ref))
  t.match(words(html), /The plan can't be approved: its file has a problem\./)
  t.match(html, /<button[^>]*id="approve-button"[^>]*disabled/)
  t.notMatch(html, 'id="to-approve"')
})

t.test('by another name', async (t) => {
  const ref = await planned(service)
  const second = await newSession(service, ref.case_id)
  await reaches(service, second, 'plan_ready')
  for (const name of ['latest', second.id]) {
    const { status, headers } = await page(`${pageOf(ref, name)}?view=source`)
    t.equal(status, 302)
    t.equal(headers.location, `${pageOf(ref, 2)}?view=source`)
  }
  for (const name of ['3', '01', 'x', '%00', '..%2f1', '00000000-0000-4000-8000-000000000000']) {
    const { status, headers } = await page(pageOf(ref, name))
    t.equal(status, 404, name)
    t.match(headers['content-type'], /html/)
  }
})

t.test('what is hostile stays text', async (t) => {
  const hostile = [
    '<script>pwned()</script>',
    '[x](javascript:pwned())',
    '![x](https://evil.example/x.png)',
    '<img src=x onerror=pwned()>',
    '</textarea><script>pwned()</script>',
    '\u202egnp.exe',
  ].join('\n\n')
  const runbook = `${hostile}\n\n${step("echo '</pre><script>pwned()</script>'; printf '\\033]0;title\\007\\033[2J'", 'sh run id=say')}`
  const ref = await planned(service, { runbook, fields: { title: '<b>"&', description: hostile } })
  for (const view of ['rendered', 'source', 'diff']) {
    const { html } = await page(`${pageOf(ref)}?view=${view}`)
    const tags = html.match(/<[^>]*>/g)!.join('\n')
    t.notMatch(tags, /<script(?! type="module")|<b>|javascript:|\son\w+=|src="(?!\/assets)/, view)
  }
})

t.test('a log comes in pages, and each line has its number', async (t) => {
  const ref = await planned(service, { runbook: step('true') })
  const file = service.file(ref.case_id, 'artifacts', '1-many.log')
  mkdirSync(dirname(file), { recursive: true })
  const lines = Array.from({ length: 5000 }, (_, at) => {
    const colour = at + 1 === 3000 ? '\x1b[31m' : ''
    return `${colour}${at + 1}${at + 1 === 3777 ? ' ERROR: no' : ' of many'}\n`
  })
  writeFileSync(file, lines.join(''))
  const log = `${pageOf(ref)}/log/1-many.log`
  const get = async (query = '') => (await page(`${log}${query}`)).html
  const ends = (html: string) => {
    const all = [...html.matchAll(/data-line="(\d+)"/g)].map(([, at]) => Number(at))
    return [all[0], all.at(-1)]
  }
  const first = await get()
  t.match(first, '5,000 lines')
  t.match(first, /Lines <!-- -->?1|Lines 1–2,000 of 5,000/)
  t.strictSame(ends(first), [1, 2000])
  t.notMatch(first, / style="/)
  for (const [query, from, to] of [
    ['?line=2000', 1, 2000],
    ['?line=2001', 2001, 4000],
    ['?page=3', 4001, 5000],
    ['?line=999999', 4001, 5000],
  ] as const)
    t.strictSame(ends(await get(query)), [from, to], query)
  t.match(
    await get('?line=3777'),
    '<span class="line suspect" id="L3777" data-line="3777"><span class="fg-1">3777 ERROR: no',
    'the colour of an earlier line goes on',
  )
  t.match(await get('?page=3'), 'id="L4001" data-line="4001"><span class="fg-1">')
  const error = await page(`${log}?error-after=0`)
  t.equal(error.headers.location, `${log}?line=3777#L3777`)
  t.match(await get('?error-after=3777'), 'No more errors after line 3,777.')
  const filtered = await get('?filter=%20error')
  t.match(filtered, /1 line with &quot; error&quot;/)
  t.match(filtered, `${log}?view=raw&amp;line=3777#L3777`)
  t.match(await get('?filter=MANY'), /4,999 lines with .* here are the first 1,000/)
})
