import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { textOf } from '../fixtures/page-text.ts'
import {
  finished,
  must,
  newSession,
  planned,
  type Ref,
  ran,
  reaches,
  says,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { pageAt, words } from '../fixtures/web-page.ts'
import { openTestService } from '../fixtures/workspace.ts'

const service = await openTestService(t)
const page = (path: string) => pageAt(service, path)
const ofCase = ({ case_id }: Pick<Ref, 'case_id'>) => `/case/${case_id}`
const ofSession = (ref: Pick<Ref, 'case_id'>, number: number | string = 1) =>
  `${ofCase(ref)}/session/${number}`
const ofLog = (ref: Pick<Ref, 'case_id'>, artifact: string, number = 1) =>
  `${ofSession(ref, number)}/log/${artifact}`

function require(ref: Ref, description: string, type: string) {
  const item = { description, type, required: true }
  return must(service, 'POST', `/cases/${ref.case_id}/proof/checklist`, item)
}

t.test('a session that has run, whose tests failed', async (t) => {
  const tap = "printf 'TAP version 13\\nok 1 - a\\nnot ok 2 - b\\n1..2\\n'"
  const { ref } = await ran(
    service,
    step(
      `head -c 700000 /dev/zero | tr '\\0' x; printf ' the end\\n'; echo short`,
      'sh run id=line',
    ) +
      step(`printf '\\r1 of 4000\\r4000 of 4000'`, 'sh run id=bar') +
      step("printf '\\033[31mred\\033[0m <b>\\n'; echo no >&2", 'sh run id=say') +
      step('echo x; exit 3', 'sh run id=odd continue=true') +
      step(tap, 'sh run id=test proof=tap'),
  )
  const session = ofSession(ref)
  await require(ref, 'All tests pass', 'test-log')
  const html = await page(session)

  t.test('says so, with its steps, output and files', async (t) => {
    t.match(
      words(html),
      /Session 1 is complete, but 1 of 2 tests failed and 1 step failed\. No candidate would meet "All tests pass" \(1-test\.tap: 1 of 2 tests failed.*\)\. Run the tests again, or/,
    )
    t.notMatch(html, /Attach and verify/, 'what is attached is read first')
    t.match(words(html), /4 of 5 done, 1 failed .*say ok .*exit 0 · sh .*odd failed \(continued\)/)
    t.match(html, 'id="L3-say-1" data-line="1"><span class="fg-1">red</span> &lt;b&gt;')
    t.match(html, /<span class="line error" id="L3-say-2" data-line="2">no\n/, 'standard error')
    t.match(html, `href="${ofLog(ref, '1-say.log')}"`)
    t.notMatch(html, /approve-form|stop-form/)
    t.match(html, '<span class="line" id="L1-line-1" data-line="1">…xxxx', 'what is cut is marked')
    t.match(html, /x the end\n<\/span><span class="line" id="L1-line-2" data-line="2">short\n/)
    t.match(html, /<span class="line" id="L2-bar-1" data-line="1">4000 of 4000/)
    t.match(html, '&quot;isMidLine&quot;:true')
    const without = await page(`${session}?output=none`)
    t.notMatch(without, /class="line[" ]/, 'a page that has it asks for no output')
    t.match(without, /&quot;1-say\.log&quot;,&quot;from&quot;:20,&quot;to&quot;:20,/)
    const { trail } = service.service.catalog.folder(ref.case_id)!.sessions[0]!
    const rows = [...html.matchAll(/<tr id="trail-(\d+)"/g)].map(([, number]) => Number(number))
    t.strictSame(rows, [...new Set(trail.map(({ number }) => number))], 'all of the trail')
  })

  t.test('nothing is offered for what it does not meet', async (t) => {
    for (const shown of [html, await page(ofCase(ref))]) {
      t.notMatch(textOf(shown, 'status'), /Attach 1-/)
      t.match(
        words(shown),
        /No candidate would meet "All tests pass" \(1-test\.tap: 1 of 2 tests failed\)\. Run the tests/,
      )
    }
    t.match(
      words(await page(ofLog(ref, '1-test.tap'))),
      /Attach as test-log .* It won't count: 1 of 2 tests failed/,
    )
    t.match(words(await page(ofLog(ref, '1-say.log'))), /Attach as log .* meets nothing that is/)
  })

  t.test('a log longer than a page, line by line', async (t) => {
    const log = ofLog(ref, '1-line.log')
    const first = await page(log)
    t.ok(first.length < 400_000, `${first.length}`)
    const last = await page(`${log}?page=3`)
    t.match(last, 'This page begins within line 1.')
    t.match(last, 'id="L2" data-line="2">short')
    t.match(await page(`${log}?line=2`), 'id="L2"')
    for (const name of ['2-say.log', '1-none.log', '..%2f..%2fcase.md', 'x', '%00'])
      await pageAt(service, ofLog(ref, name), 404)
  })

  t.test('on another machine it has what the file keeps, and a long trail in pages', async (t) => {
    const other = await openTestService(t)
    const whole = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
    const [text = '', end] = whole.split(/(?=\n\n<\/details>\n$)/)
    const [, last, time] = /\n(\d+)\. (\S+) [^\n]*$/.exec(text)!
    const more = Array.from({ length: 1200 - Number(last) }, (_, at) => {
      return `${Number(last) + 1 + at}. ${time} step_output bytes=${at}`
    })
    mkdirSync(join(other.memory, 'cases', ref.case_id, 'sessions'), { recursive: true })
    const head = readFileSync(service.file(ref.case_id, 'case.md'))
    writeFileSync(other.file(ref.case_id, 'case.md'), head)
    const file = other.file(ref.case_id, 'sessions', '1.md')
    writeFileSync(file, `${[text, ...more].join('\n')}${end}`)
    await other.restart()
    const shown = async (query: string) => {
      const html = await pageAt(other, `${session}${query}`)
      const rows = [...html.matchAll(/<tr id="trail-(\d+)"/g)].map(([, number]) => Number(number))
      const links = [...html.matchAll(/\?trail=(\d+)#trail">(\w+)/g)]
      return [rows[0], rows.at(-1), ...links.map(([, to, name]) => `${name} ${to}`)]
    }
    t.strictSame(await shown(''), [1001, 1200, 'Oldest 1'])
    t.strictSame(await shown('?trail=1'), [1, 500, 'Next 2'])
    t.strictSame(await shown('?trail=2'), [501, 1000, 'Previous 1', 'Next 3'])
    t.strictSame(await shown('?trail=99'), [1001, 1200, 'Previous 2'])
    const html = await pageAt(other, session)
    t.match(
      words(html),
      /full logs are not on this machine .*- line: exit 0, .*- odd: failed with exit 3, /,
    )
    t.match(words(html), /1-test\.tap .* not on this machine/)
  })

  t.test('an attached candidate is shown as that', async (t) => {
    const body = { type: 'test-log', artifact: '1-test.tap', session_id: ref.id }
    const proof = await must(service, 'POST', `/cases/${ref.case_id}/proof`, body)
    const attached = await page(session)
    t.match(words(attached), /1 step failed\. No candidate would meet "All tests pass"/)
    t.match(words(attached), /1-test\.tap .* ✓ attached as test-log/)
    t.match(attached, `${ofCase(ref)}/proof/${proof.id}`)
    t.notMatch(words(attached), /Abandon/)
    t.match(
      await page(ofLog(ref, '1-test.tap')),
      `✓ attached as <a href="${ofCase(ref)}/proof/${proof.id}">test-log</a>`,
    )
  })
})

t.test('one that failed, on the pages of session, case and list', async (t) => {
  const runbook =
    step("echo x; printf '<b>\"&\\033]0;x\\007\\342\\200\\256gnp\\n'", 'sh run id=say') +
    step('echo y; exit 3', 'sh run id=sums proof=log') +
    step('true', 'sh run id=two')
  const { ref, session } = await ran(service, runbook)
  const html = await page(ofSession(ref))
  t.match(
    words(html),
    /Session 1 failed: step sums exited with 3, expected 0\. The plan came from runbook\.md: fix that first\. Plan again Show the output/,
  )
  t.match(words(html), /sums failed .* exit 3 .* two not run/)
  t.match(words(html), /Output .* Changed files/, 'first what says why')
  t.match(words(html), /Planned .*, waited .*, ran /)
  const log = await page(ofLog(ref, '1-say.log'))
  t.match(log, '&lt;b&gt;&quot;&amp;[U+202E]gnp', 'what is hostile stays text')
  const filter = `?filter=${encodeURIComponent('"><b>')}`
  t.match(await page(`${ofLog(ref, '1-say.log')}${filter}`), 'value="&quot;&gt;&lt;b&gt;"')

  const shown = await page(ofCase(ref))
  t.match(
    textOf(shown, 'status'),
    /Session 1 failed: step sums exited with 3, expected 0\. The plan came from runbook\.md: fix that first\. Plan again Show the output/,
  )
  t.match(shown, `href="${ofSession(ref)}#output"`)
  t.match(shown, `<input type="hidden" name="again" value="${session.id}"/>`)
  t.match(
    textOf(shown, 'session-1'),
    /runbook step sums exited with 3.*failed .*planned .*, waited .*, ran /,
  )
  t.match(await page('/'), /Failed<\/span>[\s\S]*session\/1">session 1: step sums/)

  const again = async () => /class="plan-again/.test(await page(ofSession(ref)))
  const state = (state: string) => must(service, 'PUT', `/cases/${ref.case_id}/state`, { state })
  t.ok(await again())
  await state('WONT_FIX')
  t.notOk(await again(), 'in a closed case')
  t.match(textOf(await page(ofSession(ref)), 'status'), /Won’t fix\. Nothing is left to do\./)
  await state('OPEN')
  t.ok(await again())
  await must(service, 'POST', `/cases/${ref.case_id}/sessions`, { again: ref.id })
  t.notOk(await again(), 'with a newer session')
})

t.test('one that runs, and is then stopped', async (t) => {
  const wait =
    "trap 'exit 7' TERM; echo begun; echo oh >&2; until test -e go; do sleep 0.02; done; echo three"
  const ref = await planned(service, {
    runbook:
      step('true', 'sh run id=first') +
      step(wait, 'sh run id=wait') +
      step('true', 'sh run id=last'),
  })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await says(events, 'oh')
  const html = await page(ofSession(ref))
  t.match(words(html), /Running step 2 of 3: wait/)
  t.match(words(html), /first ok .* wait running .* last will run/)
  t.match(html, /<time class="clock" datetime="20/)
  t.match(
    html,
    /1-wait\.log&quot;,&quot;from&quot;:0,&quot;to&quot;:9,&quot;stderr&quot;:&quot;6-9&quot;/,
  )
  t.match(html, /id="stop-form"[^>]*data-confirm="Stop session 1\?/)
  t.notMatch(words(html), 'Abandon this session')
  const log = await page(ofLog(ref, '1-wait.log'))
  t.match(log, 'Follow it live')
  t.match(log, /class="line error" id="L2"/)
  t.match(textOf(await page(ofCase(ref)), 'status'), 'Session 1 is executing. Watch')

  await must(service, 'POST', `${ref.path}/abandon`, {})
  t.match(words(await page(ofSession(ref))), /1 of 3 done .*first ok .*wait stopped .*last not run/)
  t.notMatch(await page(ofLog(ref, '1-wait.log')), 'Follow it live')
})

t.test('what a case needs comes first, from the best session', inLongLane, async (t) => {
  const logs = step('echo 0', 'sh run id=log-0')
  const test = step(
    `printf 'TAP version 13\\nok 1 - a\\nok 2 - b\\n1..2\\n'`,
    'sh run id=test proof=tap',
  )
  const { ref, session } = await ran(service, logs + test)
  const statusOn = async (path: string) => textOf(await page(path), 'status')
  for (const path of [ofSession(ref), ofCase(ref)]) {
    t.match(await statusOn(path), /Attach 1-test\.tap as "At least one verified proof"$/)
  }
  t.match(
    textOf(await page(ofSession(ref)), 'evidence'),
    /meets: At least one .*Other output \(1\)/,
  )
  await require(ref, 'All tests pass', 'test-log')
  await require(ref, 'Nothing else fails', 'test-log')
  await require(ref, 'It is fast', 'benchmark')
  const html = await page(ofCase(ref))
  t.match(
    textOf(html, 'status'),
    /^Session 1 passed 2 of 2 tests\. 1-test\.tap \(2 of 2 tests passed\) would meet "All tests pass", "Nothing else fails"\. Attach 1-test\.tap as "All tests pass", "Nothing else fails"$/,
  )
  t.match(html, `data-then="${ofCase(ref)}/proof/{id}"`)
  const log = await page(ofLog(ref, '1-test.tap'))
  t.match(words(log), /Attach as test-log \(1-test\.tap\) for All tests pass, Nothing else fails/)
  t.match(log, `data-then="${ofCase(ref)}/proof/{id}"`)

  const history = textOf(html, 'history')
  t.match(history, /Session 1 runbook 2 of 2 tests passed.* approved by \S/)
  const acts = textOf(html, 'session-1')
  t.match(acts, /started session 1 \(runbook\)/)
  t.match(acts, `a plan of 2 steps is ready ${session.plan_sha256.slice(0, 8)}`)
  t.match(acts, /approved the plan via the API [0-9a-f]{8}/)
  t.match(acts, /finished: 2 of 2 tests passed/)
  t.notMatch(history, / → /, 'no state that follows from the session')
  t.match(await page('/'), /id="waiting-count" data-count="(\d+)" title="\1 needs? you"/)

  const runbook = `/cases/${ref.case_id}/memory/runbook.md`
  await must(service, 'PUT', runbook, test + step('exit 3', 'sh run id=check'))
  const second = await newSession(service, ref.case_id)
  await reaches(service, second, 'plan_ready')
  await finished(service, second)
  t.match(await statusOn(ofCase(ref)), /^Session 2 failed/)
  t.match(words(await page(ofLog(ref, '2-test.tap', 2))), "It won't count: session 2 failed")

  const body = { type: 'test-log', artifact: '1-test.tap', session_id: ref.id }
  await must(service, 'POST', `/cases/${ref.case_id}/proof`, body)
  const after = await page(ofCase(ref))
  t.match(textOf(after, 'status'), /and not verified yet\. .* Read and verify$/)
  t.match(
    textOf(after, 'proof'),
    /test-log not verified meets: All tests pass, Nothing else fails session 1 .*2 passed ✓ a/,
  )
  writeFileSync(
    service.file(ref.case_id, 'history.md'),
    '# History\n\n- 2020-01-01T00:00:00.000Z · Ada · created\n',
  )
  t.match(textOf(await page(ofCase(ref)), 'session-1'), /Session 1 runbook 2 of 2 tests passed/)
})
