import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  finished,
  git,
  must,
  newSession,
  planned,
  ran,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

/** The page as its server sends it, one line of blanks made one blank. */
async function page(service: TestService, path: string) {
  const { status, text, headers } = await service.request('GET', path, undefined, {
    accept: 'text/html',
  })
  return { status, headers, html: text }
}

const pageOf = ({ case_id }: { case_id: string }, number: number | string = 1) =>
  `/case/${case_id}/session/${number}`

/** What a reader sees of it, on one line. */
function words(html: string): string {
  const main = /<main[^>]*>(.*)<\/main>/s.exec(html)?.[1] ?? html
  return main
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
}

const hidden = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1]

t.test('a plan that waits', async (t) => {
  const service = await openTestService(t)
  const runbook = `First look.\n\n${step('ls -la', 'sh run id=look')}\n${step('npm test', 'sh run id=test timeout=90s proof=tap')}`
  const ref = await planned(service, { runbook })
  const session = await must(service, 'GET', ref.path)
  const { html, headers, status } = await page(service, pageOf(ref))
  const text = words(html)

  t.equal(status, 200)
  t.match(headers['content-security-policy'], /script-src 'self'/)
  t.match(text, /This plan needs your approval\. Nothing runs until you approve it\./)
  t.match(text, /Casefile runs these 2 steps in order; no agent is involved\./)
  t.match(html, /<figure class="step" id="step-look"/, 'what will run is marked')
  t.match(text, /look will run .*test will run at most 90 s · proves: test report \(TAP\)/)
  t.equal(hidden(html, 'plan_sha256'), session.plan_sha256, 'the hash that the API gives')
  t.equal(hidden(html, 'plan_sha256'), createHash('sha256').update(session.plan).digest('hex'))
  t.match(text, /Approve and run 2 steps/)
  t.notMatch(html, / style="/, 'the policy allows no inline style')

  t.test('its source, and nothing to compare it with', async (t) => {
    const source = await page(service, `${pageOf(ref)}?view=source`)
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

    const diff = await page(service, `${pageOf(ref)}?view=diff`)
    t.match(words(diff.html), /4 ls - ?la .*4 ls - ?l /)
    t.equal(hidden(diff.html, 'plan_sha256'), edited.json.plan_sha256)
    t.notMatch(diff.html, 'id="approve-button"', 'it shows a part of the text alone')
    t.match(words(diff.html), /Read the whole plan to approve it/)
    t.match(words(diff.html), /Plan revisions edited .* current written by the provider/)
  })

  t.test('one with mistakes cannot be approved', async (t) => {
    const file = service.file(ref.case_id, 'sessions', '1.md')
    writeFileSync(file, readFileSync(file, 'utf8').replace('id=look', 'id=look retries=3'))
    const { html } = await page(service, pageOf(ref))
    t.match(words(html), /The plan can't be approved yet\. 1 mistake in its steps/)
    t.match(words(html), /Line 3: unknown key "retries"/)
    t.match(html, /<button[^>]*id="approve-button"[^>]*disabled/)
  })
})

t.test(
  'what Casefile says of a plan stands before what others wrote, whose frames say who',
  async (t) => {
    const service = await openTestService(t)
    const said = '**Casefile runs nothing.**'
    const runbook = `${said}\n\n${step('true')}\n\n## Hypothesis\n\n${said}\n`
    const ref = await planned(service, { runbook })
    const { html } = await page(service, pageOf(ref))
    t.match(
      words(html),
      /Plan to approve .*Casefile runs this one step; no agent.* Hypothesis from runbook\.md Casefile runs nothing\. Plan from runbook\.md Casefile runs nothing\. 1 step-1 sh/,
    )
    await must(service, 'PUT', `${ref.path}/plan`, {
      plan: `${'> '.repeat(101)}x\n\n${step('true')}`,
    })
    const complex = words((await page(service, pageOf(ref))).html)
    t.match(
      complex,
      /Plan edited This plan is too complex to render, .* ▶ 1 step-1 sh ````sh run true ````/,
    )
  },
)

t.test('a session that has run', async (t) => {
  const service = await openTestService(t)
  const tap = "printf 'TAP version 13\\nok 1 - a\\nnot ok 2 - b\\n1..2\\n'"
  const { ref } = await ran(
    service,
    step("printf '\\033[31mred\\033[0m <b>\\n'; echo no >&2", 'sh run id=say') +
      step(tap, 'sh run id=test proof=tap'),
  )
  const { html } = await page(service, pageOf(ref))
  const text = words(html)
  t.match(text, /Completed, but 1 of 2 tests failed\. Review the result before/)
  t.notMatch(html, /Attach and verify/, 'what is attached is read first')
  t.match(text, /2 of 2 done .*say ok .*exit 0 · sh .*test ok/)
  t.match(text, /1 of 2 failed, 1 passed\./)
  t.match(
    html,
    /<span class="line" id="L1-say-1" data-line="1"><span class="fg-1">red<\/span> &lt;b&gt;/,
  )
  t.match(
    html,
    /<span class="line error" id="L1-say-2" data-line="2">no\n<\/span>/,
    'standard error is marked',
  )
  t.match(html, `href="${pageOf(ref)}/log/1-say.log"`)
  t.notMatch(html, 'name="artifact" value=', 'after tests that failed nothing is offered')
  t.match(html, /No candidate would meet &quot;At least one verified proof&quot;/)
  t.match(html, `href="${pageOf(ref)}/log/1-test.tap"`)
  t.notMatch(html, /approve-form/)

  t.test('of a line that is cut its end is kept, and marked', async (t) => {
    const { ref } = await ran(
      service,
      step(
        `head -c 700000 /dev/zero | tr '\\0' x; printf ' the end\\n'; echo short`,
        'sh run id=line',
      ) + step(`for i in $(seq 20000); do printf '\\r%s of 20000' $i; done`, 'sh run id=bar'),
    )
    const { html } = await page(service, pageOf(ref))
    t.match(html, /<span class="line" id="L1-line-1" data-line="1">…x{1000}/)
    t.match(html, /x the end\n<\/span><span class="line" id="L1-line-2" data-line="2">short\n/)
    t.match(html, /<span class="line" id="L2-bar-1" data-line="1">20000 of 20000/)
    t.match(html, '&quot;isMidLine&quot;:true')
  })

  t.test('without its output, for a page that has it', async (t) => {
    const { html } = await page(service, `${pageOf(ref)}?output=none`)
    t.notMatch(html, /class="line[" ]/)
    t.match(html, /&quot;1-say\.log&quot;,&quot;from&quot;:20,&quot;to&quot;:20,/)
  })

  t.test('a candidate that was attached is shown as that', async (t) => {
    const body = { type: 'test-log', artifact: '1-test.tap', session_id: ref.id }
    const proof = await must(service, 'POST', `/cases/${ref.case_id}/proof`, body)
    const text = words((await page(service, pageOf(ref))).html)
    t.match(text, /Completed, but 1 of 2 tests failed\. Proof is attached\. This session is sealed/)
    t.match(text, /1-test\.tap .* ✓ attached as test-log/)
    t.match((await page(service, pageOf(ref))).html, `/case/${ref.case_id}/proof/${proof.id}`)
    t.notMatch(text, /Abandon/)
  })

  t.test('its trail is there, and all of it', async (t) => {
    const { trail } = service.service.catalog.folder(ref.case_id)!.sessions[0]!
    const rows = (await page(service, pageOf(ref))).html.match(/<tr id="trail-\d+"/g)
    t.equal(rows?.length, trail.length)
  })

  t.test('where its logs are gone, what the file keeps of them is shown', async (t) => {
    const other = await openTestService(t)
    const folder = ['cases', ref.case_id]
    const texts = {
      case: readFileSync(service.file(ref.case_id, 'case.md')),
      session: readFileSync(service.file(ref.case_id, 'sessions', '1.md')),
    }
    mkdirSync(join(other.memory, ...folder, 'sessions'), { recursive: true })
    writeFileSync(join(other.memory, ...folder, 'case.md'), texts.case)
    writeFileSync(join(other.memory, ...folder, 'sessions', '1.md'), texts.session)
    await other.restart()
    const { html } = await page(other, pageOf(ref))
    t.match(words(html), /full logs are not on this machine \$ step say/)
    t.match(words(html), /1-test\.tap .* not on this machine/)
  })
})

t.test('one that failed says why, and what did not run', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(
    service,
    step('exit 3', 'sh run id=one') + step('true', 'sh run id=two'),
  )
  const text = words((await page(service, pageOf(ref))).html)
  t.match(
    text,
    /Failed: step one exited with 3, expected 0\. The plan came from runbook\.md: fix that, then plan again/,
  )
  t.match(text, /one failed .* exit 3 .* two not run/)
  t.match(text, /Output .* Changed files/, 'first what says why')
  t.match(text, /Planned .*, waited .*, ran /)
  t.notMatch(text, /New session|Took/)
})

