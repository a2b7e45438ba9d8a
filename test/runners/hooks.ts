import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { dialectFor, HOOK_DIALECTS } from '../../src/runners/agents/hooks/dialects.ts'
import {
  type HookAnswer,
  type HookEvent,
  printedAnswer,
} from '../../src/runners/agents/hooks/hook-event.ts'
import { fromHome, transcriptMark } from '../../src/runners/agents/hooks/transcript.ts'

// as the agents of docs/agents.md sent them
const HOME = '/home/ada'
const WORK = `${HOME}/shop`
const CLAUDE = {
  session_id: '949b1c1e-6f0a-4b55-9d0f-0f6f4f4f2f11',
  transcript_path: `${HOME}/.claude/projects/-home-ada-shop/949b.jsonl`,
  cwd: WORK,
}
const GEMINI = {
  session_id: '0b7b',
  transcript_path: `${HOME}/.gemini/tmp/shop/chats/session-1.jsonl`,
  cwd: WORK,
  timestamp: '2026-11-26T15:20:00.000Z',
}
const COPILOT = { sessionId: '77aa', timestamp: 1_795_706_937_777, cwd: WORK }

async function read(
  agent: keyof typeof HOOK_DIALECTS,
  body: object,
  eventName: string | null = null,
) {
  return HOOK_DIALECTS[agent].read({ ...body }, { root: WORK, eventName })
}

type Call = [agent: keyof typeof HOOK_DIALECTS, tool: string, input: object, kind: string]

const CALLS: Call[] = [
  ['claude', 'Read', { file_path: `${WORK}/a` }, 'read'],
  ['claude', 'Write', { file_path: `${WORK}/a`, content: 'x' }, 'write'],
  ['claude', 'Write', { file_path: `${HOME}/.claude/plans/vast-sea.md` }, 'plan'],
  ['claude', 'Write', { file_path: `${HOME}/.claude/plans/../settings.md` }, 'write'],
  ['claude', 'mcp__files__move', { path: `${HOME}/.claude/plans/a.md`, to: 'a' }, 'write'],
  ['claude', 'mcp__github__create_issue', {}, 'write'],
  ['claude', 'mcp__other_casefile__propose_plan', {}, 'write'],
  ['claude', 'Write', { file_path: `${HOME}/.claude/plans-of-mine/a.md` }, 'write'],
  ['claude', 'ToolOfALaterVersion', {}, 'write'],
  ['codex', 'Bash', { command: 'ls' }, 'execute'],
  ['codex', 'apply_patch', { command: '*** Begin Patch' }, 'write'],
  ['codex', 'update_plan', {}, 'other'],
  ['codex', 'mcp__casefile__propose_plan', {}, 'other'],
  ['opencode', 'edit', { filePath: `${WORK}/a` }, 'write'],
  ['opencode', 'submit_plan', {}, 'other'],
]

t.test('what a tool call is to the gate', async (t) => {
  for (const [agent, tool_name, tool_input, kind] of CALLS) {
    const body = { ...CLAUDE, hook_event_name: 'PreToolUse', tool_name, tool_input }
    const label = `${agent}: ${tool_name} ${JSON.stringify(tool_input)}`
    t.match(await read(agent, body), { kind: 'calling', tool: { kind } }, label)
  }
  const ofGemini = (tool_name: string, tool_input: object) =>
    read('gemini', { ...GEMINI, hook_event_name: 'BeforeTool', tool_name, tool_input })
  const plan = `${HOME}/.gemini/tmp/shop/0b7b/plans/p.md`
  t.match(await ofGemini('write_file', { file_path: plan }), { tool: { kind: 'plan' } })
  const beside = { file_path: `${WORK}/.gemini/tmp/../../plans/p.md` }
  t.match(await ofGemini('write_file', beside), { tool: { kind: 'write' } })
  const elsewhere = { file_path: '/tmp/shop/plans/p.md' }
  t.match(await ofGemini('write_file', elsewhere), { tool: { kind: 'write' } })
  t.match(await ofGemini('replace', { file_path: 'a' }), { tool: { kind: 'write', paths: ['a'] } })
  t.match(await ofGemini('run_shell_command', { command: 'ls' }), { tool: { kind: 'execute' } })
  const ofCopilot = (toolName: string, toolArgs: object) =>
    read('copilot', { ...COPILOT, toolName, toolArgs }, 'preToolUse')
  t.match(await ofCopilot('create', { path: `${WORK}/a` }), { tool: { kind: 'write' } })
  const own = { path: `${HOME}/.copilot/session-state/77aa/plan.md` }
  t.match(await ofCopilot('create', own), { tool: { kind: 'plan' } })
  for (const path of ['session-state/../plan.md', 'session-state/a/plan.md']) {
    t.match(await ofCopilot('create', { path: `${WORK}/${path}` }), { tool: { kind: 'write' } })
  }
  const deepHome = {
    ...CLAUDE,
    transcript_path: `/data/projects/ada/.claude/projects/-shop/949b.jsonl`,
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: '/data/projects/ada/.claude/plans/vast-sea.md' },
  }
  t.match(await read('claude', deepHome), { tool: { kind: 'plan' } }, 'a home in "projects"')
  t.match(await ofCopilot('view', { path: WORK }), { tool: { kind: 'read' } })
  const two = { path: own.path, to: `${WORK}/a` }
  t.match(
    await ofCopilot('create', two),
    { tool: { kind: 'write' } },
    'another file beside the plan',
  )
  const asText = { ...COPILOT, toolName: 'edit', toolArgs: '{"path":"/home/ada/shop/x"}' }
  const edit = { kind: 'write', paths: ['/home/ada/shop/x'] }
  t.match(await read('copilot', asText, 'preToolUse'), { tool: edit }, 'arguments as a text')
})

