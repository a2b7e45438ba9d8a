import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type ProviderSettings, STREAMS } from '../../src/model/settings.ts'
import type { CommandSpec } from '../../src/runners/agents/agent.ts'
import { claude } from '../../src/runners/agents/claude/run.ts'
import { agentVariables } from '../../src/runners/agents/environment.ts'
import { KNOWN_AGENTS } from '../../src/runners/agents/registry.ts'
import { wordsOf } from '../../src/runners/command/command-run.ts'
import { commandRunner, customCommandSpec } from '../../src/runners/command/command-runner.ts'
import type { AgentNote, AgentRun, PlanRequest, WorkRequest } from '../../src/runners/contract.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { inLongLane } from '../fixtures/full.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'

type Custom = Extract<ProviderSettings, { kind: 'command' }>

const PATH = process.env.PATH ?? '/usr/bin:/bin'
const ID = '6f1c1d7e-0d0c-4d0f-9a53-3f5f0e6d2c11'

/** A command of casefile.md that runs a script with `sh`, in both modes. */
function script(text: string, more: Partial<Custom> = {}): CommandSpec {
  const command = ['/bin/sh', '-c', text, 'agent']
  const settings = { kind: 'command', plan: command, work: command, prompt: 'stdin' } as const
  return customCommandSpec('mine', { ...settings, ...more })
}

/** A preset whose program is this script, found on the PATH. */
function fake(t: Test, id: string, text: string): { spec: CommandSpec; env: { PATH: string } } {
  const bin = t.testdir({ [id]: `#!/bin/sh\n${text}\n`, files: {}, project: {} })
  chmodSync(`${bin}/${id}`, 0o755)
  return { spec: KNOWN_AGENTS.find((each) => each.id === id)!, env: { PATH: `${bin}:${PATH}` } }
}

interface Run {
  prompt?: string
  env?: Record<string, string>
  args?: string[]
  resume?: string | null
  retriesMs?: number
  signal?: AbortSignal
  note?: (note: AgentNote) => Promise<void>
  onOutput?: (text: string) => void
}

/** Runs in both modes, and writes down in order what is reported. */
function recorded(t: Test, spec: CommandSpec, run: Run = {}) {
  const root = existsSync(t.testdirName) ? t.testdirName : t.testdir({ files: {}, project: {} })
  const log: string[] = []
  const notes: AgentNote[] = []
  const said = { stdout: '', stderr: '', raw: '' }
  const restartFresh = async () => {
    log.push('restartFresh')
    mkdirSync(`${root}/again`)
    return `${root}/again`
  }
  const agent: AgentRun = {
    prompt: run.prompt ?? 'Do it.\n',
    newId: ID,
    resume: run.resume ? { session: run.resume, restartFresh } : null,
    env: { PATH, ...run.env },
    folder: `${root}/files`,
    sandbox: noSandbox(),
    timeoutMs: 5_000,
    ...(run.retriesMs === undefined ? {} : { retriesMs: run.retriesMs }),
    limits: SHORT_LIMITS,
    report: {
      async stepStarted({ id }, timeoutMs) {
        log.push(`step ${id} ${timeoutMs}`)
      },
      async processStarted() {
        await delay(20)
        log.push('process')
      },
      output(stream, bytes) {
        if (!log.includes('output')) log.push('output')
        said[stream] += bytes
        run.onOutput?.(said.stdout)
      },
      raw(bytes) {
        said.raw += bytes
        run.onOutput?.(said.raw)
      },
      clean: (text) => text,
      async stepFinished({ exit, signal, startError }) {
        log.push(`finished ${startError ?? signal ?? exit}`)
      },
      async note(note) {
        await run.note?.(note)
        notes.push(note)
        const { fields } = note
        log.push(`${note.event} ${'status' in fields ? fields.status : ''}`.trim())
      },
    },
  }
  const signal = run.signal ?? new AbortController().signal
  const request = { workdir: `${root}/project`, signal, agent }
  const runner = commandRunner(spec, run.args)
  const plan = () => runner.plan(request as unknown as PlanRequest)
  const work = () =>
    runner.execute({
      ...request,
      plan: '',
      env: {},
      stepTimeoutMs: 1,
      sandbox: noSandbox(),
      report: agent.report,
    } as WorkRequest)
  return { root, log, notes, said, plan, work, runner }
}