t.test('a failed session that something came after has nothing to plan again', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(service, step('exit 3', 'sh run id=one'))
  const form = () => page(service, pageOf(ref)).then(({ html }) => /class="plan-again/.test(html))
  t.ok(await form())
  await must(service, 'PUT', `/cases/${ref.case_id}/state`, { state: 'WONT_FIX' })
  t.notOk(await form(), 'in a closed case')
  await must(service, 'PUT', `/cases/${ref.case_id}/state`, { state: 'OPEN' })
  t.ok(await form())
  await must(service, 'POST', `/cases/${ref.case_id}/sessions`, { again: ref.id })
  t.notOk(await form(), 'with a newer session')
})

t.test('one that runs', async (t) => {
  const service = await openTestService(t)
  const wait = 'echo begun; echo oh >&2; until test -e go; do sleep 0.02; done'
  const ref = await planned(service, {
    runbook:
      step('true', 'sh run id=first') +
      step(wait, 'sh run id=wait') +
      step('true', 'sh run id=last'),
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'oh')
  const { html } = await page(service, pageOf(ref))
  const text = words(html)
  t.match(text, /Running step 2 of 3: wait/)
  t.match(text, /first ok .* wait running .* last will run/)
  t.match(html, /<time class="clock" datetime="20/)
  t.match(
    html,
    /1-wait\.log&quot;,&quot;from&quot;:0,&quot;to&quot;:9,&quot;stderr&quot;:&quot;6-9&quot;/,
  )
  t.match(html, /id="stop-form"[^>]*data-confirm="Stop session 1\?/)
  t.notMatch(text, 'Abandon this session')
  writeFileSync(join(service.root, 'go'), '')
  t.equal(await events.closed, 'ended')
})

t.test('what is interrupted is not done', async (t) => {
  const service = await openTestService(t)
  const trapped = "trap 'exit 7' TERM; echo begun; while :; do sleep 0.02; done"
  const ref = await planned(service, {
    runbook: step('true', 'sh run id=first') + step(trapped, 'sh run id=wait'),
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'begun')
  await must(service, 'POST', `${ref.path}/abandon`, {})
  const text = words((await page(service, pageOf(ref))).html)
  t.match(text, /1 of 2 done .*first ok .*wait stopped/)
})

t.test('a run that went on says what failed in it', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(service, step('exit 3', 'sh run id=one continue=true'))
  const text = words((await page(service, pageOf(ref))).html)
  t.match(text, /Completed, but 1 step failed\./)
  t.match(text, /0 of 1 done, 1 failed .*one failed \(continued\)/)
})

t.test('a plan in a file with conflict markers cannot be approved', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service, { runbook: step('ls', 'sh run id=look') })
  const file = service.file(ref.case_id, 'sessions', '1.md')
  const marks = '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n'
  writeFileSync(file, `${readFileSync(file, 'utf8').replace('## Plan', `${marks}\n## Plan`)}`)
  const { html } = await page(service, pageOf(ref))
  t.match(words(html), /The plan can't be approved: its file has a problem\./)
  t.match(html, /<button[^>]*id="approve-button"[^>]*disabled/)
  t.notMatch(html, 'id="to-approve"')
})

t.test('a plan of very many lines is shown whole, and costs little', async (t) => {
  const service = await openTestService(t)
  const runbook = `Begin.\n${'\n'.repeat(100_000)}The end.\n`
  const ref = await planned(service, { runbook })
  const { html } = await page(service, `${pageOf(ref)}?view=source`)
  t.ok(html.length < 700_000, `${html.length}`)
  t.match(words(html), /Lines from 5001 on have no numbers\. The end\./)
})

t.test('a long trail comes in pages', async (t) => {
  const { ref, head, text } = await aSession(t)
  const [, last, time] = /\n(\d+)\. (\S+) [^\n]*$/.exec(text)!
  const more = Array.from({ length: 1200 - Number(last) }, (_, at) => {
    return `${Number(last) + 1 + at}. ${time} step_output bytes=${at}`
  })
  const other = await openTestService(t)
  const folder = join(other.memory, 'cases', ref.case_id)
  mkdirSync(join(folder, 'sessions'), { recursive: true })
  writeFileSync(join(folder, 'case.md'), head)
  writeFileSync(join(folder, 'sessions', '1.md'), `${[text, ...more].join('\n')}\n`)
  await other.restart()
  const shown = async (query: string) => {
    const { html } = await page(other, `${pageOf(ref)}${query}`)
    const numbers = [...html.matchAll(/<tr id="trail-(\d+)"/g)].map(([, number]) => Number(number))
    const links = [...html.matchAll(/\?trail=(\d+)#trail">(\w+)/g)].map(
      ([, to, name]) => `${name} ${to}`,
    )
    return [numbers[0], numbers.at(-1), ...links]
  }
  t.strictSame(await shown(''), [1001, 1200, 'Oldest 1'])
  t.strictSame(await shown('?trail=1'), [1, 500, 'Next 2'])
  t.strictSame(await shown('?trail=2'), [501, 1000, 'Previous 1', 'Next 3'])
  t.strictSame(await shown('?trail=99'), [1001, 1200, 'Previous 2'])
})

/** A session that has run, and its files; the service that ran it is closed, with its folder. */
async function aSession(t: Test) {
  const made: { ref: Awaited<ReturnType<typeof ran>>['ref']; head: Buffer; text: string }[] = []
  await t.test('a session runs', async (t) => {
    const service = await openTestService(t)
    const { ref } = await ran(service, step('true', 'sh run id=one'))
    const head = readFileSync(service.file(ref.case_id, 'case.md'))
    const text = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8').trimEnd()
    made.push({ ref, head, text })
  })
  return made[0]!
}

t.test('by another name', async (t) => {
  const service = await openTestService(t)
  const ref = await planned(service)
  const second = await newSession(service, ref.case_id)
  await reaches(service, second, 'plan_ready')
  for (const name of ['latest', second.id]) {
    const { status, headers } = await page(service, `${pageOf(ref, name)}?view=source`)
    t.equal(status, 302)
    t.equal(headers.location, `${pageOf(ref, 2)}?view=source`)
  }
  for (const name of ['3', '01', 'x', '%00', '..%2f1', '00000000-0000-4000-8000-000000000000']) {
    const { status, headers } = await page(service, pageOf(ref, name))
    t.equal(status, 404, name)
    t.match(headers['content-type'], /html/)
  }
})

t.test('what is hostile stays text', async (t) => {
  const service = await openTestService(t)
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
    const { html } = await page(service, `${pageOf(ref)}?view=${view}`)
    const tags = html.match(/<[^>]*>/g)!.join('\n')
    t.notMatch(tags, /<script(?! type="module")|<b>|javascript:|\son\w+=|src="(?!\/assets)/, view)
  }
  const { session } = await finished(service, ref)
  t.equal(session.state, 'complete')
  const { html } = await page(service, pageOf(ref))
  t.match(html, '&lt;/pre&gt;&lt;script&gt;pwned()')
  t.notMatch(html, /\u001b|\u202e(?=gnp\.exe<\/)/)
})

t.test('a plan whose folder is not free can wait in line', async (t) => {
  const service = await openTestService(t, { files: { '.gitignore': 'go\n' } })
  git(service.root, 'init', '-q')
  const wait = step('until test -e go; do sleep 0.02; done')
  const first = await planned(service, { runbook: wait, fields: { title: 'The <first>' } })
  const ref = await planned(service, { runbook: step('true') })
  t.match((await page(service, pageOf(ref))).html, /Approve and run 1 step/)
  await must(service, 'POST', `${first.path}/approve`)
  await reaches(service, first, 'executing')

  const busy = await page(service, pageOf(ref))
  t.match(
    words(busy.html),
    /Session 1 of The <first> works in this working folder\. Your approval can wait in line\. The plan then starts by itself, but only if .* Approve, and wait in line/,
  )
  t.match(busy.html, /<input type="hidden" name="queue" value="true" data-list="json"/)
  t.match(busy.html, /data-live="\/events\?after=now&amp;output=no"/, 'events of all cases')

  await must(service, 'POST', `${ref.path}/approve`, { queue: true })
  const waiting = await page(service, pageOf(ref))
  t.match(
    words(waiting.html),
    /Waits in line \(next\), after session 1 of “The <first>”\. It starts by itself if nothing has changed .* Take it out of the line/,
  )
  t.match(waiting.html, /data-send="DELETE"[^>]*action="[^"]*\/queue"/)
  t.notMatch(waiting.html, /stop-form/)
  const list = await page(service, '/')
  t.match(words(list.html), /session 1 waits in line · next, after session 1 of “The <first>”/)

  await must(service, 'DELETE', `${ref.path}/queue`)
  t.match(
    words((await page(service, pageOf(ref))).html),
    /This plan needs your approval again\. Nothing has run\. Taken out of the line\./,
  )
  writeFileSync(join(service.root, 'go'), '')
  await reaches(service, first, 'complete')
})
