import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { planRunbook } from '../../src/runners/runbook-plan.ts'
import { CASE } from '../fixtures/records.ts'
import { must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'
import { recordOf } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ok = step('echo done')
const PACKAGE = '{"scripts":{"test":"node --test"}}'

const plan = (workdir: string, description: string, runbook?: string) =>
  planRunbook({
    case: { ...CASE, description },
    memory: new Map(runbook === undefined ? [] : [['runbook.md', runbook]]),
    steps: [],
    workdir,
    signal: new AbortController().signal,
    agent: null,
  })

t.test('where the plan comes from', async (t) => {
  const dir = t.testdir({ node: { 'package.json': PACKAGE }, none: {} })
  const [node, none] = [join(dir, 'node'), join(dir, 'none')]
  const described = `Fix it.\n\n${step('echo from the description', 'sh run id=mine timeout=5s')}\nand not\n\n\`\`\`sh\nrm -rf x\n\`\`\`\n`
  const plans: [name: string, made: ReturnType<typeof plan>, expected: RegExp][] = [
    ['runbook.md before all', plan(node, described, ok), /^`+sh run\necho done\n`+$/],
    [
      'the run fences of the description, and no others',
      plan(node, described),
      /^Run the steps that the description gives\.\n\n```sh run id=mine timeout=5s\necho from the description\n```$/,
    ],
    [
      'an indented example keeps its indentation',
      plan(none, '', '\n    ```sh run id=a\n    echo a\n    ```\n'),
      /^ {4}```sh run id=a\n {4}echo a\n {4}```$/,
    ],
    [
      'a blank runbook.md does not count',
      plan(none, described, ' \n'),
      /^Run the steps that the description/,
    ],
    [
      'nothing to plan with: no tests run unasked',
      plan(node, ''),
      /^Nothing to plan with: [^`]*`run`[^`]*`steps`[\s\S]*--run-tests`\.$/,
    ],
    [
      'nothing to plan with, and no tests that are known',
      plan(none, ''),
      /^Nothing to plan with: [\s\S]*say how with `casefile init --tests "make check"`, then/,
    ],
  ]
  for (const [name, made, expected] of plans) t.match((await made).plan, expected, name)
})

t.test('where the hypothesis comes from', async (t) => {
  const none = t.testdir({})
  const stated = '## Hypothesis\n\nThe pool is small.\n\nTruly.\n\n### Why\n\nx\n\n## Steps\n\ny'
  const hypothesis = 'The pool is small.\n\nTruly.\n\n### Why\n\nx'
  const nothing = 'None: there is nothing to plan with.'
  const rows: [description: string, runbook: string, expected: string][] = [
    [`Intro.\n\n${stated}`, '', hypothesis],
    [stated, `## Hypothesis\n\nMine.\n\n## Do\n\n${ok}`, 'Mine.'],
    ['## Hypothesis\n\n## Steps\n\nFirst.', '', nothing],
    ['```\n## Hypothesis\n\nno\n```\n\nYes.', '', nothing],
    ['It is slow.', ok, 'No hypothesis: the plan comes from runbook.md.'],
    [`# A\n\n${step('true')}`, '', "No hypothesis: the plan comes from the case's description."],
  ]
  for (const [description, runbook, expected] of rows) {
    const made = await plan(none, description, runbook)
    t.equal(made.hypothesis, expected)
    t.notMatch(made.plan, /Mine\./, 'it is not in the plan too')
  }
})

t.test('the plan of a session', async (t) => {
  const service = await openTestService(t, { files: { node: { 'package.json': PACKAGE } } })
  const near = await planned(service, { fields: { description: '```SH RUN\necho a\n```' } })
  const session = await must(service, 'GET', near.path)
  t.equal(session.plan, '```SH RUN\necho a\n```', 'a description with what is nearly a step')
  t.match(session.problems, [{ code: 'invalid_plan', message: /"SH RUN" is nearly a step/ }])

  const steps = "---\nsteps: ['make a', 'echo ```']\n---\n"
  writeFileSync(join(service.root, 'casefile.md'), steps)
  const ref = await planned(service, { fields: { workdir: 'node' } })
  const expected =
    'Run the steps from casefile.md.\n\n```sh run id=step-1\nmake a\n```\n\n````sh run id=step-2\necho ```\n````'
  t.match(await must(service, 'GET', ref.path), {
    plan: expected,
    plan_sha256: sha256(expected),
    hypothesis: 'No hypothesis: the plan comes from the steps in casefile.md.',
    problems: { length: 0 },
  })

  const write = (text: string) =>
    must(service, 'PUT', `/cases/${ref.case_id}/memory/runbook.md`, text)
  await must(service, 'POST', `${ref.path}/abandon`)
  await write('x\n'.repeat(140 * 1024))
  const large = await newSession(service, ref.case_id)
  await reaches(service, large, 'failed')
  t.match(await must(service, 'GET', large.path), { plan: '', problems: { length: 0 } })
  t.match(recordOf(service, ref, 2), /reason="The plan has 286719 bytes/)
  await write(`\ufeff${'x'.repeat(256 * 1024)}`)
  const fits = await newSession(service, ref.case_id)
  await reaches(service, fits, 'plan_ready')
  const length = (await must(service, 'GET', fits.path)).plan.length
  t.equal(length, 256 * 1024, 'exactly as long as it may be')
})
