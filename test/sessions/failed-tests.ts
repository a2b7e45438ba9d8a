import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { agentFiles, LIST_PLAN, plannedOn, says } from '../fixtures/plain-agents.ts'
import { finished, must, newSession, reaches, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const SECRET = 'sk-0123456789abcdef'

/** In the order of the tests of this runbook. */
const REPORT = (root: string) => `TAP version 13
# Subtest: login
    not ok 1 - keeps <b>the</b> session
      ---
      error: |-
        Expected true,
        got false with ${SECRET}
      stack: |-
        TestContext.<anonymous> (file://${root}/test/login.mjs:12:7)
      ...
    ok 2 - ends
    1..2
not ok 1 - login
ok 2 - cart
1..2
`

t.test('the tests that failed in a step have names, wherever the session is shown', async (t) => {
  process.env.SHOP_API_KEY = SECRET
  t.teardown(() => delete process.env.SHOP_API_KEY)
  const files = { ...agentFiles({ mine: { plan: says(LIST_PLAN) } }), 'report.tap': '' }
  const service = await openTestService(t, { files, trust: true })
  const { root } = service
  const { id } = await service.newCase()
  const print = `cat <<'END'\n${REPORT(root)}END\nexit 1`
  const runbook = `First\n\n${step(print, 'sh run id=test proof=tap')}`
  await must(service, 'PUT', `/cases/${id}/memory/runbook.md`, runbook)
  const ref = await newSession(service, id)
  await reaches(service, ref, 'plan_ready')
  const { session } = await finished(service, ref)
  const expected = {
    name: 'login > keeps <b>the</b> session',
    message: 'Expected true, got false with [redacted SHOP_API_KEY]',
    file: 'test/login.mjs',
    line: 12,
  }

  t.match(session, { state: 'failed', tests: { run: 3, passed: 2, failed: 1 } })
  t.strictSame(session.failed_tests, [expected], 'in the answer')
  const path = service.file(id, 'sessions', '1.md')
  const text = readFileSync(path, 'utf8')
  t.match(text, /^failed_tests: \[\{ name: "login > keeps/m, 'in the file')
  t.strictSame(session.problems, [])

  const { html } = { html: (await service.request('GET', `/case/${id}/session/1`)).text }
  const card = html.indexOf('id="failed-tests"')
  t.ok(card > 0 && card < html.indexOf('id="output"'), 'above the output')
  const shown = html.slice(card, html.indexOf('</section>', card))
  t.match(shown, /<bdi>login<\/bdi> .*1 failed, 1 passed.*keeps &lt;b&gt;the&lt;\/b&gt; session/)
  t.match(shown, 'Expected true, got false with [redacted SHOP_API_KEY]')
  t.match(shown, 'test/login.mjs:12')

  await plannedOn(service, id, 'mine')
  const prompt = readFileSync(service.file(id, 'artifacts', '2-plan-prompt.md'), 'utf8')
  t.match(prompt, `- ${expected.name} (test/login.mjs:12): ${expected.message}`, 'in the prompt')

  await service.restart()
  t.strictSame((await must(service, 'GET', ref.path)).failed_tests, [expected], 'after a restart')
})

t.test(
  'of very many failed tests the page shows ten, folds the others, and counts all',
  async (t) => {
    const service = await openTestService(t)
    const { id } = await service.newCase()
    const print = `for i in $(seq 30); do echo "not ok $i - case $i"; done; echo 1..30`
    await must(service, 'PUT', `/cases/${id}/memory/runbook.md`, step(print, 'sh run proof=tap'))
    const ref = await newSession(service, id)
    await reaches(service, ref, 'plan_ready')
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', tests: { failed: 30 }, failed_tests: { length: 20 } })
    t.strictSame(session.problems, [], 'the hash of the evidence is that of the file')
    const html = (await service.request('GET', `/case/${id}/session/1`)).text
    t.match(html, '20 more failed')
    t.match(html, '<span>30 failed</span>')
    t.match(html, 'case 30')
  },
)

t.test(
  'a report that breaks off counts as a failed test, which is named after its step',
  async (t) => {
    const service = await openTestService(t)
    const { id } = await service.newCase()
    const runbook = step('echo ok 1; echo 1..5', 'sh run id=half proof=tap')
    await must(service, 'PUT', `/cases/${id}/memory/runbook.md`, runbook)
    const ref = await newSession(service, id)
    await reaches(service, ref, 'plan_ready')
    const { session } = await finished(service, ref)
    t.match(session, { tests: { run: 2, failed: 1 }, failed_tests: [{ name: 'step half' }] })
  },
)

t.test(
  'a step may print events of go test -json, JUnit XML or TAP, whatever its proof key says',
  async (t) => {
    const service = await openTestService(t)
    const recorded = (name: string) =>
      readFileSync(join(import.meta.dirname, '../fixtures/reports', name), 'utf8')
    const cases: [proof: string, report: string, artifact: string, note: RegExp][] = [
      ['go', recorded('go-failing.jsonl'), '1-r.jsonl', /^2 of 6 tests failed, 1 skipped$/],
      ['go', 'hello\n', '1-r.jsonl', /^no go test -json events in the output, exit 0/],
      ['tap', recorded('surefire.xml'), '1-r.tap', /^2 of 3 tests failed, 1 skipped$/],
      ['log', recorded('go-build-failure.jsonl'), '1-r.log', /^1 of 2 tests failed$/],
    ]
    for (const [proof, report, artifact, note] of cases) {
      await t.test(`${proof}: ${note.source}`, async (t) => {
        const { id } = await service.newCase()
        const runbook = step(`cat <<'END'\n${report}END`, `sh run id=r proof=${proof}`)
        await must(service, 'PUT', `/cases/${id}/memory/runbook.md`, runbook)
        const ref = await newSession(service, id)
        await reaches(service, ref, 'plan_ready')
        const { session } = await finished(service, ref)
        t.match(session.candidates, [{ artifact, note }])
      })
    }
  },
)
