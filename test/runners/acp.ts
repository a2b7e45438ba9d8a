import { existsSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t, { type Test } from 'tap'
import { processStat } from '../../src/platform/processes.ts'
import { acpRunner } from '../../src/runners/acp/acp.ts'
import { openSession } from '../../src/runners/acp/acp-session.ts'
import { type AcpSpec, acpSpec } from '../../src/runners/acp/acp-spec.ts'
import { outsideReason, temporaryFolders } from '../../src/runners/acp/allowed-paths.ts'
import type { AgentConnection } from '../../src/runners/acp/connection.ts'
import { tryHandshake } from '../../src/runners/acp/handshake.ts'
import { toPlanMode, watchMode } from '../../src/runners/acp/mode-setting.ts'
import { isUnbounded, planModeOf, workModeOf } from '../../src/runners/acp/modes.ts'
import { workPolicy } from '../../src/runners/acp/permission.ts'
import { readToolCall } from '../../src/runners/acp/tool-call.ts'
import type { AgentRun } from '../../src/runners/contract.ts'
import { noSandbox } from '../../src/runners/enclosure/sandbox.ts'
import { TIME_LIMITS } from '../../src/runners/time-limits.ts'
import { bundledAcpAgent } from '../fixtures/agents/bundled-acp-agent.ts'
import { type RunRecorder, recordRun } from '../fixtures/agents/run-recorder.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { CASE } from '../fixtures/records.ts'
import { SHORT_LIMITS } from '../fixtures/short-limits.ts'

const AGENT = bundledAcpAgent()
/** Agents that run side by side. */
const SIDE_BY_SIDE = 3
const beside = { buffered: true }
const ENV = { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: tmpdir() }
const PLAN = { hypothesis: 'The limit is too low.', plan: '1. Raise the limit.' }
const FAKE = { title: 'fake', resume: null, limits: TIME_LIMITS }
const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }

interface Named {
  planMode?: string
  workMode?: string
}

function fake(variant: string, detail = '', { planMode, workMode }: Named = {}): AcpSpec {
  return acpSpec('fake', {
    command: [process.execPath, AGENT, variant, detail],
    planMode: planMode ?? null,
    workMode: workMode ?? null,
  })
}

interface Scene {
  spec?: ReturnType<typeof fake>
  run?: Partial<AgentRun>
  signal?: AbortSignal
}

function scene(t: Test, variant: string, { spec = fake(variant), run, signal }: Scene = {}) {
  const folder = realpathSync(t.testdir({ work: { memory: {}, 'app.js': '' }, elsewhere: {} }))
  const workdir = `${folder}/work`
  const report = recordRun()
  const agent: AgentRun = {
    prompt: 'Plan it.',
    newId: 'unused',
    resume: null,
    env: { ...ENV },
    folder: workdir,
    sandbox: noSandbox(),
    limits: SHORT_LIMITS,
    closed: [`${workdir}/memory`],
    report,
    ...run,
  }
  const shared = { workdir, agent, signal: signal ?? new AbortController().signal }
  const runner = acpRunner(spec)
  return {
    workdir,
    report,
    plan: () => runner.plan({ ...shared, case: CASE, memory: new Map(), steps: [] }),
    execute: () =>
      runner.execute({
        ...shared,
        plan: '1. Do it.',
        env: {},
        stepTimeoutMs: 60_000,
        limits: SHORT_LIMITS,

        sandbox: noSandbox(),
        report,
      }),
  }
}

function answers({ said }: RunRecorder): Record<string, string> {
  return Object.fromEntries(
    [...said.stdout.matchAll(/<([\w./-]+): ([\w-]+)>/g)].map(([, id, answer]) => [id, answer]),
  )
}

const eventsOf = ({ events }: RunRecorder) => events.join(' ')

t.test('an agent that behaves plans and works', async (t) => {
  const planning = scene(t, 'plain')
  t.strictSame(await planning.plan(), PLAN)
  t.equal(
    eventsOf(planning.report),
    'started plan-agent process agent_started agent_session tool_call finished',
    'the id of its session is told before it gets its prompt',
  )
  t.match(planning.report.notes, [
    {
      event: 'agent_started',
      fields: {
        mode: 'plan',
        version: '0.99.1',
        plan_mode: 'set by session/set_mode to plan, read back',
      },
    },
    { event: 'agent_session', fields: { agent_session: 'session-1' } },
    { event: 'tool_call', fields: { tool: 'read', kind: 'read', title: 'Read app.js' } },
  ])
  t.match(planning.report.outcome, { exit: 0, signal: null, timedOut: false })

  const working = scene(t, 'plain')
  t.strictSame(await working.execute(), { ok: true })
  t.ok(existsSync(`${working.workdir}/new.txt`))
  t.equal(
    eventsOf(working.report),
    'started agent process agent_started agent_session tool_call tool_call finished',
    'a tool call is told when it is first seen, and when it has ended',
  )
})