t.test('an agent may use the settings of another: what it sends shows which it is', async (t) => {
  const rows: [line: string, body: object, agent: string][] = [
    ['claude', { toolName: 'create' }, 'copilot'],
    ['claude', { toolArgs: {} }, 'copilot'],
    ['gemini', { toolName: 'x', hookEventName: 'PreToolUse' }, 'vscode'],
    ['gemini', { toolArgs: {}, hookEventName: 'PreToolUse' }, 'copilot'],
    ['claude', { cursor_version: '1' }, 'cursor'],
    ['claude', { conversation_id: 'c', generation_id: 'g' }, 'cursor'],
    ['codex', { conversation_id: 'c' }, 'codex'],
    ['claude', { hook_event_name: 'BeforeTool' }, 'gemini'],
    ['codex', { hook_event_name: 'AfterAgent' }, 'gemini'],
    ['gemini', { hook_event_name: 'PreToolUse' }, 'claude'],
    ['copilot', { hook_event_name: 'Stop' }, 'claude'],
    ['codex', { hook_event_name: 'PreToolUse' }, 'codex'],
    ['opencode', { hook_event_name: 'PreToolUse' }, 'opencode'],
    ['gemini', { hook_event_name: 'SessionStart' }, 'gemini'],
    ['copilot', {}, 'copilot'],
    ['windsurf', {}, 'claude'],
    ['constructor', {}, 'claude'],
  ]
  for (const [line, body, agent] of rows)
    t.equal(dialectFor(line, { ...body }).agent, agent, `${line} ${JSON.stringify(body)}`)
})

t.test('what a call names, by whatever keys', async (t) => {
  const toolOf = async (tool_name: string, tool_input: unknown) => {
    const body = { ...CLAUDE, hook_event_name: 'PreToolUse', tool_name, tool_input }
    const event = (await read('claude', body)) as Extract<HookEvent, { kind: 'calling' }>
    return event.tool
  }
  const keys =
    'path paths file files file_path filePath filename notebook_path directory dir folder root target source src destination destFile from to uri'
  for (const key of keys.split(' '))
    t.strictSame((await toolOf('Move', { [key]: 'a/b' })).paths, ['a/b'], key)
  for (const key of ['new_source', 'content', 'text'])
    t.strictSame((await toolOf('Edit', { [key]: 'a/b' })).paths, [], key)
  t.strictSame((await toolOf('Edit', { edits: [{ file: 'a' }, { file: 'a' }] })).paths, ['a'])
  t.strictSame((await toolOf('Edit', { './a/b': 'text', ordinary: 'text' })).paths, ['./a/b'])
  t.strictSame((await toolOf('Edit', { input: '{"path":"inner"}' })).paths, ['inner'], 'as JSON')
  const inFolder = await toolOf('Edit', { path: 'a', cwd: 'sub', other: 'file:///x' })
  t.match(inFolder, { paths: ['sub/a', 'file:///x'], folder: 'sub' })
  const many = Array.from({ length: 600 }, (_, at) => `f${at}`)
  t.strictSame((await toolOf('Edit', { paths: many })).paths, [], 'of too many none is known')

  t.match(await toolOf('Bash', { command: 'ls', cwd: '/x' }), { command: 'ls', folder: '/x' })
  t.equal((await toolOf('Bash', { command: ['ls', '-l', 'a b'] })).command, "ls -l 'a b'")
  t.equal((await toolOf('Bash', { command: 'rm', args: ['-r', 'x'] })).command, 'rm -r x')
  t.equal((await toolOf('Bash', { command: 'ls', script: 'rm x' })).command, null, 'not which runs')
  t.not(
    (await toolOf('Bash', { command: 'a' })).input_sha256,
    (await toolOf('Bash', {})).input_sha256,
  )
})

