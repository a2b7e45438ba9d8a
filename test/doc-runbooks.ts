import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readPlan } from '../src/markdown/plan-steps.ts'
import { readPage } from './fixtures/doc-code.ts'
import { blocksOf } from './fixtures/doc-pages.ts'
import { inLongLane } from './fixtures/full.ts'

/** What each runbook of the page runs, in its order. */
const STEPS = [['install', 'test'], ['bisect', 'back']]

const runbooks = blocksOf(readPage('docs/plans.md').split('\n## Runbooks to copy\n')[1]!).filter(
  ({ language }) => language === 'markdown',
)

t.test('each runbook is a plan with the steps that it shows', async (t) => {
  const plans = await Promise.all(runbooks.map(({ code }) => readPlan(code)))
  for (const plan of plans) t.strictSame(plan.errors, [])
  t.strictSame(
    plans.map(({ steps }) => steps.map(({ id }) => id)),
    STEPS,
  )
})

t.test('those that need only Node and git run', inLongLane, async (t) => {
  const cwd = t.testdir({
    'package.json': '{ "type": "module", "scripts": { "test": "node --test" } }',
    'a.test.js': `import test from 'node:test'\ntest('it holds', () => {})\n`,
  })
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.invalid', ...words], {
      cwd,
    })
  git('init', '--quiet')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'First')
  git('tag', 'v1.0')
  writeFileSync(join(cwd, 'b.test.js'), `throw new Error('broken')\n`)
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Broken')
  await run('bisect', 'broken commit found', /is the first bad commit/)
  await run('back', 'and back', /^/)

  async function run(id: string, what: string, printed: RegExp): Promise<void> {
    const plans = await Promise.all(runbooks.map(({ code }) => readPlan(code)))
    const step = plans.flatMap(({ steps }) => steps).find((each) => each.id === id)!
    // without what tells a `node --test` below this test that it is one of its children
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const { status, stdout, stderr } = spawnSync('sh', ['-euc', step.script], {
      cwd,
      env,
      encoding: 'utf8',
    })
    t.equal(status, 0, what, { stdout, stderr })
    t.match(stdout, printed, what)
  }
})
