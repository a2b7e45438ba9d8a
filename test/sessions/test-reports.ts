// Tests are counted from reports, never from prose; those that failed have names.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { agentFiles, LIST_PLAN, plannedOn, says } from '../fixtures/plain-agents.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { recordOf } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const SECRET = 'sk-0123456789abcdef'

const NESTED = (root: string) => `TAP version 13
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
const TAP = 'TAP version 13\n1..3\nok 1\nnot ok 2\nok 3 # SKIP\n'
const MANY = `${Array.from({ length: 30 }, (_, at) => `not ok ${at + 1} - case ${at + 1}\n`).join('')}1..30\n`
const recorded = (name: string) =>
  readFileSync(join(import.meta.dirname, '../fixtures/reports', name), 'utf8')

const STEPS: [id: string, proof: string, report: string, artifact: string | null, note: RegExp][] =
  [
    ['tap', 'tap', TAP, '1-tap.tap', /^1 of 2 tests failed, 1 skipped$/],
    ['log', 'log', TAP, '1-log.log', /^1 of 2 tests failed/],
    ['hello', 'tap', 'hello\n', '1-hello.tap', /^no TAP in the output, exit 0/],
    ['nothing', 'junit', '', null, /^$/],
    ['half', 'tap', 'ok 1\n1..5\n', '1-half.tap', /incomplete|1 of 2/],
    ['go', 'go', recorded('go-failing.jsonl'), '1-go.jsonl', /^2 of 6 tests failed, 1 skipped$/],
    ['many', 'tap', MANY, '1-many.tap', /^30 of 30 tests failed$/],
  ]

t.test(
  'reports of every kind are counted and named, wherever the session is shown',
  inLongLane,
  async (t) => {
    const environment = { ...process.env, SHOP_API_KEY: SECRET }
    const files = { ...agentFiles({ mine: { plan: says(LIST_PLAN) } }), 'report.tap': '' }
    const service = await openTestService(t, { mount: false, files, trust: true, environment })
    const nested = `cat <<'END'\n${NESTED(service.root)}END\necho "not ok 9" >&2\nexit 1`
    const runbook = [
      step(nested, 'sh run id=nested proof=tap continue=true'),
      ...STEPS.map(([id, proof, report]) =>
        step(
          report === '' ? 'true' : `cat <<'END'\n${report}END`,
          `sh run id=${id} proof=${proof}`,
        ),
      ),
    ].join('')
    const ref = await planned(service, { runbook })
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', problems: { length: 0 } })
    const wanted = STEPS.filter(([, , , artifact]) => artifact !== null)
    t.match(session.candidates, [
      { artifact: '1-nested.tap', note: '1 of 3 tests failed' },
      ...wanted.map(([, , , artifact, note]) => ({ artifact, note })),
    ])
    t.equal(session.candidates.length, 1 + wanted.length)
    t.strictSame(session.tests, { run: 45, passed: 9, failed: 36 }, 'the sum of all')

    const expected = {
      name: 'login > keeps <b>the</b> session',
      message: 'Expected true, got false with [redacted SHOP_API_KEY]',
      file: 'test/login.mjs',
      line: 12,
    }
    t.strictSame(session.failed_tests[0], expected)
    t.equal(session.failed_tests.length, 20)
    const names = session.failed_tests.map(({ name }: { name: string }) => name)
    t.ok(names.includes('step half'), 'a report that breaks off is named after its step')
    t.match(names.at(-1), /^case \d+$/)
    t.match(recordOf(service, ref), / tests=\{.*"failed_tests":\[\{"name":"login > keeps/)

    const html = (await service.request('GET', `/case/${ref.case_id}/session/1`)).text
    const card = html.indexOf('id="failed-tests"')
    t.ok(card > 0 && card < html.indexOf('id="output"'), 'above the output')
    const shown = html.slice(card, html.indexOf('</section>', card))
    t.match(shown, /<bdi>login<\/bdi> .*1 failed, 1 passed.*keeps &lt;b&gt;the&lt;\/b&gt; session/)
    t.match(shown, 'got false with [redacted SHOP_API_KEY]')
    t.match(shown, 'test/login.mjs:12')

    const report = (await service.request('GET', `/cases/${ref.case_id}/report?format=md`)).text
    t.match(report, /- Tests: 9 of 45 tests passed, 36 failed\n/)
    t.match(
      report,
      '- login \\> keeps \\<b\\>the\\</b\\> session (test/login.mjs:12): Expected true',
    )

    await plannedOn(service, ref.case_id, 'mine')
    const prompt = readFileSync(service.file(ref.case_id, 'artifacts', '2-plan-prompt.md'), 'utf8')
    t.match(prompt, `- ${expected.name} (test/login.mjs:12): ${expected.message}`, 'in the prompt')
    t.match(prompt, 'Tests: 9 of 45 passed, 36 failed.')
    await service.restart()
    t.strictSame(
      (await must(service, 'GET', ref.path)).failed_tests[0],
      expected,
      'after a restart',
    )
  },
)