t.test('the files of a patch are named', async (t) => {
  const command =
    '*** Begin Patch\n*** Update File: limit.js\n@@\n-1\n+2\n*** Move to: max.js\n*** Add File: b.js\n+x\n*** End Patch'
  const body = { ...CLAUDE, hook_event_name: 'PreToolUse', tool_name: 'apply_patch' }
  const event = await read('codex', { ...body, tool_input: { command } })
  t.match(event, { tool: { paths: ['limit.js', 'max.js', 'b.js'], command: null } })
  const diff =
    'diff --git a/x b/y\nrename from x\nrename to y\n--- a/old.js\n+++ b/new.js\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/made.js\n'
  t.match(await read('codex', { ...body, tool_input: { patch: diff } }), {
    tool: { paths: ['x', 'y', 'old.js', 'new.js', 'made.js'] },
  })
})

t.test('a plan that is presented', async (t) => {
  const body = { ...CLAUDE, hook_event_name: 'PermissionRequest', tool_name: 'ExitPlanMode' }
  const plan = '# Raise the limit\n'
  const event = await read('claude', { ...body, tool_input: { plan, planFilePath: 'p.md' } })
  t.match(event, { kind: 'planned', plan })
  t.match(await read('claude', { ...body, tool_input: {} }), { kind: 'planned', plan: '' })
  t.match(await read('claude', { ...body, tool_name: 'Write', tool_input: {} }), { kind: 'heard' })
  const asked = { ...COPILOT, toolName: 'exit_plan_mode', toolArgs: { summary: plan } }
  t.match(await read('copilot', asked, 'preToolUse'), { kind: 'planned', plan })
})

t.test('a plan that Claude names by its file is read there', async (t) => {
  const plan = '# Raise the limit\n'
  const files = { 'p.md': plan, 'p.txt': plan, 'link.md': t.fixture('symlink', '../secret.md') }
  const folder = realpathSync(
    t.testdir({
      '.claude': { projects: { shop: {} }, plans: files, 'secret.md': 'secret' },
      work: { plans: { 'p.md': plan }, out: t.fixture('symlink', '../.claude') },
      'other.md': 'secret',
    }),
  )
  const home = process.env.HOME
  t.teardown(() => {
    process.env.HOME = home
  })
  process.env.HOME = folder
  const root = join(folder, 'work')
  const transcript = join(folder, '.claude', 'projects', 'shop', 's.jsonl')
  const body = {
    session_id: 's',
    cwd: join(root, 'src'),
    transcript_path: transcript,
    hook_event_name: 'PermissionRequest',
    tool_name: 'ExitPlanMode',
  }
  const planIn = (more: object) =>
    HOOK_DIALECTS.claude.read({ ...body, tool_input: {}, ...more }, { root, eventName: null })
  const own = join(folder, '.claude', 'plans')
  const found = { kind: 'planned', plan }
  t.match(await planIn({ planFilePath: join(own, 'p.md') }), found, 'beside the input')
  t.match(await planIn({ tool_input: { planFilePath: join(own, 'p.md') } }), found, 'in the input')
  t.match(await planIn({ planFilePath: '~/.claude/plans/p.md' }), found, 'in the home folder')
  const here = { planFilePath: join(own, 'p.md'), transcript_path: null }
  t.match(await planIn(here), found, 'without a transcript')
  t.match(await planIn({ planFilePath: join(root, 'plans', 'p.md') }), found, 'in the workspace')
  const text = { plan: 'Mine.', planFilePath: join(own, 'p.md') }
  t.match(await planIn({ tool_input: text }), { plan: 'Mine.' }, 'a text counts more')
  const others = [
    join(own, 'p.txt'),
    join(own, 'none.md'),
    join(own, 'link.md'),
    join(own, '..', 'secret.md'),
    join(root, 'out', 'secret.md'),
    join(folder, 'other.md'),
    'plans/p.md',
    `${own}/p\0.md`,
    7,
  ]
  for (const planFilePath of others) {
    t.match(
      await planIn({ planFilePath }),
      { kind: 'planned', plan: '' },
      JSON.stringify(planFilePath),
    )
  }
})