t.test('the plan mode is set and read back, or there is no planning', async (t) => {
  t.jobs = SIDE_BY_SIDE
  const confirmed: [variant: string, how: string, named?: Named][] = [
    ['options-grouped', 'set by config option `m1` to plan, read back'],
  ]
  for (const [variant, plan_mode, named] of confirmed) {
    t.test(variant, beside, async (t) => {
      const { plan, report } = scene(t, variant, { spec: fake(variant, '', named) })
      t.strictSame(await plan(), PLAN)
      t.match(report.notes[0], { fields: { plan_mode } })
    })
  }
  const refused: [variant: string, reason: RegExp, named?: Named][] = [
    ['modeless', /no plan mode that can be confirmed \(it offers: no modes\), so it may not plan/],
    ['plain', /it offers: code, plan, and casefile.md names draft\)/, { planMode: 'draft' }],
    ['options-lie', /no plan mode that can be confirmed/],
  ]
  for (const [variant, reason, named] of refused) {
    t.test(`refused: ${variant}`, beside, async (t) => {
      const { plan, report } = scene(t, variant, { spec: fake(variant, '', named) })
      await t.rejects(plan(), { name: 'RunnerFailure', message: reason })
      const events = eventsOf(report).replace(' agent_usage', '') // what it says of its model
      t.equal(events, 'started plan-agent process finished', 'it never got its prompt')
    })
  }
  const message = 'fake switched from mode plan to code, so it was stopped'
  t.test('an agent that leaves it while it plans is stopped', beside, async (t) => {
    const { plan } = scene(t, 'leaves')
    await t.rejects(plan(), { message })
  })
  t.test('one that leaves it right behind its answer is stopped', beside, async (t) => {
    await t.rejects(scene(t, 'leaves-behind').plan(), { name: 'RunnerFailure', message })
  })
  t.test('what it told before it was asked does not count', beside, async (t) => {
    t.strictSame(await scene(t, 'tells-before').plan(), PLAN)
  })
})

t.test('modes are chosen with care', async (t) => {
  const offer = (ids: string[], current = ids[0] ?? null) => ({
    option: null,
    hasModes: true,
    current,
    modes: ids.map((id) => ({ id, name: id })),
  })
  const planning: [ids: string[], mode: string | null][] = [
    [['ask', 'plan', 'code'], 'plan'],
    [['code', 'planMode'], 'planMode'],
    [['code', 'Read only'], 'Read only'],
    [['code', 'architect'], 'architect'],
    [['https://x.org/plan#agent', 'https://x.org/plan#ask'], 'https://x.org/plan#ask'],
    [['auto-accept-plan', 'ask-before-edits', 'explain', 'planet'], null],
  ]
  for (const [ids, mode] of planning) t.equal(planModeOf(offer(ids), null), mode, ids.join())
  t.equal(planModeOf(offer(['x', 'plan']), 'x'), 'x', 'as named')
  t.equal(planModeOf(offer(['x', 'plan']), 'y'), null, 'or none')

  const none = { named: null, plan: 'plan' }
  t.strictSame(workModeOf(offer(['code', 'plan']), none), { is: 'code' })
  t.strictSame(workModeOf(offer(['auto', 'plan', 'code']), none), { set: 'code' })
  t.strictSame(workModeOf(offer(['acceptEdits', 'plan']), none), { is: 'acceptEdits' })
  t.equal(workModeOf(offer(['auto', 'plan', 'dontAsk']), none), 'none')
  t.strictSame(workModeOf(offer(['plan', 'yolo', 'code']), none), { set: 'code' })
  t.strictSame(workModeOf(offer(['bypassPermissions', 'plan', 'code']), none), { set: 'code' })
  t.equal(workModeOf(offer(['plan', 'full-access']), none), 'none')
  t.strictSame(workModeOf(offer(['code', 'yolo']), { ...none, named: 'yolo' }), { set: 'yolo' })
})

t.test('modes that ask no person', async (t) => {
  const unbounded = [
    'auto',
    'Auto review',
    'https://x.org/modes#auto',
    'bypassPermissions',
    'yolo',
    'agent-full-access',
    'dontAsk',
    "Don't Ask",
    'Autopilot',
  ]
  for (const name of unbounded) t.ok(isUnbounded(name), name)
  const bounded = ['default', 'acceptEdits', 'Auto-accept edits', 'autoEdit', 'Auto Edit', 'agent']
  for (const name of [...bounded, 'workspace-write', 'build']) t.notOk(isUnbounded(name), name)
})

