import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { StepOutcome, WorkRequest, WorkResult } from '../../src/runners/contract.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { runBaselineSteps, runbook, runProofSteps } from '../../src/runners/runbook.ts'
import {
  findRunbook,
  planRunbook,
  sourceOfPlan,
  testsRunbook,
} from '../../src/runners/runbook-plan.ts'
import { CASE } from '../fixtures/records.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'

const fence = (info: string, script: string) => `\`\`\`${info}\n${script}\n\`\`\`\n`

/** A folder to run in, and everything that is reported, in order. */
function scene(t: Test) {
  const workdir = t.testdir({ sub: {} })
  const log: string[] = []
  let said = ''
  const outcomes: StepOutcome[] = []
  const abort = new AbortController()
  const request = (plan: string, more: Partial<WorkRequest['report']> = {}): WorkRequest => ({
    plan,
    workdir,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', MARK: 'm' },
    stepTimeoutMs: 60_000,
    limits: SHORT_LIMITS,
    sandbox: noSandbox(),
    signal: abort.signal,
    agent: null,
    report: {
      async stepStarted({ id }, timeoutMs) {
        log.push(`${id} ${timeoutMs}`)
      },
      async processStarted() {
        log.push('process')
      },
      output(_, bytes) {
        said += bytes
      },
      raw() {},
      clean: (text) => text,
      async stepFinished(outcome) {
        await new Promise(setImmediate)
        log.push(`end ${outcome.exit ?? outcome.signal ?? outcome.startError}`)
        outcomes.push(outcome)
      },
      async note() {},
      ...more,
    },
  })
  const run = (plan: string, more?: Partial<WorkRequest['report']>): Promise<WorkResult> =>
    runbook.execute(request(plan, more))
  return { workdir, log, outcomes, abort, request, run, said: () => said }
}

t.test('the steps of a plan run in order, each when the one before is on disk', async (t) => {
  const { run, log, said, workdir } = scene(t)
  const plan = [
    fence('sh run id=one', 'pwd; echo "$MARK$0"; echo x > made'),
    fence('bash run id=two cwd=sub timeout=5s', 'pwd; false | true && echo not here'),
  ]
  const result = await run(`${plan.join('\n')}\n${fence('sh run id=three', 'echo never')}`)
  t.match(result, { ok: false, reason: 'step two exited with 1, expected 0' }, 'a pipe fails')
  t.equal(said(), `${workdir}\nmone\n${workdir}/sub\n`)
  t.strictSame(log, ['one 60000', 'process', 'two 5000', 'end 0', 'process', 'end 1'])
  t.ok(existsSync(`${workdir}/made`))
})

t.test('how a step ends, in words', async (t) => {
  const rows: [info: string, script: string, reason: string | RegExp | null][] = [
    ['sh run id=a expect=0,3', 'exit 3', null],
    ['sh run id=a expect=3,4', 'exit 0', 'step a exited with 0, expected 3 or 4'],
    ['sh run id=a continue=true', 'exit 3', null],
    [
      'sh run id=a',
      'no-such-program',
      /^step a exited with 127 \(a command was not found\), expec/,
    ],
    ['sh run id=a', 'kill -9 $$', 'step a was ended by SIGKILL'],
    ['sh run id=a', 'false; true', 'step a exited with 1, expected 0'],
    ['sh run id=a', 'echo "$NOT_SET"', /^step a exited with [12], expected 0$/],
    ['js run id=a', 'process.exit(import.meta.url ? 4 : 5)', 'step a exited with 4, expected 0'],
    [
      'sh run id=a cwd=gone',
      'true',
      /could not be started \(ENOENT\): \/bin\/sh or the folder gone/,
    ],
    ['sh run id=a timeout=100ms', 'sleep 60', /^step a timed out after \d+\.\d s$/],
    ['sh run id=a timeout=never', 'true', /^the plan is invalid at line 1: /],
  ]
  for (const [info, script, reason] of rows) {
    const result = await scene(t).run(fence(info, script))
    if (reason === null) t.strictSame(result, { ok: true }, info)
    else t.match(result, { ok: false, reason }, `${info}: ${script}`)
  }
  t.strictSame(await scene(t).run('Nothing to run.'), { ok: true })
})

t.test('a run that cannot be recorded fails, at its last step too', async (t) => {
  const full = () => Promise.reject(new Error('disk full'))
  const { run, workdir } = scene(t)
  const plan = fence('sh run id=one', 'touch ran')
  await t.rejects(run(plan, { stepFinished: full }), { message: 'disk full' }, 'the last end')
  const { run: again } = scene(t)
  await t.rejects(again(plan, { stepStarted: full }), { message: 'disk full' })
  t.notOk(existsSync(`${workdir}/ran`), 'nothing runs that is not on disk')
  const two = `${plan}\n${fence('sh run id=two', 'touch second')}`
  await t.rejects(scene(t).run(two, { stepFinished: full }), { message: 'disk full' })
  t.notOk(existsSync(`${workdir}/second`))
})

