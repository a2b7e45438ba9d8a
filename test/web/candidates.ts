import t from 'tap'
import { finished, must, newSession, ran, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const REPORT = (second: string) =>
  step(`printf 'TAP version 13\\nok 1 - a\\n${second} 2 - b\\n1..2\\n'`, 'sh run id=test proof=tap')
const PASSING = REPORT('ok')
const FAILING = REPORT('not ok')
const LOGS = Array.from({ length: 40 }, (_, n) => step(`echo ${n}`, `sh run id=log-${n}`)).join('')

async function pageOf(service: TestService, path: string): Promise<string> {
  const answer = await service.request('GET', path, undefined, { accept: 'text/html' })
  return answer.text
}

async function require(service: TestService, id: string, description: string, type: string) {
  const item = { description, type, required: true }
  await must(service, 'POST', `/cases/${id}/proof/checklist`, item)
}

/** What a reader sees of it, on one line. */
const words = (html: string) =>
  html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&#39;', "'")
    .replace(/\s+/g, ' ')

/** The list of what the case needs, and the number of rows that are folded. */
function offered(html: string) {
  const list = /<ul class="candidates suggested">(.*?)<\/ul>/s.exec(html)?.[1] ?? ''
  return {
    suggested: [...list.matchAll(/<li.*?<\/li>/gs)].map(([item]) => item),
    folded: Number(/>(?:Other output|Output to attach) ?\((\d+)\)/.exec(html)?.[1] ?? 0),
    shown: html.replace(/<details class="show-more" id="other-output">.*?<\/details>/s, ''),
  }
}

t.test('what the checklist asks for comes first, and 40 logs are folded', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(service, LOGS + PASSING)
  const session = `/case/${ref.case_id}/session/1`
  await require(service, ref.case_id, 'All tests pass', 'test-log')
  await require(service, ref.case_id, 'It is fast', 'benchmark')
  for (const path of [session, `/case/${ref.case_id}`]) {
    const { suggested, folded, shown } = offered(await pageOf(service, path))
    t.equal(suggested.length, 1, 'nothing for a type that no output has')
    t.match(
      words(suggested[0]!),
      /All tests pass ← , shown by 1-test\.tap 2 of 2 tests passed Look at it/,
    )
    t.match(suggested[0], `href="${session}/log/1-test.tap"`)
    t.equal(folded, 40)
    t.equal(words(shown).match(/Attach as/g)?.length, 1)
  }

  const log = await pageOf(service, `${session}/log/1-test.tap`)
  t.match(words(log), /Attach as test-log \(1-test\.tap\) for All tests pass/)
  t.match(log, `data-then="/case/${ref.case_id}/proof/{id}"`)
  t.match(words(await pageOf(service, `${session}/log/1-log-3.log`)), /Attach as log/)

  const body = { type: 'test-log', artifact: '1-test.tap', session_id: ref.id }
  const proof = await must(service, 'POST', `/cases/${ref.case_id}/proof`, body)
  const after = offered(await pageOf(service, session))
  t.equal(after.suggested.length, 0, 'it waits for being verified')
  t.match(words(after.shown), '✓ attached as test-log')
  t.match(
    await pageOf(service, `${session}/log/1-test.tap`),
    `✓ attached as <a href="/case/${ref.case_id}/proof/${proof.id}">test-log</a>`,
  )
})

t.test(
  'where nothing would meet an item, that is said and nothing is offered for it',
  async (t) => {
    const service = await openTestService(t)
    const rows: [runbook: string, says: RegExp, artifact: string, here: RegExp][] = [
      [
        FAILING,
        /No candidate would meet &quot;All tests pass&quot; \(1-test\.tap: 1 of 2 tests failed\)\. Run the tests/,
        '1-test.tap',
        /Attach as test-log .* It won't count: 1 of 2 tests failed/,
      ],
      [
        step('echo "Ran 3 tests"', 'sh run id=test proof=log'),
        /No candidate would meet &quot;All tests pass&quot;\. Run the tests in a step of a plan with proof=/,
        '1-test.log',
        /Attach as log .* meets nothing that is missing/,
      ],
    ]
    for (const [runbook, says, artifact, here] of rows) {
      const { ref } = await ran(service, runbook)
      await require(service, ref.case_id, 'All tests pass', 'test-log')
      const html = await pageOf(service, `/case/${ref.case_id}`)
      t.strictSame(offered(html).suggested, [])
      t.match(words(html), says)
      t.notMatch(html, 'id="attach-1-')
      const log = words(await pageOf(service, `/case/${ref.case_id}/session/1/log/${artifact}`))
      t.match(log, here)
    }
  },
)

t.test('the log of a test step that passed is offered', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(service, step('echo "Ran 3 tests"', 'sh run id=unit proof=test'))
  await require(service, ref.case_id, 'All tests pass', 'test-log')
  const { suggested } = offered(await pageOf(service, `/case/${ref.case_id}`))
  t.match(
    words(suggested[0]!),
    /All tests pass ← , shown by 1-unit\.log exit 0 .* Attach as test-log/,
  )
})

t.test('a report of a failed session does not come first', async (t) => {
  const service = await openTestService(t)
  const { ref } = await ran(service, PASSING)
  await require(service, ref.case_id, 'All tests pass', 'test-log')
  await require(service, ref.case_id, 'Nothing else fails', 'test-log')
  await must(
    service,
    'PUT',
    `/cases/${ref.case_id}/memory/runbook.md`,
    PASSING + step('exit 3', 'sh run id=check'),
  )
  const second = await newSession(service, ref.case_id)
  await reaches(service, second, 'plan_ready')
  await finished(service, second)
  const { suggested } = offered(await pageOf(service, `/case/${ref.case_id}`))
  t.equal(suggested.length, 1, 'one proof meets both')
  t.match(
    words(suggested[0]!),
    /All tests pass, Nothing else fails ← , shown by 1-test\.tap 2 of 2 tests passed · session 1/,
  )
  const page = words(await pageOf(service, `/case/${ref.case_id}/session/2/log/2-test.tap`))
  t.match(page, "It won't count: session 2 failed")
})

t.test(
  'without a checklist the report is suggested, and the log of a failed step is not',
  async (t) => {
    const service = await openTestService(t)
    const { ref, session } = await ran(service, step('echo x', 'sh run id=say') + PASSING)
    t.match(session, { state: 'complete', failure: null })
    const { suggested, folded } = offered(await pageOf(service, `/case/${ref.case_id}`))
    t.match(words(suggested[0]!), /At least one verified proof ← , shown by 1-test\.tap/)
    t.equal(folded, 1)
    const failed = await ran(service, step('echo x; exit 3', 'sh run id=check'))
    const other = offered(await pageOf(service, `/case/${failed.ref.case_id}`))
    t.strictSame(other.suggested, [])
  },
)