t.test('it works in a mode in which it asks, and stays in it', async (t) => {
  t.jobs = SIDE_BY_SIDE
  const cases: [variant: string, detail: string, mode: string | RegExp, named?: Named][] = [
    ['auto', 'default', 'default'],
    [
      'auto',
      '',
      /has no mode in which it asks before it acts \(it offers: auto, plan\); work_mode/,
    ],
    [
      'leaves-at-once',
      '',
      /switched from mode later to code, so it was stopped/,
      { workMode: 'later' },
    ],
  ]
  for (const [variant, detail, mode, named] of cases) {
    t.test(`${variant} ${detail} ${named?.workMode ?? ''}`, beside, async (t) => {
      const offered = named?.workMode === 'later' ? 'later' : detail
      const { execute, report } = scene(t, variant, { spec: fake(variant, offered, named) })
      const result = await execute()
      if (typeof mode === 'string') {
        t.strictSame(result, { ok: true })
        t.match(report.notes[0], { fields: { mode: 'work', work_mode: mode } })
      } else t.match(result, { ok: false, reason: mode })
    })
  }
})

t.test('a turn that only said an error is no success', async (t) => {
  const spec = fake('says', 'Error: it broke')
  t.strictSame(await scene(t, 'says', { spec }).execute(), {
    ok: false,
    reason: 'fake failed: it broke',
  })
  const quoted = 'Error: 400 is what users see.\n\n## Plan\n\n1. Raise the limit.'
  const planned = await scene(t, 'says', { spec: fake('says', quoted) }).plan()
  t.match(planned, { plan: '1. Raise the limit.' }, 'a plan that quotes one is a plan')
})

t.test('words that are no plan', async (t) => {
  const cases: [said: string, reason: string][] = [
    ['I am not able to do that.', 'It said: "I am not able to do that". Try again'],
    ['<!-- casefile:plan -->\n## Plan\n\n1. Raise the li', 'in the middle of its plan'],
  ]
  for (const [said, reason] of cases) {
    const { plan, report } = scene(t, 'says', { spec: fake('says', said) })
    await t.rejects(plan(), { name: 'RunnerFailure', message: new RegExp(reason) })
    t.ok(report.said.stdout.includes(said), 'what it said is in the output')
  }
  t.test('a notice of the agent itself is none', async (t) => {
    const { plan, report } = scene(t, 'notices')
    t.strictSame(await plan(), { hypothesis: '', plan: '1. Raise the limit.' })
    t.match(report.said.stdout, 'Model metadata not found.')
  })
})

t.test('a plan that its tool hands in without a question', async (t) => {
  t.strictSame(await scene(t, 'hands-in').plan(), PLAN)
})

t.test(
  'one that never exits by itself is ended after its turn, and that is no failure',
  async (t) => {
    const { plan, report } = scene(t, 'stays')
    t.strictSame(await plan(), PLAN)
    t.match(report.outcome, { exit: 0, signal: null, endedByService: true })
  },
)

t.test('while planning it may read, once, and nothing else', async (t) => {
  const { plan, report } = scene(t, 'asks')
  t.strictSame(await plan(), PLAN, 'a denial is no failure of planning')
  const allowed = { read: 'yes', search: 'yes', think: 'yes' }
  const rejected = {
    fetch: 'no',
    edit: 'no',
    execute: 'no',
    other: 'no',
    kindless: 'no',
    shell: 'no',
  }
  t.strictSame(answers(report), { ...allowed, ...rejected, always: 'cancelled' })
  const denied = report.notes.filter(({ event }) => event === 'denied')
  t.equal(denied.length, 7)
  t.match(denied[0], {
    fields: { tool: 'fetch', reason: 'while planning it may only read, not the kind fetch' },
  })
})

t.test('the wish to begin is not granted, and brings its plan', async (t) => {
  const { plan, report, workdir } = scene(t, 'switches')
  t.strictSame(await plan(), { ...PLAN, plan: `${PLAN.plan}\n2. Test it.` })
  t.notOk(existsSync(`${workdir}/began.txt`), 'with a bypass offered first')
  t.equal(report.notes.filter(({ event }) => event === 'denied').length, 0)
})

t.test('what it tells comes in order, and only what is new', async (t) => {
  const { plan, report } = scene(t, 'items')
  t.strictSame(await plan(), PLAN)
  const entry = { content: 'Look', status: 'pending' }
  t.strictSame(report.notes.slice(2), [
    { event: 'agent_plan', fields: { entries: [entry] } },
    { event: 'agent_plan', fields: { entries: [{ ...entry, status: 'completed' }] } },
    { event: 'tool_call', fields: { tool: 'tool', status: 'completed' } },
  ])
  t.match(report.said.stdout, 'an update of unknown kind: something_new')
})

