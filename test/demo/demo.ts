import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { runBuilt } from '../fixtures/built-service.ts'
import { needsTmux, openPane } from '../fixtures/tmux.ts'

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
    /no account, no model, no network/,
    /1 of 6 · A bug becomes a case/,
    /\$ npm test\n {4}not ok 1 - /,
    /# pass 18\n {4}# fail 5/,
    /\$ casefile new "Signed out right after signing in" --type bug \\\n {6}--description /,
    /[0-9a-f-]{36} {2}Signed out right after signing in/,
    /\$ casefile prove require "right after" "All tests pass" --type test-log/,
    /scripted: it has no model/,
    /\$ casefile start "right after"/,
    /Session 1 {2}implementing by scripted-agent/,
    /Hypothesis\n {6}`exp` in a token/,
    /1\. Let `issueToken` write `iat` and `exp` in milliseconds/,
    /\$ casefile session comment "right after" --line 1 \\\n {6}-m "Tokens keep seconds/,
    /draft .* On line 1/,
    /\$ casefile revise "right after"/,
    /Not placed, because their lines are gone:\n.* addressed .* On line 1/,
    /1\. Leave `issueToken` as it is/,
    /\$ casefile approve "right after" --yes/,
    /│ → Edit src\/token\.js/,
    /│ # fail 2/,
    /✗ who has signed in must sign in again 15 minutes later/,
    /✗ a token is refused when its lifetime is over/,
    /Session 1 failed/,
    /\$ casefile resolve "right after" --outcome ConfirmedCodeBug\n.*Proof requirements are not met/,
    /\$ casefile start "right after" --again/,
    /Session 2 .*\n\n {4}Hypothesis\n {6}The units are right now/,
    /\$ casefile approve "right after" --yes/,
    /✓ 23 of 23 tests pass/,
    /\$ casefile prove add "right after" --artifact 2-test\.tap/,
    /test-log of session 2, not verified/,
    /\$ casefile prove verify "right after" --yes\n.* verified, 23 of 23/,
    /\$ casefile resolve .*\n.*RESOLVED/,
    /src\/token\.js \| 2 \+-/,
    /\$ casefile show "right after" --history/,
    /session 1: sent the plan back/,
    /In your own project:\n {2}\$ .* init .*\n {2}\$ .* serve --open/,
    /The workspace is kept: /,
    /To serve it: .* serve --root .* --state-dir /,
  ]
  let at = 0
  for (const part of story) {
    const found = part.exec(stdout.slice(at))
    t.ok(found, `${part}, in its place`)
    at += found ? found.index + found[0].length : 0
  }
  t.notOk(stdout.includes('\u001b'), 'no colours where there is no terminal')
  t.notMatch(stdout, / $/m, 'no blanks at the ends of lines')
  t.notMatch(stdout, /\n\n\n/, 'no two blank lines')
  const others = stdout.split('\n').filter((line) => !line.includes(temp) && !line.includes(cli))
  t.strictSame(
    others.filter((line) => line.length > 80),
    [],
    'nothing is wider than a terminal of 80 columns',
  )
  t.equal(
    stdout.match(/`issueToken` write/g)?.length,
    3,
    'a plan is printed once; its comment quotes it twice',
  )

  const workspace = join(temp, left()[0]!, 'workspace')
  t.ok(stdout.includes(`The workspace is kept: ${workspace}`))
  t.match(
    execFileSync('git', ['status', '--short'], { cwd: workspace, encoding: 'utf8' }),
    /^ M src\/token\.js\n\?\? memory\/cases\/[0-9a-f-]{36}\/\n$/,
    'and it is whole',
  )

  const state = join(temp, 'mine')
  const refused = await runBuilt(['start', 'right after'], { XDG_STATE_HOME: state }, workspace)
  t.not(refused.code, 0)
  t.match(
    refused.stderr,
    /trust/,
    'the scripted agent is trusted only in the state folder of the demo',
  )
})

t.test('without a terminal it needs --yes', async (t) => {
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
    await printed(/▶ agent/)
    child.kill('SIGINT')
    const { code, stderr } = await ended
    t.equal(code, 130)
    t.equal(stderr, 'casefile: the demo was interrupted\n')
    t.strictSame(left(), [])
  })
  t.test('by a reader that has read enough', async (t) => {
    const { child, ended, left, printed } = start(t, ['--yes'])
    await printed(/# pass 18/)
    child.stdout.destroy()
    t.equal((await ended).code, 130)
    t.strictSame(left(), [])
  })
})

t.test('what fails is said, and the exit code says so', async (t) => {
  const { ended, left, temp } = start(t, ['--yes'], { PATH: join('/', 'nowhere') })
  const { code, stderr } = await ended
  t.equal(code, 1)
  t.match(stderr, /^casefile: The demo needs npm, which is not installed\.\n$/)
  t.strictSame(left(), [])
  t.ok(existsSync(temp))
})

t.test(
  'with --json the result goes to standard output, and the story to standard error',
  async (t) => {
    const { ended, left } = start(t, ['--yes', '--json'])
    const { code, stdout, stderr } = await ended
    t.equal(code, 0)
    t.strictSame(JSON.parse(stdout), { played: true, workspace: null })
    t.match(stderr, /6 of 6 · /)
    t.strictSame(left(), [])
  },
)

t.test('on a terminal', needsTmux, async (t) => {
  /** The demo in a terminal of 80 columns; the file `opened` has the addresses that it opened. */
  const onTerminal = (t: Test, args = '') => {
    const folder = t.testdir({ 'browser.sh': '#!/bin/sh\necho "$1" >> "$OPENED"\n' })
    chmodSync(join(folder, 'browser.sh'), 0o755)
    const opened = join(folder, 'opened')
    const env = { TMPDIR: folder, BROWSER: join(folder, 'browser.sh'), OPENED: opened }
    const pane = openPane(t, `"${process.execPath}" "${cli}" demo ${args}`, {
      cwd: folder,
      env,
      columns: 80,
    })
    return { pane, opened }
  }

  t.test('each step waits for Enter, and no to a plan runs nothing', async (t) => {
    const { pane } = onTerminal(t)
    const output = pane.record()
    for (const command of ['start', 'session comment', 'revise']) {
      await pane.shows(new RegExp(`casefile ${command} .*\n(?:.*"\n)?  Enter runs it\\s*$`))
      pane.press('Enter')
    }
    await pane.shows(/casefile approve .*\n {2}Enter approves this plan, n does not\s*$/)
    pane.press('n', 'Enter')
    const text = await pane.shows(/exit=0/)
    t.match(text, /casefile session stop[\s\S]*Not approved, so nothing ran\./)
    t.notMatch(text, /Enter runs it/, 'an answered prompt is gone')
    t.notMatch(text, /▶ agent/)
    t.match(output(), /\u001b\[/, 'in colours')
  })

  t.test('with --open the page of the case is opened', async (t) => {
    const { pane, opened } = onTerminal(t, '--open')
    const text = await pane.shows(/Watch http[\s\S]*Enter runs it/)
    const [, address = ''] = /Watch (http:\S+?\/case\/\S+)/.exec(text) ?? []
    await pollUntil(() => existsSync(opened))
    t.equal(readFileSync(opened, 'utf8').trim(), address)
    t.equal((await fetch(address)).status, 200)
  })
})

async function pollUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await delay(50)
}
