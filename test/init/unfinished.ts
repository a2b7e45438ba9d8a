import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { answered, needsScript } from '../fixtures/answered.ts'
import { CLI, type Options, project } from '../fixtures/init-project.ts'

const HOOKS = '.claude/settings.local.json'

t.test('a write that fails says what was written', async (t) => {
  const options: Options = { memory: 'own-repo', hook: true, tests: 'make' }

  await t.test('nothing yet', async (t) => {
    const space = project(t)
    const { write } = await space.plan(options)
    writeFileSync(space.file('.git/info/exclude'), '/mine\n')
    await t.rejects(write(), {
      code: 'changed_meanwhile',
      message:
        /None of these files was written: \.git\/info\/exclude, memory\/\.git, .*casefile\.md\.$/,
    })
    t.equal(readFileSync(space.file('.git/info/exclude'), 'utf8'), '/mine\n')
    t.notOk(existsSync(space.file('memory')))
  })

  await t.test('all but casefile.md', async (t) => {
    const space = project(t)
    const { write } = await space.plan(options)
    space.write('casefile.md', 'mine\n')
    await t.rejects(write(), {
      message:
        /Written: .*exclude, memory\/\.git, .*memory\/cases, .*commit-msg\. Not written: casefile\.md\./,
    })
    t.equal(readFileSync(space.file('casefile.md'), 'utf8'), 'mine\n')
  })

  await t.test('a part of a step', async (t) => {
    const space = project(t)
    const { write } = await space.plan({ hook: true })
    const info = space.file('.git/hooks')
    rmSync(info, { recursive: true, force: true })
    writeFileSync(info, 'mine\n')
    await t.rejects(write(), {
      message:
        /hooks.*a file is in its place.*Written: memory\/\.gitignore, memory\/\.gitattributes, memory\/cases\. Not written: .*pre-commit, .*commit-msg, casefile\.md\./,
    })
    rmSync(info)
    const again = await space.plan({ hook: true })
    t.strictSame(again.lines.length, 3, 'the hooks and casefile.md')
    await again.write()
    t.ok(existsSync(space.file('casefile.md')))
  })

  await t.test('git, which failed', async (t) => {
    const space = project(t)
    const { write } = await space.plan({ memory: 'orphan-worktree', hook: false })
    space.write('memory/mine.md', 'mine\n')
    await t.rejects(write(), {
      message:
        /git could not make .*memory a worktree.*Written: .*exclude\. Not written: memory\/\.git,/,
    })
  })
})

t.test('a text option that is no line says so, and nothing is written', async (t) => {
  const wrong: [args: string[], error: RegExp][] = [
    [['--tests', ' '], /--tests: expected a text, not only white space.*none/],
    [['--tests', ''], /--tests: expected a text/],
    [['--tests', 'make\ncheck'], /--tests: expected one line/],
    [['--tests', 'x'.repeat(100_000)], /--tests: expected at most 1000 characters.*100000/],
    [['--agent', ''], /--agent: expected a text/],
    [['--agent', 'claude\n'], /--agent: expected one line/],
    [['--agent', 'x'.repeat(100_000)], /--agent: expected at most 100 characters/],
  ]
  const space = project(t)
  const before = space.tree()
  for (const [args, error] of wrong) {
    const { code, stderr, stdout } = await space.init(...args, '--json')
    t.match({ code, stderr }, { code: 2, stderr: error })
    t.ok(stderr.length < 400, 'it does not repeat a long text')
    t.match(JSON.parse(stdout), { code: 'bad_request' })
  }
  t.strictSame(space.tree(), before)
  t.match(await space.init('--tests', 'x'.repeat(1000), '--dry-run'), { code: 0 })
})

t.test('after a failure, a second run asks what the first has asked', needsScript, async (t) => {
  const space = project(t)
  space.write(HOOKS, '{ "hooks": ')
  const env = { ...process.env, HOME: space.file('../home'), PATH: space.path }
  const run = (questions: [string, string][]) =>
    answered(
      ['node', CLI, 'init', '--root', space.root, '--agent', 'claude', '--in-terminal'],
      env,
      questions,
    )
  const tests: [string, string] = ['none [none]', 'make check']
  const first = await run([tests, ['[y/N]', ''], ['1, 2 or 3? [1]', ''], ['[y/N]', '']])
  t.equal(first.code, 1)
  t.match(first.shown, /settings\.local\.json\s+cannot\s+be\s+changed/)
  t.notMatch(first.shown, /will be written/)
  rmSync(space.file(HOOKS))
  const long: [string, string] = ['none [none]', 'x'.repeat(1001)]
  const more: [string, string][] = [
    ['[y/N]', ''],
    ['1, 2 or 3? [1]', ''],
    ['[y/N]', 'y'],
    ['[Y/n]', ''],
  ]
  const second = await run([long, tests, ...more])
  t.match(second, { code: 0, left: 0, shown: /at most 1000 characters[\s\S]*Created casefile\.md/ })
  t.match(readFileSync(space.file('casefile.md'), 'utf8'), /^tests: make check/m)
})