t.test('what the person answered in the dialog of the agent', async (t) => {
  const body = { ...CLAUDE, hook_event_name: 'PostToolUse', tool_name: 'ExitPlanMode' }
  const approved = { tool_input: {}, tool_response: { plan: '# Mine\n', isAgent: false } }
  t.match(await read('claude', { ...body, ...approved }), { kind: 'approved', plan: '# Mine\n' })
  const refused = { ...body, hook_event_name: 'PostToolUseFailure', ...approved }
  t.match(await read('claude', refused), { kind: 'heard' })
  const after = { ...GEMINI, hook_event_name: 'AfterTool', tool_name: 'exit_plan_mode' }
  const said = (llmContent: string) =>
    read('gemini', { ...after, tool_input: {}, tool_response: { llmContent } })
  t.match(await said('Plan approved. Switching to Auto-Edit mode'), { kind: 'approved' })
  t.match(await said('Plan rejected. User feedback: say which tests'), { kind: 'heard' })
  t.match(await said('Plan rejected. User feedback: Plan approved by whom?'), { kind: 'heard' })
  const ofCopilot = (resultType: string) => {
    const done = {
      ...COPILOT,
      toolName: 'exit_plan_mode',
      toolArgs: {},
      toolResult: { resultType },
    }
    return read('copilot', done, 'postToolUse')
  }
  t.match(await ofCopilot('success'), { kind: 'approved' })
  for (const type of ['failure', 'rejected', 'denied'])
    t.match(await ofCopilot(type), { kind: 'heard' }, type)
  const prompt = { ...CLAUDE, hook_event_name: 'UserPromptSubmit', prompt: 'Implement the plan.' }
  t.match(await read('codex', prompt), { kind: 'prompted', isApproval: true })
  t.match(await read('claude', prompt), { kind: 'prompted', isApproval: false })
  const mention = { ...prompt, prompt: 'Do not: Implement the plan. Ask first.' }
  t.match(await read('codex', mention), { kind: 'prompted', isApproval: false })
})

