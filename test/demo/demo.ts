import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** The demo with its temporary folder in the test's own. */
function start(t: Test, args: string[], env: Record<string, string> = {}) {
  t.teardown(() => {}) // or tap removes the testdir before the demo has ended
  const temp = t.testdir()
  const child = spawn(process.execPath, [cli, 'demo', ...args], {
    env: { ...process.env, NODE_OPTIONS: '', TMPDIR: temp, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said.stderr += text
  })
  const ended = once(child, 'close').then(([code]) => ({ code, ...said }))
  const printed = (wanted: RegExp) =>
    new Promise<void>((resolve) => {
      child.stdout.on('data', () => {
        if (wanted.test(said.stdout)) resolve()
      })
    })
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
  const left = () => readdirSync(temp).filter((name) => name.startsWith('casefile-demo-'))
  return { child, temp, ended, printed, left }
}

t.test('the demo plays the whole flow', async (t) => {
  const { ended, left, temp } = start(t, ['--yes', '--keep'])
  const { code, stdout, stderr } = await ended
  t.equal(code, 0, stderr)
  t.equal(stderr, '')

  const story = [
    /\| not ok \d+ - a token is accepted as soon as it is issued/,
    /18 of 23 tests pass/,
    /POST \/cases .* -> 201/,
    /wrote memory\/cases\/[0-9a-f-]{36}\/case\.md/,
    /7 session_state_changed new_state=plan_ready/,
    /\| ```js run id=fix/,
    /Approve this plan\? \[y\/N\] yes \(--yes\)/,
    /POST \S+\/approve \{"plan_sha256":"ca1d710f…"\} -> 200/,
    /fix {2}src\/token\.js: return claims\.exp/,
    /test {2}ok 23 - /,
    /22 session_completed/,
    /wrote src\/token\.js/,
    /tests +23 of 23 pass/,
    /diff +src\/token\.js: \+1 -1/,
    /candidate +1-test\.tap +23 of 23 tests passed/,
    /\| \+ {2}return claims\.exp <= Math\.floor\(now \/ 1000\)/,
    /PUT \/cases\/\S+\/state \{"state":"RESOLVED"\} -> 422/,
    /missing: a verified proof of type test-log for "All tests pass"/,
    /PUT \S+\/verify -> 200/,
    /PUT \S+\/state \{"state":"RESOLVED",.*\} -> 200/,
    /23 of 23 tests pass/,
    /src\/token\.js \| 2 \+-/,
    /The workspace is kept: /,
    /casefile sample workspace && casefile serve --root workspace \(in a checkout: npm start\)/,
  ]
  let at = 0
  for (const part of story) {
    const found = part.exec(stdout.slice(at))
    t.ok(found, `${part}, in its place`)
    at += found ? found.index + found[0].length : 0
  }
  t.notOk(stdout.includes('\u001b'), 'no colours where there is no terminal')
  t.notMatch(stdout, / $/m, 'no blanks at the ends of lines')

  const workspace = join(temp, left()[0]!, 'workspace')
  t.ok(stdout.includes(`The workspace is kept: ${workspace}`))
  t.match(
    execFileSync('git', ['status', '--short'], { cwd: workspace, encoding: 'utf8' }),
    /^ M src\/token\.js\n\?\? memory\/cases\/[0-9a-f-]{36}\/\n$/,
    'and it is whole',
  )
})

t.test('without a terminal it must be told to approve', async (t) => {
  const { ended, left } = start(t, [])
  const { code, stdout, stderr } = await ended
  t.equal(code, 1)
  t.equal(stdout, '')
  t.match(
    stderr,
    /^casefile: The demo asks before it approves .* Run casefile demo --yes to approve in advance \(/,
  )
  t.strictSame(left(), [])
})

t.test('interrupted it clears up', async (t) => {
  t.test('by ctrl-C, in the middle of a step', async (t) => {
    const { child, ended, left, printed } = start(t, ['--yes'])
    await printed(/13 step_started/)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    t.equal(code, 130)
    t.equal(stderr, 'casefile: the demo was interrupted\n')
    t.strictSame(left(), [])
  })
  t.test('by a reader that has read enough', async (t) => {
    const { child, ended, left, printed } = start(t, ['--yes'])
    await printed(/18 of 23/)
    child.stdout.destroy()
    t.equal((await ended).code, 130)
    t.strictSame(left(), [])
  })
})

t.test('what fails is told, and the exit code says so', async (t) => {
  const { ended, left, temp } = start(t, ['--yes'], { PATH: join('/', 'nowhere') })
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /^casefile: The demo needs npm, which is not installed\.\n$/)
  t.strictSame(left(), [])
  t.ok(existsSync(temp))
})