t.test('a person is shown what it says and does', async (t) => {
  const { plan, report } = scene(t, 'words')
  await plan()
  t.equal(
    report.said.stdout,
    `First I raise the limit.

→ Edit app.js
  ok: The file app.js has been updated.

Then I test it.

→ execute bash: npm test
  failed: one two failed
→ execute sh: seq 2
  ok: 2 lines, the last: 2
to do: [x] one, [>] two

I looked.

## Hypothesis

The limit is too low.

## Plan

1. Raise the limit.

[fake ended its turn]
`,
  )
  t.equal(report.said.stderr, '')
  const calls = report.notes.flatMap(({ event, fields }) =>
    event === 'tool_call' ? [`${fields.title?.replace(/\/\S*\//, '')} ${fields.status}`] : [],
  )
  t.strictSame(calls, [
    'Edit app.js pending',
    'Edit app.js completed',
    'bash: npm test in_progress',
    'bash: npm test failed',
    'sh: seq 2 pending',
    'sh: seq 2 completed',
  ])
  t.ok(report.notes.some(({ event }) => event === 'agent_plan'))
  const sent = report.sent.trim().split('\n')
  t.doesNotThrow(() => sent.map((line) => JSON.parse(line)), 'the raw stream is lines of JSON')
  t.match(report.sent, '_auth/status_update')
})

t.test('what is of another session does not count', async (t) => {
  const { plan, report } = scene(t, 'two-sessions')
  t.strictSame(await plan(), PLAN)
  t.equal(eventsOf(report), 'started plan-agent process agent_started agent_session finished')
  t.match(answers(report), { foreign: 'cancelled' })
  t.notMatch(report.said.stdout, 'Of another')
  t.equal(
    report.said.stdout.match(/messages of another session: session-10/g)?.length,
    1,
    'told once',
  )
})

t.test('the limits of a run that nobody shortens', async (t) => {
  t.strictSame(TIME_LIMITS, {
    terminate: 2_000,
    drain: 250,
    endRun: 1_500,
    endAbandoned: 500,
    endCrashed: 800,
    endPlanning: 20_000,
    recordEnd: 25_000,
    similarCases: 20_000,
    handEdit: 2_000,
    lateSave: 500,
    indexFile: 30_000,
    resume: 120_000,
    planHold: 60_000,
    initialize: 30_000,
    session: 60_000,
    mode: 30_000,
    modeReport: 5_000,
    cancel: 5_000,
    exit: 4_000,
  })
})

t.test('an answer has its own limit', async (t) => {
  const limits: [method: string, seconds: number][] = [
    ['initialize', 30],
    ['session/new', 60],
    ['session/set_mode', 30],
  ]
  for (const [silent, seconds] of limits) {
    t.test(silent, async (t) => {
      const waits: [ms: number, end: AbortController][] = []
      t.intercept(AbortSignal, 'timeout', {
        value: (ms: number) => {
          const end = new AbortController()
          waits.push([ms, end])
          return end.signal
        },
      })
      const modes = ['code', 'plan'].map((id) => ({ id, name: id }))
      const answers: Record<string, object> = {
        initialize: { protocolVersion: 1 },
        'session/new': { sessionId: 's', modes: { currentModeId: 'code', availableModes: modes } },
      }
      const link: AgentConnection = {
        async ask(method, _, signal) {
          if (method !== silent) return answers[method]
          const [ms, end] = waits.at(-1)!
          t.equal(ms, seconds * 1000)
          end.abort()
          throw signal.reason
        },
        notify: async () => {},
        end: async () => ({ exit: 0, signal: null }),
      }
      const { signal } = new AbortController()
      const opened = async () => {
        const session = await openSession(link, { ...FAKE, cwd: '/', signal })
        const watch = watchMode(() => {})
        await toPlanMode(
          { connection: link, limits: TIME_LIMITS, watch, ...session },
          fake('plain'),
          signal,
        )
      }
      const message = `fake did not answer ${silent} within ${seconds} s`
      await t.rejects(opened(), { name: 'RunnerFailure', message })
    })
  }
})

t.test('at work it may do what stays in the working folder', async (t) => {
  const spec = fake('outside', '../elsewhere/outside.txt')
  const { execute, report, workdir } = scene(t, 'outside', { spec })
  symlinkSync('../elsewhere', `${workdir}/link`)
  t.strictSame(await execute(), { ok: true }, 'what it was refused does not undo the rest')
  const denied = report.notes.filter(({ event }) => event === 'denied')
  t.equal(denied.length, 7)
  for (const { fields } of denied.slice(0, 5)) {
    t.match(fields, { title: /[/]|memory|npm test/ }, 'it names the path or the command')
  }
  t.strictSame(answers(report), {
    'write-inside.txt': 'yes',
    'write-outside.txt': 'no',
    'write-link.txt': 'no',

    'write-memory.md': 'no',

    'run-here': 'yes',
    'run-there': 'no',
    'run-memory': 'no',
    pathless: 'no',
    switch: 'no',
  })
})