t.test('a command of casefile.md', async (t) => {
  t.test('plans from its prompt, and what it prints is the plan', async (t) => {
    const { plan, log, said, notes } = recorded(
      t,
      script('cat; echo "## Hypothesis"; echo H; echo "## Plan"; echo P; echo log >&2'),
    )
    t.strictSame(await plan(), { hypothesis: 'H', plan: 'P' })
    t.strictSame(log, ['step plan-agent 5000', 'agent_started', 'process', 'output', 'finished 0'])
    t.strictSame(said, {
      stdout: 'Do it.\n## Hypothesis\nH\n## Plan\nP\n',
      stderr: 'log\n',
      raw: '',
    })
    t.match(notes[0], { fields: { mode: 'plan', command: ['/bin/sh', '-c'] } })
  })

  t.test('works', async (t) => {
    const { work, log, root } = recorded(t, script('cat > done.txt'))
    t.strictSame(await work(), { ok: true })
    t.equal(readFileSync(`${root}/project/done.txt`, 'utf8'), 'Do it.\n')
    t.strictSame(log, ['step agent 5000', 'agent_started', 'process', 'finished 0'])
  })

  t.test('gets its prompt as an argument, which no trail shows', async (t) => {
    const prompt = 'a {prompt_file} {id}\n$HOME "x"'
    const cases: [name: string, command: string[], output: string][] = [
      [
        'in its place',
        ['/bin/echo', '-n', '<{prompt}>', '{id}', '{args}'],
        `<${prompt}> {id} {args}`,
      ],
      ['else last', ['/bin/echo', '-n', '--plan'], `--plan ${prompt}`],
    ]
    for (const [name, command, output] of cases) {
      t.test(name, async (t) => {
        const spec = script('', { plan: command, prompt: 'argument' })
        const { plan, said, notes } = recorded(t, spec, { prompt, args: ['--model', 'opus'] })
        await plan()
        t.equal(said.stdout, output)
        t.notMatch(JSON.stringify(notes), 'HOME')
      })
    }
  })

  t.test('gets its prompt in a file of its own', async (t) => {
    const text = 'cat "$1"; read -r line || echo nothing to read'
    const { plan, root, said } = recorded(t, script(text, { prompt: 'file' }))
    await plan()
    t.equal(said.stdout, 'Do it.\nnothing to read\n')
    t.equal(statSync(`${root}/files/prompt.md`).mode & 0o777, 0o600)
  })

  t.test('may be a program of the working folder', async (t) => {
    const root = t.testdir({ files: {}, project: { 'agent.sh': '#!/bin/sh\necho P\n' } })
    chmodSync(`${root}/project/agent.sh`, 0o755)
    const spec = script('', { plan: ['./agent.sh'], work: null })
    const { plan, work, runner } = recorded(t, spec)
    t.match(await plan(), { plan: 'P' })
    t.strictSame(runner.capabilities, { isAgent: true, executesAny: false })
    t.match(await work(), { ok: false, reason: 'mine only plans: it has no command for work' })
  })
})

t.test('planning that comes to nothing', async (t) => {
  const cases: [name: string, spec: CommandSpec, message: string | RegExp][] = [
    ['no plan', script('echo'), 'mine ended without a plan, and said nothing. Try again'],
    [
      'an exit code',
      script('echo P; echo "cannot\n  log in." >&2; exit 3'),
      'mine exited with 3: cannot log in',
    ],
    [
      'nothing but an error',
      script('echo "Error: no key"'),
      /^mine ended .* It said: "Error: no key"/,
    ],
    ['a signal', script('kill -9 $$'), 'mine was ended by SIGKILL'],
    [
      'a program that is missing',
      script('', { plan: ['no-such-agent'] }),
      'no-such-agent was not found on the PATH of the service; casefile.md names it',
    ],
    [
      'a prompt that is too long for an argument',
      { ...script('', { prompt: 'argument' }), title: 'big' },
      'big could not be started (E2BIG): the prompt is too long for a command argument. Set prompt: stdin or prompt: file in casefile.md',
    ],
    [
      'too much to say',
      script('head -c 2000000 /dev/zero | tr "\\0" x'),
      'mine sent a message of more than 1 MiB, which is too long for a plan',
    ],
    [
      'no last event',
      script(`echo '{"type":"assistant","message":{"content":[{"type":"text","text":"P"}]}}'`, {
        stream: 'claude',
      }),
      'mine ended without saying that it succeeded',
    ],
    [
      'a failure with exit code 0',
      script(`echo '{"type":"result","status":"error","error":{"message":"no key"}}'; echo x >&2`, {
        stream: 'gemini',
      }),
      'mine failed: no key',
    ],
  ]
  for (const [name, spec, message] of cases) {
    t.test(name, async (t) => {
      const prompt = spec.title === 'big' ? 'x'.repeat(200_000) : 'P'
      const { plan, log } = recorded(t, spec, { prompt })
      await t.rejects(plan(), { name: 'RunnerFailure', message })
      if (log.length > 0) t.match(log.at(-1), /^finished/)
    })
  }

  t.test('a preset that is missing says how to get it', async (t) => {
    const { plan } = recorded(t, KNOWN_AGENTS[0]!, { env: { PATH: t.testdir() } })
    const message = /^claude was not found on the PATH of the service; install it with: npm /
    await t.rejects(plan(), { name: 'RunnerFailure', message })
  })
})

