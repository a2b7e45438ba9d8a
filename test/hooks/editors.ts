import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { git, must } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

async function opened(t: Test) {
  const app = await openTestService(t)
  writeFileSync(join(app.root, 'limit.js'), 'limit = 1\n')
  git(app.root, 'init', '--quiet')
  const { id: case_id } = await app.newCase({ title: 'Raise the limit' })
  await must(app, 'PUT', '/current-case', { folder: '.', case_id })
  return { app, case_id }
}

/** Sends what an editor sends, through the hooks of any agent. */
async function send(app: TestService, line: string, body: object, kind?: string) {
  const reply = await fetch(`${app.url}/hooks/${line}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(kind === undefined ? {} : { 'x-casefile-kind': kind }),
    },
    // Cursor writes a byte order mark
    body: `\uFEFF${JSON.stringify(body)}`,
  })
  const text = await reply.text()
  t.ok(reply.ok, text)
  return text === '' ? null : JSON.parse(text)
}

/** The answer to a call in an approved plan, once the service has looked at how the folder is before it. */
async function sendOnceReady(app: TestService, line: string, body: object) {
  for (;;) {
    const said = await send(app, line, body, 'gate')
    if (!JSON.stringify(said).includes('Try again in a few seconds')) return said
    await delay(50)
  }
}

async function approvedPlan(app: TestService, case_id: string, agent: string) {
  const plan = '1. Raise it.\n'
  const body = { agent, cwd: app.root, pid: process.pid, plan, hypothesis: null }
  const session = await must(app, 'POST', `/cases/${case_id}/proposed-plans`, body)
  await must(app, 'POST', `/cases/${case_id}/sessions/${session.id}/approve`)
  return session
}

// "Hooks", https://cursor.com/docs/hooks, and "Third Party Hooks",
// https://cursor.com/docs/reference/third-party-hooks: names of fields, events and tools
const CURSOR = {
  conversation_id: 'c1',
  generation_id: 'g1',
  model: 'gpt-5.2',
  cursor_version: '2026.09.02',
  user_email: null,
  transcript_path: null,
}

t.test('Cursor is gated through the hooks of any agent', async (t) => {
  const { app, case_id } = await opened(t)
  const common = { ...CURSOR, workspace_roots: ['/elsewhere', app.root] }
  const call = (tool_name: string, tool_input: unknown) => ({
    ...common,
    cwd: '',
    hook_event_name: 'preToolUse',
    tool_name,
    tool_input,
    tool_use_id: 'abc123',
  })
  const file_path = join(app.root, 'limit.js')

  await t.test('it is told its case', async (t) => {
    const start = { ...common, hook_event_name: 'sessionStart', session_id: 'c1' }
    const said = await send(app, 'claude', { ...start, composer_mode: 'agent' })
    t.match(said, { additional_context: /Raise the limit.*propose_plan/s })
    const prompt = { ...common, hook_event_name: 'beforeSubmitPrompt', prompt: 'Raise it' }
    t.equal(await send(app, 'claude', prompt), null)
    t.match(await must(app, 'GET', '/conversations'), [
      { agent: 'cursor', agent_session: 'c1', folder: '.', case_id, model: 'gpt-5.2', prompts: 1 },
    ])
  })

  const DENIED: [what: string, body: object][] = [
    ['a command', call('Shell', { command: 'rm -rf src', working_directory: app.root })],
    ['a file', call('Write', { file_path, content: 'x' })],
    ['a deletion', call('Delete', { file_path })],
    ['a tool of a server', call('MCP:create_issue', '{"title":"x"}')],
    [
      'a tool of a server that names a plan too',
      call('MCP:move', { path: '/home/ada/.cursor/plans/a.md' }),
    ],
    [
      'in the words of Claude',
      { ...call('Shell', { command: 'rm a' }), hook_event_name: 'PreToolUse' },
    ],
    [
      'the hook for commands',
      { ...common, hook_event_name: 'beforeShellExecution', command: 'rm a', cwd: app.root },
    ],
    [
      'the hook for servers',
      {
        ...common,
        hook_event_name: 'beforeMCPExecution',
        tool_name: 'create_issue',
        tool_input: '{"title":"x"}',
        mcp_server_name: 'github',
      },
    ],
  ]
  for (const line of ['claude', 'gemini']) {
    for (const [what, body] of line === 'claude' ? DENIED : DENIED.slice(0, 1)) {
      const said = await send(app, line, body, 'gate')
      t.match(said, { permission: 'deny', agent_message: /no approved plan/ }, `${what}: ${line}`)
      t.equal(said.user_message, said.agent_message)
    }
  }

  const PASSED: [what: string, body: object][] = [
    ['reading', call('Read', { file_path })],
    ['a command that reads', call('Shell', { command: 'git status' })],
    ['its plan', call('Write', { file_path: '/home/ada/.cursor/plans/limit.plan.md' })],
    ['handing in a plan', call('MCP:propose_plan', '{"plan":"1. Raise it."}')],
    [
      'handing in a plan, by the hook for servers',
      {
        ...common,
        hook_event_name: 'beforeMCPExecution',
        tool_name: 'propose_plan',
        tool_input: '{}',
        mcp_server_name: 'casefile',
      },
    ],
    [
      'the hook for reading',
      { ...common, hook_event_name: 'beforeReadFile', file_path, content: '' },
    ],
  ]
  for (const [what, body] of PASSED) t.equal(await send(app, 'claude', body, 'gate'), null, what)

  await t.test('an approved plan opens it, and its calls are recorded', async (t) => {
    const session = await approvedPlan(app, case_id, 'cursor')
    t.equal(session.provider, 'cursor')
    t.equal(await sendOnceReady(app, 'claude', DENIED[1]![1]), null)
    const after = { ...call('Write', { file_path }), hook_event_name: 'postToolUse' }
    await send(app, 'claude', { ...after, tool_output: '{}', duration: 12 }, 'note')
    await send(app, 'claude', { ...common, hook_event_name: 'afterFileEdit', file_path, edits: [] })
    const done = { ...common, hook_event_name: 'stop', status: 'completed', loop_count: 0 }
    t.equal(await send(app, 'claude', done, 'stop'), null)
    const path = `/cases/${case_id}/sessions/${session.id}`
    t.match(await must(app, 'GET', path), { state: 'complete', origin: 'terminal' })
    const trail = readFileSync(app.file(case_id, 'sessions', '1.md'), 'utf8')
    t.equal(trail.match(/tool_call tool=Write title=limit\.js /g)?.length, 2)
  })
})

t.test('VS Code is gated through the hooks of any agent', async (t) => {
  const { app, case_id } = await opened(t)
  // "Hooks reference", https://code.visualstudio.com/docs/agents/reference/hooks-reference, and "Agent hooks in Visual
  // Studio Code", https://code.visualstudio.com/docs/agent-customization/hooks
  const common = {
    timestamp: '2026-02-09T10:30:00.000Z',
    cwd: app.root,
    sessionId: 'v1',
    transcript_path: '/home/ada/transcript.json',
  }
  const call = (tool_name: string, tool_input: object) => ({
    ...common,
    hookEventName: 'PreToolUse',
    tool_name,
    tool_input,
    tool_use_id: 'tool-123',
  })
  const filePath = join(app.root, 'limit.js')
  const start = await send(app, 'claude', {
    ...common,
    hookEventName: 'SessionStart',
    source: 'new',
  })
  t.match(start, { hookSpecificOutput: { additionalContext: /Raise the limit.*propose_plan/s } })

  const DENIED = [
    call('editFiles', { files: ['limit.js'] }),
    call('create_file', { filePath, content: 'x' }),
    call('replace_string_in_file', { filePath, oldString: 'a', newString: 'b' }),
    call('runTerminalCommand', { command: 'npm install' }),
    call('run_in_terminal', { command: 'rm -rf src' }),
    // all in camel case
    { ...common, hookEventName: 'PreToolUse', toolName: 'editFiles', toolInput: { files: ['a'] } },
  ]
  for (const line of ['claude', 'copilot']) {
    for (const body of line === 'claude' ? DENIED : DENIED.slice(0, 1)) {
      const said = await send(app, line, body, 'gate')
      const { permissionDecision, permissionDecisionReason } = said.hookSpecificOutput
      t.equal(permissionDecision, 'deny', line)
      t.match(permissionDecisionReason, /no approved plan/)
    }
  }
  const PASSED = [
    call('read_file', { filePath }),
    call('readFile', { filePath }),
    call('run_in_terminal', { command: 'git log --oneline' }),
    call('mcp_casefile_propose_plan', { plan: 'x' }),
  ]
  for (const body of PASSED) t.equal(await send(app, 'claude', body, 'gate'), null, body.tool_name)

  const session = await approvedPlan(app, case_id, 'vscode')
  t.equal(session.provider, 'vscode')
  t.equal(await sendOnceReady(app, 'claude', DENIED[0]!), null)
  const after = { ...call('create_file', { filePath }), hookEventName: 'PostToolUse' }
  await send(app, 'claude', { ...after, tool_response: 'File created' }, 'note')
  const stop = { ...common, hookEventName: 'Stop', stop_hook_active: false }
  const said = await send(app, 'claude', stop, 'stop')
  t.match(said, { systemMessage: /recorded as session 1/ })
  t.match(await must(app, 'GET', `/cases/${case_id}/sessions/${session.id}`), { state: 'complete' })
  t.match(await must(app, 'GET', '/conversations'), [{ agent: 'vscode', agent_session: 'v1' }])
})
