import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { HOOK_DIALECTS } from '../../src/runners/hooks/dialects.ts'
import type { HookAnswer, HookEvent } from '../../src/runners/hooks/hook-event.ts'

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
  ['claude', 'Write', { file_path: `${WORK}/plans/vast-sea.md` }, 'write'],
  ['claude', 'Write', { file_path: `${HOME}/.claude/plans/../settings.md` }, 'write'],
  ['claude', 'mcp__files__move', { path: `${HOME}/.claude/plans/a.md`, to: 'a' }, 'write'],
  ['claude', 'Bash', { command: 'ls' }, 'execute'],
  ['claude', 'EnterPlanMode', {}, 'other'],
  ['claude', 'mcp__casefile__propose_plan', {}, 'other'],
  ['claude', 'mcp__github__create_issue', {}, 'write'],
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

t.test('the files of a patch are named', async (t) => {
  const command =
    '*** Begin Patch\n*** Update File: limit.js\n@@\n-1\n+2\n*** Move to: max.js\n*** Add File: b.js\n+x\n*** End Patch'
  const body = { ...CLAUDE, hook_event_name: 'PreToolUse', tool_name: 'apply_patch' }
  const event = await read('codex', { ...body, tool_input: { command } })
  t.match(event, { tool: { paths: ['limit.js', 'max.js', 'b.js'], command: null } })
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
  const after = { ...GEMINI, hook_event_name: 'AfterTool', tool_name: 'exit_plan_mode' }
  const said = (llmContent: string) =>
    read('gemini', { ...after, tool_input: {}, tool_response: { llmContent } })
  t.match(await said('Plan approved. Switching to Auto-Edit mode'), { kind: 'approved' })
  t.match(await said('Plan rejected. User feedback: say which tests'), { kind: 'heard' })
  const prompt = { ...CLAUDE, hook_event_name: 'UserPromptSubmit', prompt: 'Implement the plan.' }
  t.match(await read('codex', prompt), { kind: 'prompted', isApproval: true })
  t.match(await read('claude', prompt), { kind: 'prompted', isApproval: false })
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
  for (const dialect of Object.values(HOOK_DIALECTS)) {
    t.equal(dialect.answer(event, { is: 'pass' }), null, `${dialect.agent} has no opinion`)
  }
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
