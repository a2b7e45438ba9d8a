import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readPlan } from '../../src/markdown/plan-steps.ts'
import { sha256 } from '../../src/markdown/session-file.ts'
import { readTrail } from '../../src/markdown/trail.ts'
import { faultsInTrail } from '../../src/model/trail-rules.ts'
import type { ReportedTest, TestOutcome } from '../../src/runners/reports/reported-tests.ts'
import { compareTests } from '../../src/sessions/tests-before.ts'
import { inLongLane } from '../fixtures/full.ts'
import { agentFiles, committed, plannedBy, says } from '../fixtures/plain-agents.ts'
import {
  finished,
  says as heard,
  must,
  planned,
  ran,
  step,
  stream,
} from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const SECRET = 'sk-0123456789abcdef'

const BEFORE = `1..6
ok 1 - stays
not ok 2 - is fixed ${SECRET}
not ok 3 - fails still
ok 4 - breaks
not ok 5 - is removed
ok 6 - is dropped
`
const AFTER = `1..5
ok 1 - stays
ok 2 - is fixed ${SECRET}
not ok 3 - fails still
not ok 4 - breaks
not ok 5 - is new
`

/** Its tests are what `tests.tap` says; `fix` changes that. */
const PLAN = [
  step('cp after.tap tests.tap', 'sh run id=fix'),
  step(
    'cat tests.tap\ngrep -q "^not ok" tests.tap && exit 1\n:',
    'sh run id=test proof=tap baseline expect=0,1',
  ),
].join('\n\nThen\n\n')

const FILES = { 'tests.tap': BEFORE, 'after.tap': AFTER }

t.test('the tests before the first step are compared with those after the last', async (t) => {
  process.env.SHOP_API_KEY = SECRET
  t.teardown(() => delete process.env.SHOP_API_KEY)
  const service = await openTestService(t, { mount: false, files: { ...FILES, 'b.txt': 'b\n' } })
  committed(service.root)
  const ref = await planned(service, { runbook: PLAN, fields: { title: 'Left something' } })
  const page = () => service.request('GET', `/case/${ref.case_id}/session/1`)
  t.match((await page()).text, /Before that, Casefile runs test once/, 'said before the approval')
  t.match((await page()).text, /test-before<\/a>.*will run.*before the work, proves nothing/s)
  const { session, events } = await finished(service, ref)

  const fixed = ['is fixed [redacted SHOP_API_KEY]']
  t.match(session, {
    state: 'complete',
    tests: { run: 5, passed: 2, failed: 3 },
    tests_before: {
      run: 6,
      passed: 3,
      failed: 3,
      failing: [...fixed, 'fails still', 'is removed'],
      steps: [{ step: 'test', tests: { run: 6, passed: 3, failed: 3 }, reason: null }],
      compared: {
        run: 5,
        failed: 3,
        fixed: 1,
        still: 1,
        broken: 1,
        added: 1,
        gone: 1,
        names: {
          fixed,
          still: ['fails still'],
          broken: ['breaks'],
          added: ['is new'],
          gone: ['is removed'],
        },
        is_cut: false,
      },
    },
    problems: [],
  })
  t.strictSame(
    events.map(({ event_type }) => event_type).filter((type) => /^(base_|step_|tests_)/.test(type)),
    [
      'base_recorded',
      'step_started',
      'step_finished',
      'tests_before',
      ...Array(2).fill(['step_started', 'step_finished']).flat(),
      'tests_compared',
      'tests_read',
    ],
  )
  t.strictSame(
    session.candidates.map(({ artifact }: { artifact: string }) => artifact),
    [
      '1-test.tap',
      ...session.candidates.slice(1).map((each: { artifact: string }) => each.artifact),
    ],
    'the run before the work is no candidate',
  )
  t.notMatch(JSON.stringify(session.candidates), 'before')
  const kept = readFileSync(service.file(ref.case_id, 'artifacts', '1-test-before.tap'), 'utf8')
  t.match(kept, 'not ok 3 - fails still')
  const attach = await service.request('POST', `/cases/${ref.case_id}/proof`, {
    type: 'test-log',
    session_id: ref.id,
    artifact: '1-test-before.tap',
  })
  t.match(attach, { status: 400, json: { code: 'bad_request' } }, 'and no proof')
  t.match((await page()).text, /Before: 3 of 6 failed .*after: 3 of 5 failed/s)
  t.match((await page()).text, /1 newly failing.*breaks/s)

  const report = await service.request('GET', `/cases/${ref.case_id}/report?format=md`)
  t.match(report.text, /Tests before and after: before: 3 of 6 failed/)
  t.match(report.text, /Changed tests: 1 fixed/)

  const path = service.file(ref.case_id, 'sessions', '1.md')
  const text = readFileSync(path, 'utf8')
  const { steps } = await readPlan(session.plan)
  const recorded = { ...session, steps, planSha256: sha256(session.plan) }
  const lines = readTrail(text)!.lines.map(({ line }) => line)
  t.strictSame(faultsInTrail(lines, recorded), [], 'as the service writes it')
  const without = lines.filter(({ event }) => event !== 'tests_before')
  t.match(faultsInTrail(without, recorded).join(), /tests of step test before the work are not/)

  t.match(session.base, { uncommitted: 0, files: [], left_by: [], reason: null })
  t.match(session.base.commit, /^[0-9a-f]{40}$/)
  appendFileSync(join(service.root, 'b.txt'), 'by hand\n')
  writeFileSync(join(service.root, 'new.txt'), 'new\n')
  await service.restart()
  t.strictSame((await must(service, 'GET', ref.path)).tests_before, session.tests_before)
  const { session: next } = await ran(service, step('true'))
  const by = { case_id: ref.case_id, number: 1, title: 'Left something', state: 'complete' }
  t.match(next.base, {
    uncommitted: 3,
    files: ['b.txt', 'tests.tap', 'new.txt'],
    left_by: [{ ...by, files: 1 }],
  })
  t.equal(next.diff, null, 'none of it is in the diff')
  const { text: html } = await service.request('GET', `/case/${next.case_id}/session/1`)
  t.match(html, /Before the first step.*3 files in the folder were not committed/s)
})