t.test('a turn that ends with a refusal is not done, one that goes on without it is', async (t) => {
  const goesOn = scene(t, 'goes-on', { spec: fake('refused') })
  t.strictSame(await goesOn.execute(), { ok: true })
  const stops = scene(t, 'stops', { spec: fake('refused', 'stops') })
  t.match(await stops.execute(), { ok: false, reason: /ended its turn when .*x\.txt was denied/ })
})

const NO_SCOPE = { paths: null, commands: null }

t.test('what a call names is inside, or is not', async (t) => {
  const top = realpathSync(t.testdir({ work: { memory: {}, sub: {} }, workshop: {} }))
  const workdir = `${top}/work`
  symlinkSync('../workshop', `${workdir}/away`)
  const closed = [`${workdir}/memory`]
  const ground = { workdir, closed, temporary: [], scratch: `${top}/scratch`, scope: NO_SCOPE }
  const why = (fields: object) =>
    outsideReason(readToolCall({ toolCallId: 'x', ...fields }), ground)
  const inside: object[] = [
    { locations: [{ path: `${top}/scratch/x` }] },
    { locations: [{ path: workdir }, { path: 'sub/new/file' }] },
    { rawInput: { file_path: 'sub/../a', cwd: '.' } },
    {
      rawInput: { uri: `file://${workdir}/a`, content: '/etc/passwd', url: 'https://example.org' },
    },
    { rawInput: { command: 'git commit -am "memory of things" && npm test', workdir: 'sub' } },
  ]
  for (const fields of inside) t.equal(await why(fields), null, JSON.stringify(fields))
  const outside: object[] = [
    { locations: [{ path: `${top}/workshop/x` }] },
    { content: [{ type: 'diff', path: '/etc/hosts', newText: '' }] },
    { rawInput: { edits: [{ filePath: '~/x' }] } },
    { rawInput: { changes: { '/etc/hosts': { type: 'add' } } } },
    { rawInput: { paths: ['a', 'away/x'] } },
    { rawInput: { dirPath: '..' } },
    { rawInput: { path: 'a\0b' } },
    { rawInput: { path: 'sub/../memory/case.md' } },
    { rawInput: { command: 'cd sub; rm -rf memory' } },
    { rawInput: { command: 'rm -rf ./memory' } },
    { rawInput: { command: "python3 -c \"open('memory/case.md', 'w')\"" } },
    { rawInput: { command: ['sh', '-c', `echo x>${workdir}/memory/case.md`] } },
    { rawInput: { a: { b: { c: { d: { e: { f: { path: 'x' } } } } } } } },
  ]
  for (const fields of outside) t.type(await why(fields), 'string', JSON.stringify(fields))
  const home = process.env.HOME
  process.env.HOME = workdir
  t.equal(await why({ rawInput: { path: '~/a' } }), null)
  t.match(await why({ rawInput: { path: '~root/a' } }), /cannot be resolved/, 'of another user')
  process.env.HOME = home
  const beside = { ...ground, scratch: `${top}/works` }
  const besideReason = outsideReason(
    readToolCall({ toolCallId: 'x', rawInput: { path: `${top}/workshop/x` } }),
    beside,
  )
  t.match(await besideReason, /outside/, 'a folder whose name begins like the scratch folder')
  const switching = { toolCallId: 'x', kind: 'switch_mode', locations: [{ path: workdir }] }
  t.match(await workPolicy(readToolCall(switching), ground), {
    is: 'denied',
    reason: /its own mode/,
  })
})

t.test('lists of things to do and servers of the user are allowed', async (t) => {
  const ground = {
    workdir: realpathSync(t.testdir()),
    closed: [],
    temporary: [],
    scratch: null,
    scope: NO_SCOPE,
  }
  const judged = async (fields: object) =>
    (await workPolicy(readToolCall({ toolCallId: 'x', kind: 'other', ...fields }), ground)).is
  const todos = [{ content: 'Raise it', status: 'pending' }]
  const allowed: object[] = [
    { name: 'write_todos', title: 'Set 2 todo(s)' },
    { rawInput: { todos } },
    { name: 'mcp__casefile__append_memory', rawInput: { case: 'A case', text: 'x' } },
    { name: 'mcp_casefile_append_memory' },
  ]
  for (const fields of allowed) t.equal(await judged(fields), 'allowed', JSON.stringify(fields))
  const denied: object[] = [
    { title: 'Set 2 todo(s)' },
    { title: 'write_todos' },
    { rawInput: { todos, command: 'touch /etc/x' } },
    { rawInput: { todos: [{ path: '/etc/x', status: 'pending', content: 'x' }] } },
    { rawInput: { todos: ['text'] } },
    { rawInput: { todos, more: [] } },
    { name: 'mcp__files__write', rawInput: { path: '/etc/x' } },
    { name: 'my_mcp_tool', rawInput: { text: 'x' } },
    { name: 'mcp___x', rawInput: { text: 'x' } },
  ]
  for (const fields of denied) t.equal(await judged(fields), 'denied', JSON.stringify(fields))
})