t.test('the events of a conversation, in the words of each agent', async (t) => {
  type Agent = keyof typeof HOOK_DIALECTS
  const cursor = { conversation_id: 'c', workspace_roots: [WORK], cursor_version: '1' }
  const named = (hook_event_name: string, more: object = {}) => ({ hook_event_name, ...more })
  const tool = { tool_name: 'x', tool_input: {} }
  const rows: [Agent, body: object, found: object, eventName?: string][] = [
    ['claude', named('SessionStart', { source: 'startup' }), { isContinued: false }],
    ['claude', named('SessionStart', { source: 'resume' }), { isContinued: true }],
    ['gemini', named('SessionStart', { source: 'startup' }), { isContinued: false }],
    ['gemini', named('SessionStart', { source: 'resume' }), { isContinued: true }],
    ['copilot', { ...COPILOT, source: 'new' }, { isContinued: false }, 'sessionStart'],
    ['copilot', { ...COPILOT, source: 'resume' }, { isContinued: true }, 'sessionStart'],
    ['vscode', { hookEventName: 'SessionStart', source: 'new' }, { isContinued: false }],
    ['vscode', { hookEventName: 'SessionStart', source: 'resume' }, { isContinued: true }],
    ['claude', named('Stop'), { kind: 'stopped', wasBlocked: false }],
    ['claude', named('Stop', { stop_hook_active: true }), { wasBlocked: true }],
    [
      'gemini',
      named('AfterAgent', { stop_hook_active: true }),
      { kind: 'stopped', wasBlocked: true },
    ],
    ['copilot', { ...COPILOT, stop_hook_active: true }, { wasBlocked: true }, 'agentStop'],
    ['cursor', { ...cursor, ...named('stop', { loop_count: 0 }) }, { wasBlocked: false }],
    ['cursor', { ...cursor, ...named('stop', { loop_count: 1 }) }, { wasBlocked: true }],
    ['claude', named('SessionEnd', { reason: 'clear' }), { kind: 'ended', isReplaced: true }],
    ['claude', named('SessionEnd', { reason: 'logout' }), { isReplaced: false }],
    ['gemini', named('SessionEnd', { reason: 'clear' }), { isReplaced: true }],
    ['copilot', COPILOT, { kind: 'ended', isReplaced: false }, 'sessionEnd'],
    ['cursor', { ...cursor, ...named('sessionEnd') }, { kind: 'ended', isReplaced: false }],
    ['claude', named('PostToolUse', tool), { kind: 'called', hasFailed: false }],
    ['claude', named('PostToolUseFailure', tool), { kind: 'called', hasFailed: true }],
    ['gemini', named('AfterTool', tool), { kind: 'called', hasFailed: false }],
    ['gemini', named('AfterTool', { ...tool, tool_response: { error: 'x' } }), { hasFailed: true }],
    [
      'copilot',
      { ...COPILOT, toolName: 'x', toolResult: { resultType: 'success' } },
      { hasFailed: false },
      'postToolUse',
    ],
    [
      'copilot',
      { ...COPILOT, toolName: 'x', toolResult: { resultType: 'denied' } },
      { hasFailed: true },
      'postToolUse',
    ],
    ['cursor', { ...cursor, ...named('postToolUse', tool) }, { kind: 'called', hasFailed: false }],
    ['cursor', { ...cursor, ...named('postToolUseFailure', tool) }, { hasFailed: true }],
    ['claude', named('Stop', { agent_id: 'a' }), { isSubagent: true }],
    ['claude', named('Stop', { model: 'opus' }), { isSubagent: false, model: 'opus' }],
  ]
  for (const [agent, body, found, eventName] of rows) {
    const common = agent === 'gemini' ? GEMINI : CLAUDE
    const whole = agent === 'copilot' || agent === 'cursor' ? body : { ...common, ...body }
    t.match(await read(agent, whole, eventName), found, `${agent} ${JSON.stringify(body)}`)
  }
})

t.test('an agent that presents its plan by a file or its transcript', async (t) => {
  const home = process.env.HOME
  const folder = realpathSync(t.testdir())
  t.teardown(() => {
    process.env.HOME = home
  })
  process.env.HOME = folder
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write('.gemini/tmp/shop/0b7b/plans/p.md', 'Of Gemini.')
  write('.gemini/tmp/shop/other/plans/p.md', 'Of another conversation.')
  write('.gemini/tmp/shop/0b7b/secret.md', 'secret')
  const ofGemini = (plan_filename: string) => {
    const transcript_path = join(folder, '.gemini/tmp/shop/chats/session-1.jsonl')
    const call = { tool_name: 'exit_plan_mode', tool_input: { plan_filename } }
    return read('gemini', { ...GEMINI, transcript_path, hook_event_name: 'BeforeTool', ...call })
  }
  t.match(await ofGemini('p.md'), { kind: 'planned', plan: 'Of Gemini.' })
  t.match(await ofGemini('../../other/plans/p.md'), { plan: 'Of Gemini.' }, 'only the name counts')
  t.match(await ofGemini('../secret.md'), { kind: 'planned', plan: '' })

  write('.copilot/session-state/77aa/plan.md', 'Of Copilot.')
  const asked = { ...COPILOT, toolName: 'exit_plan_mode', toolArgs: { summary: 'In short.' } }
  t.match(await read('copilot', asked, 'preToolUse'), { kind: 'planned', plan: 'Of Copilot.' })
  const other = { ...asked, sessionId: 'x' }
  t.match(await read('copilot', other, 'preToolUse'), { plan: 'In short.' }, 'without a file')

  const item = (turn_id: string, type: string, text: string) =>
    JSON.stringify({ payload: { type: 'item_completed', turn_id, item: { type, text } } })
  const lines = [
    item('t1', 'Plan', 'Old.'),
    item('t2', 'Plan', 'First.'),
    item('t2', 'Plan', 'Last.'),
  ]
  const mention = item('t1', 'Plan', 'It quotes t2.')
  write('codex.jsonl', [...lines, item('t2', 'Message', 'Done.'), mention, '{"typ'].join('\n'))
  const transcript_path = join(folder, 'codex.jsonl')
  const planOf = async (more: object) => {
    const body = { ...CLAUDE, transcript_path, hook_event_name: 'Stop', ...more }
    return HOOK_DIALECTS.codex.planOfTurn?.((await read('codex', body)) as HookEvent)
  }
  t.equal(await planOf({ turn_id: 't2' }), 'Last.')
  t.equal(await planOf({ turn_id: 't3' }), null)
  t.equal(await planOf({}), null)

  t.match(await transcriptMark(transcript_path), {
    path: '~/codex.jsonl',
    sha256: /^[0-9a-f]{64}$/,
  })
  t.equal(await transcriptMark(join(folder, 'none')), null)
  t.equal(fromHome(`${homedir()}-2/a`), `${homedir()}-2/a`, 'a folder beside the home folder')
})

