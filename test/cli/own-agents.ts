import { spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { personHere } from '../fixtures/person-with-agents.ts'

/** Says how it was started, and ends with 7. */
const AGENT = `#!/bin/sh
printf '%s\\n' "$@" > "$HOME/words"
printf '%s' "$CASEFILE_CASE" > "$HOME/case"
exit 7
`

/** A served workspace with a case, and a person who has agents on the PATH. */
async function servedPerson(t: Test) {
  const cli = personHere(t)
  for (const name of ['claude', 'codex']) {
    const path = join(cli.home, 'bin', name)
    writeFileSync(path, AGENT)
    chmodSync(path, 0o755)
  }
  const service = await cli.serve()
  const id: string = (await cli.run('new', 'Raise the limit', '--json')).json.id
  const conversations = async () => (await service.request('GET', '/conversations')).json
  // the agent: not this process, whose commands would be the agent's
  const agent = spawn('sleep', ['600'])
  t.teardown(() => agent.kill())
  /** Runs the installed hook of an event. */
  const hook = async (event: string, body: object) => {
    const settings = JSON.parse(cli.read('.claude/settings.local.json'))
    const { command } = settings.hooks[event][0].hooks[0]
    const own = { ...process.env, ...cli.env, CLAUDE_PID: String(agent.pid) }
    const env = Object.fromEntries(Object.entries(own).filter(([name]) => name !== 'CASEFILE_RUN'))
    const child = spawn('/bin/sh', ['-c', command], { cwd: cli.root, env, stdio: 'pipe' })
    child.stdin.end(JSON.stringify({ ...body, cwd: cli.root, hook_event_name: event }))
    return text(child.stdout)
  }
  return { ...cli, id, service, conversations, hook }
}

const WRITE = { tool_name: 'Write', tool_input: { file_path: 'a.js', content: '1' } }

/** `run` listens to signals as long as its process lives. */
function keepListeners(t: Test): void {
  const names = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'] as const
  const before = names.map((name) => process.listeners(name))
  t.teardown(() => {
    for (const [index, name] of names.entries()) {
      for (const each of process.listeners(name)) {
        if (!before[index]!.includes(each)) process.off(name, each)
      }
    }
  })
}

t.test('agents in a terminal of their own', async (t) => {
  const cli = await servedPerson(t)

  await t.test('a conversation belongs to the current case, and waits for its plan', async (t) => {
    t.match(await cli.run('agent', 'use'), {
      code: 0,
      stdout: 'no case is current in the workspace\n',
    })
    t.match(await cli.run('agent', 'use', 'raise'), {
      code: 0,
      stdout: /^[0-9a-f]{8} {2}Raise the limit\n$/,
      stderr: 'It is current in the workspace.\n',
    })
    t.match(await cli.run('agent', 'use', '--json'), { json: { folder: '.', case_id: cli.id } })
    const planned = await cli.run('new', 'One', '--provider', 'claude')
    t.match(planned, { stderr: /\nNext: casefile start/ }, 'before there are hooks')
    await cli.run('agent', 'install', 'claude', '--yes')

    const session = { session_id: 'one' }
    const began = await cli.hook('SessionStart', { ...session, source: 'startup' })
    t.match(began, /Raise the limit/)
    await cli.hook('UserPromptSubmit', { ...session, prompt: 'Do it' })
    t.match(await cli.hook('PreToolUse', { ...session, ...WRITE }), /"deny".*Raise the limit/)
    t.match(await cli.conversations(), [{ agent: 'claude', case_id: cli.id, is_gated: true }])
    t.match(await cli.run('agent', 'status'), {
      code: 0,
      stdout: /^claude +local +not tested +heard just now .*\n\nThe service answers at http:/,
    })

    t.match(await cli.run('agent', 'use', '--none'), { code: 0, stdout: /no case/ })
    t.match(await cli.run('agent', 'use', 'nothing of the kind'), {
      code: 3,
      stderr: /No case matches/,
    })
    t.match(await cli.run('agent', 'use', 'raise', '--none'), { code: 2 })
  })

  await t.test('the denial says how to propose an intent, which works', async (t) => {
    const session = { session_id: 'intent' }
    await cli.run('agent', 'use', 'raise')
    await cli.hook('UserPromptSubmit', { ...session, prompt: 'Do it' })
    const call = (tool_name: string, tool_input: object) =>
      cli.hook('PreToolUse', { ...session, tool_name, tool_input })
    const denied = await call('Write', { file_path: 'src/a.js' })
    const said = JSON.parse(denied).hookSpecificOutput.permissionDecisionReason as string
    t.notMatch(said, /\n/, 'one line')
    const command = /casefile (start [0-9a-f]{8}) --intent ".*?" --paths '.*?' --proof '.*?'/.exec(
      said,
    )!
    t.equal(await call('Bash', { command: command[0] }), '', 'it passes')
    t.match(await call('Bash', { command: `${command[0]} --yes` }), /"deny"/)
    t.match(await call('Bash', { command: `${command[0]} > a.js` }), /"deny"/)

    const words = [...command[1]!.split(' '), '--intent', 'Raise it to ten.', '--paths', 'src/**']
    const waiting = async () => {
      const all = (await cli.service.request('GET', `/cases/${cli.id}/sessions`)).json
      return all.find(({ state }: { state: string }) => state === 'plan_ready')
    }
    const first = cli.run(...words)
    while (!(await waiting())) await delay(50)
    const revise = `/cases/${cli.id}/sessions/${(await waiting()).id}/revise`
    await cli.service.request('POST', revise, { note: 'Name its proof.' })
    t.match(await first, { code: 6, stdout: /not approved. The operator says: Name its proof\./ })
    const detached = await cli.run(...words, '--detach')
    t.match(detached, { code: 0, stdout: /still waits for the operator/ }, 'at once')
    const proposed = cli.run(...words, '--proof', 'true')
    while (!/- "true"/.test((await waiting())?.plan)) await delay(50)
    t.match(await waiting(), { origin: 'terminal', plan: /Raise it to ten\.$/ })
    t.match(await call('Write', { file_path: 'src/a.js' }), /"deny".*waits for the operator/)
    await cli.service.request('POST', `/cases/${cli.id}/sessions/${(await waiting()).id}/approve`)
    t.match(await proposed, { code: 0, stdout: /is approved: go on, inside its paths/ })
    t.match(await call('Write', { file_path: 'src/a.js' }), /^$|"allow"/)
    t.match(await call('Write', { file_path: 'src/../b.js' }), /"deny".*outside the scope/)
    t.match(await call('Bash', { command: 'true && ls | head -3' }), /^$|"allow"/)
    t.match(await call('Bash', { command: 'true && rm -rf src' }), /"deny".*rm -rf src/)
    t.equal(await cli.hook('Stop', { ...session, stop_hook_active: false }).then(() => 0), 0)
    const [{ state, candidates }] = (await cli.service.request('GET', `/cases/${cli.id}/sessions`))
      .json
    t.match({ state, candidates }, { state: 'complete', candidates: [{ artifact: /proof/ }] })
    await cli.run('agent', 'use', '--none')
  })

  await t.test('one without a case is left alone until it is adopted', async (t) => {
    t.match(await cli.run('agent', 'adopt'), {
      code: 0,
      stderr: 'Every conversation has a case.\n',
    })
    t.match(await cli.run('agent', 'adopt', 'raise'), {
      code: 3,
      stderr: /Every conversation has a case/,
    })
    const session = { session_id: 'two' }
    await cli.hook('UserPromptSubmit', { ...session, prompt: 'Do it' })
    t.equal(await cli.hook('PreToolUse', { ...session, ...WRITE }), '')
    t.match(await cli.run('agent', 'adopt'), {
      code: 0,
      stdout: /^[0-9a-f]{8} +claude +\. .*1 prompt +just now/,
      stderr: /Next: casefile agent adopt/,
    })
    const ids: { id: string; case_id: string | null }[] = await cli.conversations()
    const { id } = ids.find(({ case_id }) => case_id === null)!
    const unknown = { code: 3, stderr: /No conversation has an id/ }
    t.match(await cli.run('agent', 'adopt', 'ffff', 'raise'), unknown)
    t.match(await cli.run('agent', 'adopt', id.slice(0, 6), 'raise', '--json'), {
      code: 0,
      json: { id, case_id: cli.id },
    })
    t.match(await cli.hook('PreToolUse', { ...session, ...WRITE }), /"deny"/)
  })

  await t.test('a new case leads to the terminal, where its agent has its hooks', async (t) => {
    const made = await cli.run('new', 'Two', '--provider', 'claude')
    t.match(
      made.stderr,
      /^Nothing is planned yet\. What Claude Code does in a terminal .*\nNext: casefile agent use [0-9a-f]{8}\n$/,
    )
    const used = await cli.run('new', 'Three', '--provider', 'claude', '--use')
    t.match(used.stderr, /^It is current here\.\nStart Claude Code in a terminal\./)
    t.match(await cli.run('agent', 'use'), { stdout: /Three/ })
  })

  await t.test('run starts an agent with hooks that are installed nowhere', async (t) => {
    keepListeners(t)
    const words = () => readFileSync(join(cli.home, 'words'), 'utf8').trimEnd().split('\n')
    const args = ['--case', 'raise', '--strict', '--', '-c', '--model', 'x']
    t.match(await cli.run('agent', 'run', 'claude', ...args), { code: 7, stderr: '' })
    const [flag, file, ...rest] = words()
    t.equal(flag, '--settings')
    t.strictSame(rest, ['-c', '--model', 'x'])
    t.match(JSON.parse(readFileSync(file!, 'utf8')).hooks, {
      PreToolUse: [
        { matcher: '*', hooks: [{ command: / claude gate strict \$PPID \|\| printf/ }] },
      ],
    })
    t.equal(readFileSync(join(cli.home, 'case'), 'utf8'), cli.id)
    const begun = { agent: 'claude', case_id: cli.id, last_heard_at: null, is_gated: false }
    const conversations: object[] = await cli.conversations()
    t.match(
      conversations.filter((each) => 'last_heard_at' in each && each.last_heard_at === null),
      [begun],
    )

    t.match(await cli.run('agent', 'run', 'codex', '--', 'resume'), { code: 7 })
    const codex = words()
    t.strictSame(codex.slice(0, 3), ['--disable', 'daemon_auto_start', '-c'])
    t.match(codex[3], /^hooks\.SessionStart=\[\{hooks=\[\{type="command",command="\/bin\/sh '/)
    t.match(codex.at(-2), /^hooks\.state=\{"\/<session-flags>\/config\.toml:session_start:0:0"=/)
    t.equal(codex.at(-1), 'resume')
    t.notMatch(readFileSync(join(cli.home, 'case'), 'utf8'), cli.id)

    t.match(await cli.run('agent', 'run', 'gemini'), {
      code: 1,
      stderr: /casefile agent install gemini/,
    })
    t.match(await cli.run('agent', 'run', 'claude', '--case', 'unknown'), { code: 3 })
    await cli.service.close()
    t.match(await cli.run('agent', 'run', 'claude'), { code: 1, stderr: /casefile serve/ })
  })
})