t.test('a call outside the scope of the plan is denied', async (t) => {
  const workdir = realpathSync(t.testdir({ src: {}, test: {} }))
  symlinkSync('../test', `${workdir}/src/away`)
  const at = (scope: { paths: string[] | null; commands: string[] | null }) => {
    const ground = { workdir, closed: [], temporary: [], scratch: null, scope }
    return async (fields: object) => {
      const judged = await workPolicy(readToolCall({ toolCallId: 'x', ...fields }), ground)
      return judged.is === 'denied' ? judged.reason : judged.is
    }
  }
  const paths = at({ paths: ['src/**'], commands: null })
  const edit = (path: string, kind = 'edit') => ({ kind, locations: [{ path }] })
  t.equal(await paths(edit('src/a.ts')), 'allowed')
  t.equal(await paths(edit(`${workdir}/src/a.ts`)), 'allowed')
  t.equal(await paths(edit('test/a.ts', 'read')), 'allowed', 'it may read everything')
  t.match(
    await paths(edit('test/a.ts')),
    /^test\/a.ts is outside the scope of the plan \(paths: src/,
  )
  t.match(await paths(edit('src/away/a.ts')), /outside the scope/, 'by a link')
  t.match(await paths(edit('package.json', 'delete')), /package.json is outside the scope/)
  t.match(await paths({ kind: 'other', rawInput: { path: 'x' } }), /outside the scope/)
  const run = (command: unknown, more = {}) => ({ kind: 'execute', rawInput: { command }, ...more })
  t.equal(await paths(run('rm x')), 'allowed', 'the evidence will show it')
  t.match(await paths(run('echo > test/x')), /^it writes test\/x, which is outside the scope/)

  const commands = at({ paths: null, commands: ['npm test'] })
  t.equal(
    await commands(run('npm test -- --x', { rawInput: { command: 'npm test', cwd: '.' } })),
    'allowed',
  )
  t.equal(await commands(run(['bash', '-lc', 'npm test'])), 'allowed')
  t.equal(await commands({ kind: 'execute', title: 'npm test' }), 'allowed')
  t.equal(await commands(edit('anything')), 'allowed')
  t.match(await commands(run('npm test && rm x')), /"rm x" is outside the scope of the plan/)
  t.match(await commands(run('rm x', { kind: 'read' })), /outside the scope/, 'as whatever kind')
  t.match(await commands({ kind: 'execute' }), /does not name its command/)
})

/** Between bars, or on lines of their own. */
const list = (text: string) => text.trim().split(/\n| ¦ /)

t.test('the words of a command are looked at', async (t) => {
  const top = realpathSync(t.testdir({ work: { '.git': {}, sub: {} }, elsewhere: {}, temp: {} }))
  const workdir = `${top}/work`
  symlinkSync('../elsewhere', `${workdir}/link`)
  const temporary = await temporaryFolders(`${top}/temp`)
  const places = temporary.filter((each) => each !== '/tmp')
  const ground = { workdir, closed: [], temporary: places, scratch: null, scope: NO_SCOPE }
  const why = (rawInput: unknown, more: object = {}) =>
    outsideReason(readToolCall({ toolCallId: 'x', kind: 'execute', rawInput, ...more }), ground)
  const inside: (string | string[])[] = [
    ...list(`
npm test ¦ git commit -m "Do what /etc/hosts says" ¦ cat ./sub/../a ¦ /usr/bin/env FOO=1 /bin/sh -c "npm test"
X=1 /bin/ls ¦ sudo -n /bin/ls && /bin/ls | /bin/cat ¦ make >/dev/null 2>&1 </dev/stdin ¦ x 2> /dev/tty
cat /dev/fd/3 ¦ x < a > b ¦ curl http://localhost:3000/api/users ¦ grep -rn "/no-such/route" sub
awk '/^from/,/to$/ { print $1 / 2 }' a ¦ git diff HEAD~1 a..b ¦ PATH=/usr/bin:$PATH make
cd sub && cat ../a && cd .. ¦ cd -P sub && cat ../a ¦ (cd sub && cat ../a); cat a ¦ cd sub; cd -; cat a
echo $(/bin/ls) "$(pwd)/a" $((4 / 2)) # not /etc/hosts ¦ node -e "1 / 2 // of it" ¦ echo don't ¦ " ¦ $( ¦ a 'b
bash -c " ¦ $PWD/a
`),
    `ls ${workdir}/sub`,
    `cp a ${top}/temp/b`,
    'cat > a.html <<\'EOF\'\n<a href="/etc">x</a> </etc>\nEOF\nls',
    '',
    ['bash', '-lc', 'npm test > out.txt'],
    ['/usr/bin/node', 'a.js', '--out=sub/x y'],
  ]
  for (const command of inside) t.equal(await why({ command }), null, JSON.stringify(command))
  const outside: (string | string[])[] = [
    ...list(`
rm -rf /etc/x ¦ rm -rf / ¦ echo x >> ~/.bashrc ¦ cat ~root/x ¦ ls $HOME ¦ echo x>/etc/x ¦ echo x 2>/etc/x
cat </etc/passwd ¦ >/etc/x ¦ x &> /etc/x ¦ dd of=/dev/sda ¦ touch /no-such-file ¦ rm '/etc/x' ¦ rm "/etc/x"
rm /et"c/x" ¦ rm $'/etc/x' ¦ a --out=/etc/x ¦ gcc -o/etc/x a.c ¦ curl -d @/etc/passwd x
curl file:///etc/passwd ¦ A=/etc/x b ¦ cat ../elsewhere/a ¦ rm -rf .. ¦ cat sub/../../a ¦ cd sub && cat ../../a
cd .. && ls ¦ cd && ls ¦ (cd sub); cat ../a ¦ (cd sub; ls); cat ../a ¦ cd sub && cd - && cat ../a
bash -c "rm -rf /etc/x" ¦ sh -ec 'npm test; cat ~/x' ¦ echo $(cat /etc/passwd) ¦ eval "rm /etc/x"
npm test && rm /etc/x ¦ (cd sub; rm /etc/x) ¦ if true; then rm /etc/x; fi ¦ echo x > link/x
echo x > .git/hooks/pre-commit
`),
    `ls "\${HOME}/a b"`,
    'rm \\/etc/x',
    'env sh -c "sh -c \'rm /etc/x\'"',
    'echo "`cat /etc/passwd`"',
    'find . -exec rm /etc/x \\;',
    'npm test\nrm /etc/x',
    'python3 -c "import os; os.remove(\'/etc/x\')"',
    "python3 <<EOF\nopen('/etc/x', 'w')\nEOF",
    'cat <<EOF | sh\nrm /etc/x\nEOF',
    `echo ${'a'.repeat(200_000)}`,
    `ls ${Array.from({ length: 501 }, (_, at) => `${workdir}/${at}`).join(' ')}`,
    ['bash', '-lc', 'cat /etc/passwd'],
    ['rm', '-rf', '/etc/x'],
    ['/bin/rm', '/etc/a b'],
  ]
  for (const command of outside) {
    t.type(await why({ command }), 'string', JSON.stringify(command).slice(0, 80))
  }
  t.type(await why({ command: 'rm', args: ['-rf', '/etc/x'] }), 'string', 'behind the program')
  t.type(await why({ argv: ['rm', '/etc/x'] }), 'string', 'by another name')
  t.type(await why(undefined, { title: 'rm -rf /etc/x' }), 'string', 'in the title alone')
  t.equal(await why({ command: 'ls' }, { title: 'Look, not at /etc/x' }), null)
  t.equal(await why({ command: 'cat ../a', cwd: 'sub' }), null, 'from where it runs')
  t.equal(
    await why({ command: 'rm -rf /etc/x' }),
    'it names /etc/x, which is outside the working folder',
  )

  for (const kind of ['edit', 'delete', 'move', 'other']) {
    for (const path of ['.git/hooks/pre-commit', `${workdir}/.GIT/config`, 'sub/x/.git/HEAD']) {
      t.match(await why({ path }, { kind }), /one of git's own files/, `${kind} ${path}`)
    }
  }
  t.equal(await why({ path: '.git/HEAD' }, { kind: 'read' }), null)
  t.equal(await why({ path: '.gitignore' }, { kind: 'edit' }), null)
  t.equal(await why({ command: 'git commit', cwd: '.' }), null)
  t.strictSame(await temporaryFolders('/'), [realpathSync('/tmp')], 'never all of it')
})

t.test('nothing is offered to it', async (t) => {
  const { plan, report } = scene(t, 'services')
  t.strictSame(await plan(), PLAN)
  t.strictSame(answers(report), {
    'fs/read_text_file': '-32601',
    'terminal/create': '-32601',

    'elicitation/create': '-32601',
    'x/y': '-32601',
  })
})

t.test('it does not speak as it should', async (t) => {
  t.jobs = SIDE_BY_SIDE
  const cases: [variant: string, detail: string, message: string | RegExp][] = [
    ['version', '', /speaks version 2 of the Agent Client Protocol, but casefile speaks version 1/],
    [
      'login',
      '',
      /refused session\/new: .* \(-32000\); log in first; it needs one of: Log in: Run `acp-agent login`/,
    ],
    ['dies', '', 'fake ended with exit code 3 before it answered session/prompt: out of luck'],
    ['floods', '', 'fake: it sent a line of more than 8 MiB'],
    ['silent', '', 'fake ended without a plan, and said nothing. Try again'],
    ['ends', 'refusal', 'fake refused to continue'],
    ['ends', 'max_tokens', /token limit/],
  ]
  for (const [variant, detail, message] of cases) {
    t.test(`${variant} ${detail}`, beside, async (t) => {
      if (isLong || detail === '' || detail === 'refusal') {
        const { plan, report } = scene(t, variant, { spec: fake(variant, detail) })
        await t.rejects(plan(), { name: 'RunnerFailure', message })
        t.equal(report.events.at(-1), 'finished')
      }
      if (variant !== 'silent' && detail === '') return
      const work = scene(t, variant, { spec: fake(variant, detail) })
      const nothing = 'fake ended without saying or doing anything'
      const reason = variant === 'silent' ? nothing : message
      t.match(await work.execute(), { ok: false, reason })
    })
  }
  t.test('a greeting before the first message', beside, async (t) => {
    const { plan, report } = scene(t, 'noise')
    t.strictSame(await plan(), PLAN)
    t.match(report.sent, 'Welcome to the agent!')
    t.notMatch(report.said.stdout, 'Welcome', 'what is no message is not for people')
  })
  t.test('a program that is not there', beside, async (t) => {
    const spec = { ...fake('plain'), program: 'no-such-agent' }
    const { plan, report } = scene(t, 'plain', { spec })
    const message = 'no-such-agent was not found on the PATH of the service'
    await t.rejects(plan(), { name: 'RunnerFailure', message })
    t.match(report.outcome, { startError: 'ENOENT' })
  })
})

t.test('it is stopped', inLongLane, async (t) => {
  t.test('before it has answered anything', async (t) => {
    const stop = new AbortController()
    const { plan, report } = scene(t, 'never', { signal: stop.signal })
    const planned = plan()
    report.note = async () => {}
    setImmediate(() => stop.abort())
    await t.rejects(planned, { message: 'fake was stopped' })
  })
  t.test('and what it asks then is answered with cancelled', async (t) => {
    const stop = new AbortController()
    const { execute, report } = scene(t, 'pending', { signal: stop.signal })
    const worked = execute()
    await report.saying('<ready>')
    stop.abort()
    await worked
    t.match(answers(report), { after: 'cancelled' })
  })
})

t.test('a line of the trail that cannot be written ends the run', async (t) => {
  const { plan, report } = scene(t, 'deaf')
  report.note = async () => {
    throw new Error('the disk is full')
  }
  await t.rejects(plan(), { message: 'the disk is full' })
  t.ok((report.outcome?.durationMs ?? 0) < 10_000)
  const items = scene(t, 'items')
  const { note } = items.report
  items.report.note = async (each) => {
    if (each.event === 'agent_plan') throw new Error('the disk is full')
    return note(each)
  }
  await t.rejects(items.plan(), { message: 'the disk is full' })
})

t.test('a child in the background ends with an agent that fails at once', linuxOnly, async (t) => {
  const args = ['-c', 'sleep 60 & echo "<child $!>" >&2; false']
  const { plan, report } = scene(t, 'plain', {
    spec: { ...fake('plain'), program: '/bin/sh', args },
  })
  await t.rejects(plan(), { name: 'RunnerFailure' })
  const child = Number(/<child (\d+)>/.exec(report.sent)?.[1])
  t.ok(child > 0)
  t.match(processStat(child)?.state ?? 'Z', 'Z')
})

t.test('a revision goes back to its conversation', async (t) => {
  const noOther = () => Promise.reject(new Error('the same process opens a new one'))
  for (const [variant, resume, expected] of [
    ['resumes', 'session-lost', 'session-1'],
    ['loads', 'session-0', 'session-0'],
  ] as const) {
    const { plan, report } = scene(t, variant, {
      run: { resume: { session: resume, restartFresh: noOther } },
    })
    t.strictSame(await plan(), PLAN)
    t.match(report.notes[1], { fields: { agent_session: expected } })
  }
})

t.test('a handshake tells what there is, and asks nothing', async (t) => {
  const cwd = t.testdir()
  const here = { env: ENV, cwd }
  const [version, modes] = ['0.99.1', ['code', 'plan']]
  t.strictSame(await tryHandshake(fake('plain'), here), {
    ok: true,
    version,
    modes,
    planMode: 'plan',
  })
  t.match(await tryHandshake(fake('login'), here), { ok: false, reason: /log in first/ })
  t.match(await tryHandshake({ ...fake('plain'), program: 'no-such-agent' }, here), {
    ok: false,
    reason: 'no-such-agent was not found on the PATH of the service',
  })
})