t.test('a body that no known version sends is none of its events', async (t) => {
  for (const agent of Object.keys(HOOK_DIALECTS) as (keyof typeof HOOK_DIALECTS)[]) {
    t.match(await read(agent, {}), { missing: [/./, /./] }, agent)
    t.match(await read(agent, { session_id: 5, cwd: [] }), { missing: [/./, /./] }, agent)
  }
  const later = { ...CLAUDE, hook_event_name: 'EventOfALaterVersion' }
  t.match(await read('claude', later), { kind: 'heard' }, 'it is only heard')
})

t.test('answers in the words of the agent', async (t: Test) => {
  const call = { ...CLAUDE, hook_event_name: 'PreToolUse', tool_name: 'Write', tool_input: {} }
  const denied: HookAnswer = { is: 'denied', reason: 'No.' }
  const event = (await read('claude', call)) as HookEvent
  t.match(HOOK_DIALECTS.claude.answer(event, denied), {
    hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'No.' },
  })
  t.strictSame(HOOK_DIALECTS.gemini.answer(event, denied), { decision: 'deny', reason: 'No.' })
  t.strictSame(HOOK_DIALECTS.copilot.answer(event, denied), {
    permissionDecision: 'deny',
    permissionDecisionReason: 'No.',
  })
  const blocked: HookAnswer = { is: 'blocked', reason: 'Red.' }
  t.strictSame(HOOK_DIALECTS.claude.answer(event, blocked), { decision: 'block', reason: 'Red.' })
  t.strictSame(HOOK_DIALECTS.gemini.answer(event, blocked), { decision: 'deny', reason: 'Red.' })
  t.match(
    HOOK_DIALECTS.vscode.answer(
      { ...event, kind: 'stopped', wasBlocked: false, turn: null },
      blocked,
    ),
    {
      hookSpecificOutput: { hookEventName: 'Stop', decision: 'block', reason: 'Red.' },
    },
  )
  t.strictSame(HOOK_DIALECTS.cursor.answer(event, blocked), { followup_message: 'Red.' })
  t.strictSame(HOOK_DIALECTS.copilot.answer(event, blocked), { decision: 'block', reason: 'Red.' })
  t.strictSame(HOOK_DIALECTS.copilot.answer(event, { is: 'allowed' }), {
    permissionDecision: 'allow',
  })
  const prompted: HookEvent = { ...event, kind: 'prompted', prompt: 'x', isApproval: true }
  const approved = { is: 'approved', plan: 'P', notes: '', isEdited: false } as const
  const context = (answer: HookAnswer) =>
    JSON.stringify(HOOK_DIALECTS.codex.answer(prompted, answer) ?? '')
  t.equal(context(approved), '""')
  t.match(context({ ...approved, notes: 'Mind the tests.' }), /additionalContext.*Mind the tests/)
  t.match(context({ ...approved, isEdited: true }), /The operator changed the plan.*P"/)
  t.match(context({ is: 'sentBack', message: 'Which tests?' }), /UserPromptSubmit.*Which tests/)
  const planned: HookEvent = { ...event, kind: 'planned', plan: 'P', input: { a: 1 }, isHeld: true }
  t.match(HOOK_DIALECTS.claude.answer(planned, { ...approved, notes: 'N' }), {
    hookSpecificOutput: { decision: { behavior: 'allow', updatedInput: { a: 1, plan: 'P\n\nN' } } },
  })
  t.match(HOOK_DIALECTS.claude.answer(planned, { is: 'sentBack', message: 'No.' }), {
    hookSpecificOutput: { decision: { behavior: 'deny', message: 'No.' } },
  })
  for (const agent of ['gemini', 'copilot', 'cursor'] as const) {
    const sentBack = JSON.stringify(
      HOOK_DIALECTS[agent].answer(planned, { is: 'sentBack', message: 'No.' }),
    )
    t.match(sentBack, /"deny".*"No\."/, agent)
    t.equal(HOOK_DIALECTS[agent].answer(planned, approved), null, 'its own dialog comes')
  }
  for (const dialect of Object.values(HOOK_DIALECTS)) {
    t.equal(dialect.answer(event, { is: 'pass' }), null, `${dialect.agent} has no opinion`)
    t.match(JSON.stringify(dialect.deny('No.')), /"deny".*"No\."/, dialect.agent)
    const context = JSON.stringify(
      dialect.answer(
        { ...event, kind: 'started', isContinued: false },
        { is: 'context', text: 'C' },
      ),
    )
    t.match(context, /ontext":"C"/, dialect.agent)
  }
  const noticed: HookAnswer = { ...denied, notice: 'N' }
  const printed = (agent: keyof typeof HOOK_DIALECTS) =>
    printedAnswer(HOOK_DIALECTS[agent], event, noticed)!
      .split('\n')
      .map((line) => JSON.parse(line))
  t.match(printed('claude'), [{ systemMessage: 'N', hookSpecificOutput: {} }])
  t.match(printed('gemini'), [{ systemMessage: 'N', decision: 'deny' }])
  t.match(printed('copilot'), [{ type: 'progress', message: 'N' }, { permissionDecision: 'deny' }])
  t.notMatch(JSON.stringify(printed('cursor')), '"N"', 'it shows none')
  t.equal(printedAnswer(HOOK_DIALECTS.claude, event, { is: 'pass' }), null)
})

t.test('what a conversation used is in the transcript of the agent', async (t) => {
  const message = (id: string, model: string, output_tokens: number) => ({
    type: 'assistant',
    message: {
      id,
      model,
      usage: {
        input_tokens: 1000,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 200,
        output_tokens,
      },
    },
  })
  const of = (input: number, output: number) => ({
    type: 'event_msg',
    payload: {
      type: 'token_count',
      info: {
        total_token_usage: {
          input_tokens: input,
          cached_input_tokens: 10,
          output_tokens: output,
        },
      },
    },
  })
  const turn = (id: string, output: number) => ({
    id,
    type: 'gemini',
    tokens: { input: 1200, output, cached: 200, thoughts: 10, tool: 0, total: 1210 + output },
    model: 'gemini-2.5-pro',
  })
  const lines = (...all: object[]) => `${all.map((each) => JSON.stringify(each)).join('\n')}\n{"typ`
  const dir = t.testdir({
    // each part of a message has a line of its own
    claude: lines(message('a', 'opus', 30), message('a', 'opus', 30), message('b', 'haiku', 5)),
    codex: lines(of(100, 5), of(300, 9)),
    gemini: lines(turn('a', 20), turn('a', 20), turn('b', 5), { $set: { lastUpdated: 'x' } }),
  })
  t.strictSame(await HOOK_DIALECTS.claude.usage?.(`${dir}/claude`), {
    model: 'opus, haiku',
    input_tokens: 2400,
    output_tokens: 35,
    cached_tokens: 400,
    cost_usd: null,
    cumulative: 'tokens',
  })
  const codex = await HOOK_DIALECTS.codex.usage?.(`${dir}/codex`)
  t.match(codex, { input_tokens: 300, output_tokens: 9, cached_tokens: 10 })
  t.match(await HOOK_DIALECTS.claude.usage?.(`${dir}/none`), { input_tokens: null })
  t.match(await HOOK_DIALECTS.gemini.usage?.(`${dir}/gemini`), {
    model: 'gemini-2.5-pro',
    input_tokens: 2400,
    output_tokens: 45,
    cached_tokens: 400,
  })
  const usage = { input_tokens: 5, output_tokens: 3, cached_tokens: 0 }
  const stop = await read('opencode', { ...CLAUDE, hook_event_name: 'Stop', usage })
  t.match('kind' in stop && (await HOOK_DIALECTS.opencode.usage?.(null, stop)), usage)
})