/** Prints lines of JSON, each as one word of a here-document. */
const prints = (...events: object[]) =>
  `cat <<'EOF'\n${events.map((event) => JSON.stringify(event)).join('\n')}\nEOF`
const calls = (id: string, name: string, input: object) => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
})
const success = (result: string, ...denials: object[]) => ({
  type: 'result',
  subtype: 'success',
  is_error: false,
  result,
  permission_denials: denials,
})
const denial = (tool_name: string, tool_use_id: string) => ({ tool_name, tool_use_id })

t.test('an agent that the service knows', async (t) => {
  const text = `case "$*" in *--version*) echo "2.1.328 (Claude Code)"; exit;; esac
echo "$*" > args; cat > prompt`

  t.test('is told of before it begins, then as it goes', async (t) => {
    const todos = [{ content: 'one', status: 'pending' }]
    const { spec, env } = fake(
      t,
      'claude',
      `${text}; ${prints(
        { type: 'system', subtype: 'init', session_id: ID },
        calls('1', 'Read', { file_path: 'a' }),
        calls('2', 'TodoWrite', { todos }),
        calls('3', 'TodoWrite', { todos }),
        calls('4', 'Write', { file_path: 'b' }),
        success('## Plan\nP', denial('Write', '4')),
      )}`,
    )
    const { plan, log, notes, root } = recorded(t, spec, { env, args: ['--model', 'opus'] })
    t.strictSame(await plan(), { hypothesis: '', plan: 'P' }, 'a denial is no failure of planning')
    t.strictSame(log, [
      'step plan-agent 5000',
      'agent_started',
      'agent_session',
      'process',
      'output',
      'tool_call in_progress',
      'agent_plan',
      'tool_call in_progress',
      'denied',
      'finished 0',
    ])
    t.match(notes.slice(0, 2), [
      {
        fields: {
          mode: 'plan',
          version: '2.1.328',
          plan_mode: 'It has only the tools Read, Grep and Glob.',
          command: ['claude', '-p', '--model', 'opus'],
        },
      },
      { fields: { agent_session: ID } },
    ])
    t.match(
      readFileSync(`${root}/project/args`, 'utf8'),
      / --permission-mode default --tools Read,Grep,Glob .* --session-id /,
    )
    t.equal(readFileSync(`${root}/project/prompt`, 'utf8'), 'Do it.\n')
  })

  t.test('is ended if it only asks its model again', async (t) => {
    const again = { type: 'system', subtype: 'api_retry', attempt: 1, error_status: 500 }
    const { spec, env } = fake(t, 'claude', `${text}; ${prints(again)}\nexec sleep 60`)
    const { plan, log } = recorded(t, spec, { env, retriesMs: 0 })
    await t.rejects(plan(), {
      name: 'RunnerFailure',
      message: /was ended: for 0 s it only retried/,
    })
    t.equal(log.at(-1), 'finished SIGTERM')
  })

  t.test('in Work mode a denial does not undo what ended well', async (t) => {
    const denials = [denial('Write', '1'), denial('Bash', '2'), denial('Bash', '3')]
    const { spec, env } = fake(t, 'claude', `${text}; ${prints(success('done', ...denials))}`)
    const { work } = recorded(t, spec, { env })
    t.strictSame(await work(), { ok: true })
  })

  t.test('in Work mode it is to succeed in both its words and its exit code', async (t) => {
    const cases: [name: string, script: string, result: object][] = [
      ['both', prints(success('done')), { ok: true }],
      ['only words', `${prints(success('done'))}\nexit 1`, { reason: 'Claude Code exited with 1' }],
      ['only its exit code', 'true', { reason: /^Claude Code ended without saying/ }],
      [
        'neither',
        'echo sorry >&2; exit 2',
        { reason: /^Claude Code exited with 2 and ended without saying .*: sorry$/ },
      ],
      [
        'all of it',
        `${prints({ ...success('x', denial('Bash', '1')), is_error: true })}\nexit 2`,
        { reason: 'Claude Code failed: x, and was denied one of its actions: Bash' },
      ],
    ]
    for (const [name, script, result] of cases) {
      t.test(name, async (t) => {
        const { spec, env } = fake(t, 'claude', script)
        t.match(await recorded(t, spec, { env }).work(), result)
      })
    }
  })

  t.test('kept from leaving plan mode, it has planned', async (t) => {
    const { spec, env } = fake(
      t,
      'claude',
      `${prints(calls('1', 'ExitPlanMode', { plan: '## Plan\nP' }), {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        permission_denials: [denial('ExitPlanMode', '1')],
      })}\nexit 1`,
    )
    t.match(await recorded(t, spec, { env }).plan(), { plan: 'P' })
  })

  t.test('has our settings before those of the user, and these before our defaults', async (t) => {
    const print = 'echo "{\\"type\\":\\"$COPILOT_ALLOW_ALL $TOKEN\\"}"; exit 3'
    const { spec, env } = fake(t, 'copilot', print)
    const { work, said } = recorded(t, spec, {
      env: { ...env, COPILOT_ALLOW_ALL: 'true', TOKEN: 'k' },
    })
    await work()
    t.match(said.raw, '"false k"')
    const opencode = fake(
      t,
      'opencode',
      'echo "$OPENCODE_CONFIG_CONTENT$OPENCODE_PERMISSION"; exit 3',
    )
    const mine = { ...opencode.env, OPENCODE_CONFIG_CONTENT: 'mine', OPENCODE_PERMISSION: 'mine' }
    const planning = recorded(t, opencode.spec, { env: mine })
    await t.rejects(planning.plan())
    t.match(planning.said.raw, /^mine\{"\*":"deny"/)
  })

  t.test('reads its policy from a file of ours', async (t) => {
    const { spec, env } = fake(
      t,
      'gemini',
      `test "$1" = --version || { cp "$5" policy; ${prints(
        { type: 'message', role: 'assistant', content: '## Plan\nP' },
        { type: 'result', status: 'success' },
      )}
}`,
    )
    const { plan, root } = recorded(t, spec, { env })
    t.match(await plan(), { plan: 'P' })
    t.match(readFileSync(`${root}/project/policy`, 'utf8'), /toolName = "\*"\ndecision = "deny"/)
  })
})

t.test('a revision goes back to the conversation', async (t) => {
  const body = (known: string) => `case "$*" in *--version*) exit;; esac
echo "$*" >> ../runs; cat > /dev/null
case "$*" in *"--resume ${known}"*|*--session-id*) ;; *) echo "No conversation found" >&2; exit 1;; esac
${prints({ type: 'system', subtype: 'init', session_id: 'old' }, success('## Plan\nP'))}`
  const ways = (root: string) =>
    [...readFileSync(`${root}/runs`, 'utf8').matchAll(/--(resume|session-id) (\S+)/g)].map(
      ([, way, id]) => `${way} ${id}`,
    )

  t.test('that it knows', async (t) => {
    const { spec, env } = fake(t, 'claude', body('old'))
    const { plan, root, notes } = recorded(t, spec, { env, resume: 'old' })
    t.match(await plan(), { plan: 'P' })
    t.strictSame(ways(root), ['resume old'])
    t.match(notes.slice(1), [{ event: 'agent_session', fields: { agent_session: 'old' } }])
    t.equal(notes.length, 2)
  })

  t.test('or else begins a new one', async (t) => {
    const { spec, env } = fake(t, 'claude', body('other'))
    const { plan, root, log } = recorded(t, spec, { env, resume: 'old' })
    t.match(await plan(), { plan: 'P' })
    t.strictSame(ways(root), ['resume old', `session-id ${ID}`])
    t.equal(log.filter((line) => line.startsWith('step')).length, 2)
  })

  t.test('which uses nothing that the first attempt had in its hands', async (t) => {
    const { spec, env } = fake(
      t,
      'gemini',
      `case "$*" in *--version*) exit;; *--resume*) rm -r ../files; ln -s work ../files; exit 1;; esac
cp "$5" policy; ${prints(
        { type: 'message', role: 'assistant', content: '## Plan\nP' },
        { type: 'result', status: 'success' },
      )}`,
    )
    const { plan, root, log } = recorded(t, spec, { env, resume: 'old' })
    t.match(await plan(), { plan: 'P' })
    const between = log.slice(log.indexOf('finished 1'), log.lastIndexOf('agent_started'))
    t.strictSame(between, ['finished 1', 'restartFresh', 'step plan-agent 5000'])
    t.match(readFileSync(`${root}/project/policy`, 'utf8'), 'read_file')
    t.notOk(existsSync(`${root}/project/policy.toml`), 'nothing was written through the link')
  })
})

t.test('nothing hangs', inLongLane, async (t) => {
  t.test('work in which it says and does nothing', async (t) => {
    const nothing = fake(t, 'claude', prints(success('')))
    const silent = recorded(t, nothing.spec, { env: nothing.env })
    const reason = 'Claude Code ended without saying or doing anything'
    t.strictSame(await silent.work(), { ok: false, reason })
    t.match(silent.said.stdout, `[${reason}]`)
    writeFileSync(
      `${silent.root}/claude`,
      `#!/bin/sh\n${prints(calls('1', 'Edit', {}), success(''))}\n`,
    )
    t.strictSame(await silent.work(), { ok: true }, 'it need not say anything')
    t.strictSame(
      await recorded(t, script('true')).work(),
      { ok: true },
      'of others nothing is known',
    )
  })

  t.test('a note that cannot be written ends the agent, and is the failure', async (t) => {
    const text = `test "$1" = --version && exit; ${prints(calls('1', 'Read', {}))}\nsleep 60`
    const { spec, env } = fake(t, 'claude', text)
    const { plan } = recorded(t, spec, {
      env,
      async note({ event }) {
        if (event === 'tool_call') throw new Error('disk full')
      },
    })
    const began = performance.now()
    await t.rejects(plan(), { message: 'disk full' })
    t.ok(performance.now() - began < 10_000)
  })
})

t.test('the presets', async (t) => {
  t.strictSame(
    ['plain', ...KNOWN_AGENTS.map(({ id }) => id)].sort(),
    [...STREAMS].sort(),
    'each has its own output format',
  )
  const values = {
    prompt: 'P',
    prompt_file: 'F',
    id: ID,
    session: 'old',
    folder: '/f',
    untrusted_projects: '"/w"',
  }
  for (const { id, program, plan, resume, work } of KNOWN_AGENTS) {
    t.test(id, async (t) => {
      for (const line of [plan, resume, work]) {
        const words = wordsOf(line!, values, ['--model', 'x y'])
        t.equal(words[0], program)
        t.equal(words.filter((word) => word === 'x y').length, 1, 'the words of the user are in it')
        t.notMatch(words.join(' '), /[{}]/, 'everything is filled in')
        t.equal(line!.prompt, 'stdin', 'no prompt shows in ps')
        t.notMatch(words.join(' '), /yolo|bypass|dangerous|allow-all|full-access/i)
      }
      t.match(wordsOf(resume!, values, []).join(' '), /\bold\b/)
    })
  }
})

t.test('an agent gets the variables of its own login and model', async (t) => {
  const service = {
    ANTHROPIC_API_KEY: 'a',
    CLAUDE_CODE_OAUTH_TOKEN: 'b',
    HTTPS_PROXY: 'c',

    AWS_SECRET_ACCESS_KEY: 'd',
    AZURE_CLIENT_SECRET: 'e',
    GOOGLE_CLOUD_PROJECT: 'f',

    CLAUDE_CODE_ENTRYPOINT: 'g',
    OPENAI_API_KEY: 'h',
  }
  const own = ['ANTHROPIC_API_KEY', 'CLAUDE_CODE_OAUTH_TOKEN', 'HTTPS_PROXY']
  const cases: [cloud: string, value: string, more: string[]][] = [
    ['CLAUDE_CODE_USE_BEDROCK', '1', ['AWS_SECRET_ACCESS_KEY']],
    ['CLAUDE_CODE_USE_BEDROCK', '0', []],
    ['CLAUDE_CODE_USE_BEDROCK', '', []],
    ['CLAUDE_CODE_USE_VERTEX', 'true', ['GOOGLE_CLOUD_PROJECT']],
    ['CLAUDE_CODE_USE_VERTEX', ' Off ', []],
    ['CLAUDE_CODE_USE_FOUNDRY', 'FALSE', []],
    ['CLAUDE_CODE_USE_FOUNDRY', '1', ['AZURE_CLIENT_SECRET']],
    ['CLAUDE_CODE_USE_SOMETHING', '1', []],
  ]
  for (const [cloud, value, more] of cases) {
    const isClaudes = agentVariables(claude.env, { ...service, [cloud]: value })
    t.strictSame(Object.keys(service).filter(isClaudes), [...own, ...more].sort(byPlace), cloud)
  }
  function byPlace(a: string, b: string) {
    const names = Object.keys(service)
    return names.indexOf(a) - names.indexOf(b)
  }
})

t.test(
  'what Codex recorded of this run alone is reported, however hostile the record',
  async (t) => {
    const prints = (event: object) => `echo '${JSON.stringify(event)}'`
    const said = [
      { type: 'thread.started', thread_id: ID },
      { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } },
      { type: 'turn.completed' },
    ]
    const codex = fake(t, 'codex', ['cat > /dev/null', ...said.map(prints)].join('\n'))
    const home = `${t.testdirName}/home`
    const day = `${home}/sessions/2026/11/24`
    const file = `${day}/rollout-2026-11-24T00-00-00-${ID}.jsonl`
    mkdirSync(day, { recursive: true })
    const env = { ...codex.env, CODEX_HOME: home }
    const refusedAt = (timestamp: string, call_id: string) => {
      const call = { type: 'function_call', name: 'exec_command', call_id }
      const output = { type: 'function_call_output', call_id, output: 'patch rejected: no' }
      return [{ ...call, arguments: JSON.stringify({ cmd: `touch ${call_id}` }) }, output]
        .map((payload) => `${JSON.stringify({ timestamp, type: 'response_item', payload })}\n`)
        .join('')
    }
    const [before, later] = ['2020-01-01T00:00:00Z', new Date(Date.now() + 60_000).toISOString()]
    const run = async () => {
      const { work, notes, said } = recorded(t, codex.spec, { env })
      t.strictSame(await work(), { ok: true })
      const denied = notes.flatMap(({ event, fields }) =>
        event === 'denied' ? [fields.title] : [],
      )
      return { denied, text: said.stdout }
    }

    const other = `${home}/sessions/2026/11/25/rollout-2026-11-25T00-00-00-other-conversation.jsonl`
    mkdirSync(dirname(other), { recursive: true })
    writeFileSync(other, refusedAt(later, 'elsewhere'))
    writeFileSync(file, refusedAt(before, 'earlier') + refusedAt(later, 'now') + '{"timestamp":"20')
    const { denied, text } = await run()
    t.strictSame(denied, ['touch now'])
    t.match(text, /did not report these.*\]\n→ shell touch now\n {2}denied: patch rejected: no\n/)

    const strange = [
      'null',
      '[]',
      '{"payload":7}',
      '{"payload":{"type":"function_call","call_id":"a"}}',
    ]
    const call = { type: 'function_call', name: 'exec_command', call_id: 'b', arguments: '[7' }
    const lines = [call, { type: 'function_call_output', call_id: 'b', output: { content: 7 } }]
    const odd = lines.map((payload) => JSON.stringify({ timestamp: later, payload }))
    writeFileSync(file, [...strange, ...odd, '\0\0'].join('\n'))
    t.strictSame((await run()).denied, [])

    truncateSync(file, 10 ** 12)
    t.match((await run()).text, 'too large to read')
  },
)