t.test(
  'an agent works after the tests before it; one that fails in any way stops nothing',
  inLongLane,
  async (t) => {
    const fences = [
      step('echo no report; sleep 30 & exit 3', 'sh run id=plain proof=tap baseline expect=3'),
      step('echo 1..1; sleep 30', 'sh run id=slow proof=tap baseline timeout=3s continue=true'),
    ]
    const plan = `## Hypothesis\n\nIt is.\n\n## Plan\n\n1. Fix it\n\n${fences.join('\n')}`
    const files = {
      ...FILES,
      ...agentFiles({ mine: { plan: says(plan), work: 'cp after.tap tests.tap; echo done' } }),
    }
    const service = await openTestService(t, { mount: false, files, trust: true })
    const { ref } = await plannedBy(service, 'mine')
    const { session, events } = await finished(service, ref)
    t.equal(session.state, 'complete')
    t.match(session.tests_before, {
      run: 1,
      failed: 1,
      steps: [
        { step: 'plain', tests: null, reason: /^no TAP in the output, exit 3,/ },
        { step: 'slow', tests: { run: 1, failed: 1 }, reason: /the report is incomplete/ },
      ],
    })
    const names = ['plain', 'slow']
    const steps = events.filter(({ event_type }) => event_type === 'step_started')
    t.strictSame(
      steps.map(({ payload }) => payload.step).slice(-5),
      [...names.map((name) => `${name}-before`), 'agent', ...names],
      'before the agent',
    )
  },
)

t.test('abandoned in the run before the work, nothing else runs', inLongLane, async (t) => {
  const service = await openTestService(t, { mount: false, files: FILES })
  const plan = [
    step('echo 1..1; echo here; sleep 60', 'sh run id=test proof=tap baseline'),
    step('touch ran', 'sh run id=work'),
  ].join('\n\n')
  const ref = await planned(service, { runbook: plan })
  const events = await stream(service, ref)
  await must(service, 'POST', `${ref.path}/approve`)
  await heard(events, 'here')
  await must(service, 'POST', `${ref.path}/abandon`, { reason: 'Enough' })
  await events.closed
  const session = await must(service, 'GET', ref.path)
  t.match(session, { state: 'abandoned', tests: null, tests_before: null, candidates: [] })
  t.match(session.output, /^- test-before: /)
  t.notOk(existsSync(join(service.root, 'ran')))
  t.strictSame(session.problems, [])
})

t.test('the key needs a test report, and its id must be free', async (t) => {
  const errorsOf = async (...fences: string[]) =>
    (await readPlan(fences.map((fence) => step('true', fence)).join('\n\n'))).errors
  t.strictSame(await errorsOf('sh run id=a proof=tap baseline'), [])
  t.strictSame(await errorsOf('sh run id=a proof=log baseline=false'), [])
  for (const fence of ['sh run baseline', 'sh run proof=log baseline']) {
    t.match(await errorsOf(fence), [{ message: /it needs a report: proof=tap, junit, go/ }])
  }
  t.match(await errorsOf('sh run proof=tap baseline=2'), [
    { message: /baseline=2: expected nothing/ },
  ])
  t.match(await errorsOf('sh run id=a proof=tap baseline', 'sh run id=A-before'), [
    { message: /the id "A-before" is that of a run before the work/ },
  ])
})

t.test('of several tests with one name the worst counts', (t) => {
  const reported = (...outcomes: TestOutcome[]) => ({
    tests: outcomes.map((outcome) => ({ path: ['twice'], outcome }) as ReportedTest),
    omitted: 0,
  })
  const counts = { run: 2, passed: 1, failed: 1 }
  const compared = (...all: [TestOutcome[], TestOutcome[]]) => {
    const [before, after] = all.map((outcomes) => reported(...outcomes))
    const { fixed, still, broken } = compareTests(before!, after!, { counts, workdir: '/' })
    return { fixed, still, broken }
  }
  const none = { fixed: 0, still: 0, broken: 0 }
  t.strictSame(compared(['failed', 'passed'], ['passed', 'passed']), { ...none, fixed: 1 })
  t.strictSame(compared(['passed', 'failed'], ['failed', 'passed']), { ...none, still: 1 })
  t.strictSame(compared(['passed', 'passed'], ['failed', 'skipped']), { ...none, broken: 1 })
  t.end()
})
