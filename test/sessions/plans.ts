import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { must, newSession, planned, reaches, step } from '../fixtures/session-client.ts'
import { recordOf } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const ok = step('echo done')
const PACKAGE = '{"scripts":{"test":"node --test"}}'

t.test('where the plan comes from', async (t) => {
  const service = await openTestService(t, { files: { node: { 'package.json': PACKAGE } } })
  const { root } = service
  const described = `Fix it.\n\n${step('echo from the description', 'sh run id=mine timeout=5s')}\nand not\n\n\`\`\`sh\nrm -rf x\n\`\`\`\n`
  const plans: [name: string, wanted: { runbook?: string; fields?: object }, expected: RegExp][] = [
    [
      'runbook.md before all',
      { runbook: ok, fields: { description: described, workdir: 'node' } },
      /^`+sh run\necho done\n`+$/,
    ],
    [
      'the run fences of the description, and no others',
      { fields: { description: described, workdir: 'node' } },
      /^Run the steps that the description gives\.\n\n```sh run id=mine timeout=5s\necho from the description\n```$/,
    ],
    [
      'an indented example keeps its indentation',
      { runbook: '\ufeff\n    ```sh run id=a\n    echo a\n    ```\n' },
      /^ {4}```sh run id=a\n {4}echo a\n {4}```$/,
    ],
    [
      'a blank runbook.md does not count',
      { runbook: ' \n', fields: { description: described } },
      /from the description/,
    ],
    [
      'nothing to plan with: no tests run unasked',
      { fields: { workdir: 'node' } },
      /^Nothing to plan with: [^`]*`run`[^`]*`steps`[\s\S]*--run-tests`\.$/,
    ],
    [
      'nothing to plan with, and no tests that are known',
      {},
      /^Nothing to plan with: [\s\S]*say how with `casefile init --tests "make check"`, then/,
    ],
  ]
  for (const [name, wanted, expected] of plans) {
    await t.test(name, async (t) => {
      const ref = await planned(service, wanted)
      const { plan, plan_sha256, state, problems } = await must(service, 'GET', ref.path)
      t.match(plan, expected)
      t.equal(plan_sha256, sha256(plan))
      t.equal(state, 'plan_ready')
      t.strictSame(problems, [])
    })
  }
  await t.test('a description with what is nearly a step, as it is', async (t) => {
    const ref = await planned(service, { fields: { description: '```SH RUN\necho a\n```' } })
    const { plan, problems } = await must(service, 'GET', ref.path)
    t.equal(plan, '```SH RUN\necho a\n```')
    t.match(problems, [{ code: 'invalid_plan', message: /"SH RUN" is nearly a step/ }])
  })
  await t.test('steps of casefile.md', async (t) => {
    writeFileSync(join(root, 'casefile.md'), "---\nsteps: ['make a', 'echo ```']\n---\n")
    const ref = await planned(service, { fields: { workdir: 'node' } })
    const { plan } = await must(service, 'GET', ref.path)
    t.equal(
      plan,
      'Run the steps from casefile.md.\n\n```sh run id=step-1\nmake a\n```\n\n````sh run id=step-2\necho ```\n````',
    )
    const own = await planned(service, { fields: { description: described } })
    t.match((await must(service, 'GET', own.path)).plan, /from the description/)
    rmSync(join(root, 'casefile.md'))
  })
})

t.test('where the hypothesis comes from', async (t) => {
  const service = await openTestService(t)
  const stated = '## Hypothesis\n\nThe pool is small.\n\nTruly.\n\n### Why\n\nx\n\n## Steps\n\ny'
  const hypothesis = 'The pool is small.\n\nTruly.\n\n### Why\n\nx'
  const none = 'None: there is nothing to plan with.'
  const cases: [name: string, description: string, runbook: string, expected: string][] = [
    ['the heading of the description', `Intro.\n\n${stated}`, '', hypothesis],
    [
      'the heading of runbook.md before that',
      stated,
      `## Hypothesis\n\nMine.\n\n## Do\n\n${ok}`,
      'Mine.',
    ],
    ['an empty heading is none', '## Hypothesis\n\n## Steps\n\nFirst.', '', none],
    ['a heading in a fence is none', '```\n## Hypothesis\n\nno\n```\n\nYes.', '', none],
    [
      'never the first words of the description',
      'It is slow.',
      ok,
      'No hypothesis: the plan comes from runbook.md.',
    ],
    [
      'never the title',
      `# A\n\n${step('true')}`,
      '',
      "No hypothesis: the plan comes from the case's description.",
    ],
  ]
  for (const [name, description, runbook, expected] of cases) {
    await t.test(name, async (t) => {
      const fields = { title: 'It is odd', description }
      const ref = await planned(service, runbook === '' ? { fields } : { fields, runbook })
      const session = await must(service, 'GET', ref.path)
      t.equal(session.hypothesis, expected)
      t.notMatch(session.plan, /Mine\./, 'it is not in the plan too')
    })
  }
})

t.test('a plan that does not fit', async (t) => {
  const service = await openTestService(t)
  const made = await service.newCase()
  await must(service, 'PUT', `/cases/${made.id}/memory/runbook.md`, 'x\n'.repeat(140 * 1024))
  const ref = await newSession(service, made.id)
  await reaches(service, ref, 'failed')
  const session = await must(service, 'GET', ref.path)
  t.match(session, { state: 'failed', plan: '', problems: { length: 0 } })
  t.match(recordOf(service, ref), /reason="The plan has 286719 bytes/)
  const largest = 'x'.repeat(256 * 1024)
  await must(service, 'PUT', `/cases/${made.id}/memory/runbook.md`, largest)
  const fits = await newSession(service, made.id)
  await reaches(service, fits, 'plan_ready')
  t.equal(
    (await must(service, 'GET', fits.path)).plan.length,
    256 * 1024,
    'exactly as long as it may be',
  )
})