t.test('a run that is stopped says where', async (t) => {
  const during = scene(t)
  const stopped = during.run(fence('sh run id=one', 'echo; sleep 60'), {
    output: () => during.abort.abort(),
  })
  t.strictSame(await stopped, { ok: false, reason: 'stopped during step one' })
  const before = scene(t)
  const plan = `${fence('sh run id=one', 'true')}\n${fence('sh run id=two', 'true')}`
  const result = await before.run(plan, {
    async stepFinished() {
      before.abort.abort()
    },
  })
  t.match(result, { ok: false, reason: /^stopped (?:before|during) step (?:one|two)$/ })
})

t.test('proof is run by itself, and the tests once before the work', async (t) => {
  const { request, said, log } = scene(t)
  const plan = [
    fence('sh run id=work', 'echo work'),
    fence('sh run id=log proof=log', 'echo log'),
    fence('sh run id=tests proof=tap baseline=true', 'echo tests; exit 1'),
  ].join('\n')
  t.match(await runProofSteps(request(plan)), { reason: /^step tests exited with 1/ })
  t.equal(said(), 'log\ntests\n')
  const before: string[] = []
  await runBaselineSteps(
    request(plan),
    async ({ id }, { exit }) => void before.push(`${id} ${exit}`),
  )
  t.strictSame(before, ['tests 1'], 'a failure stops nothing')
  t.ok(log.includes('tests-before 60000'))
  t.ok(log.includes('tests 60000'))
})

const WITH_STEP = `It is slow.\n\n${fence('sh run', 'make')}\n## Hypothesis\n\nA lock.\n\n## More\n\nText.\n`

t.test('a plan without an agent comes from the first place that has one', async (t) => {
  const steps = ['npm test', 'a\n```\nb']
  const all = { runbook: 'Do it.', description: WITH_STEP, steps }
  t.strictSame(await findRunbook(all), { source: 'runbook', plan: 'Do it.' })
  const titled = (rest: string) =>
    findRunbook({ ...all, runbook: `## Hypothesis\n\nH.\n\n${rest}` })
  for (const [rest, plan] of [
    ['## Plan\n\nDo it.\n\n### How\n', 'Do it.\n\n### How'],
    ['## Plan\n', '## Plan'],
    ['## Steps\n\nDo it.', '## Steps\n\nDo it.'],
    ['## Plan\n\nDo it.\n\n## Risks\n\nNone.', '## Plan\n\nDo it.\n\n## Risks\n\nNone.'],
  ] as const)
    t.match(await titled(rest), { plan }, rest)
  const described = await findRunbook({ ...all, runbook: ' \n' })
  t.match(described, {
    source: 'description',
    plan: /^Run the steps that the desc.*\n\n```sh run\nmake\n```$/s,
  })
  const stepped = (await findRunbook({ ...all, runbook: undefined, description: 'Text.' }))!
  t.equal(stepped.source, 'steps')
  t.match(
    stepped.plan,
    /```sh run id=step-1\nnpm test\n```\n\n````sh run id=step-2\na\n```\nb\n````/,
  )
  t.equal(await findRunbook({ runbook: undefined, description: 'Text.', steps: [] }), null)
  t.equal(sourceOfPlan(['runbook.md'], 'x'), 'runbook.md')
  t.equal(sourceOfPlan(['case.md'], stepped.plan), 'the steps in casefile.md')
  t.equal(sourceOfPlan(undefined, 'x'), "the case's description")

  const planned = async (
    description: string,
    memory: [string, string][] = [],
    steps: string[] = [],
  ) =>
    planRunbook({
      case: { ...CASE, description },
      memory: new Map(memory),
      steps,
      workdir: t.testdir({ 'go.mod': 'module x\n' }),
      signal: new AbortController().signal,
      agent: null,
    })
  t.match(await planned(WITH_STEP), { hypothesis: 'A lock.' })
  const own = 'Steps.\n\n## Hypothesis\n\nA leak.\n\n## After\n\nMore.\n'
  t.strictSame(await planned(WITH_STEP, [['runbook.md', own]]), {
    hypothesis: 'A leak.',
    plan: 'Steps.\n\n## After\n\nMore.',
  })
  t.match(await planned('', [], ['make']), {
    hypothesis: 'No hypothesis: the plan comes from the steps in casefile.md.',
  })
  t.match(await planned(''), { hypothesis: /^None/, plan: /Nothing to plan.*--run-tests`\.$/s })
})

t.test('a runbook that only runs the tests names where they are from', async (t) => {
  const tests = { id: 'go-test', command: 'go test', script: 'go test -json', source: 'go.mod' }
  t.match(
    testsRunbook({ ...tests, report: 'go' }),
    /\(go\.mod\)[\s\S]*id=go-test proof=go\ngo test -json\n/,
  )
  const named = testsRunbook({ ...tests, source: 'casefile.md', report: null })
  t.match(named, /proof=test\n[\s\S]*the command of `tests` in casefile\.md/)
})
