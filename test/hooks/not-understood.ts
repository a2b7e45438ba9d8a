import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { NotUnderstood } from '../../src/model/not-understood.ts'
import { git, must } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

async function opened(t: Test) {
  const app = await openTestService(t)
  writeFileSync(join(app.root, 'limit.js'), 'limit = 1\n')
  git(app.root, 'init', '--quiet')
  const { id: case_id } = await app.newCase({ title: 'Raise the limit' })
  return { app, case_id }
}

const GATE = { 'x-casefile-kind': 'gate' }

/** What a hook reads is sent as it is. */
async function post(
  app: TestService,
  line: string,
  body: string | Buffer,
  headers: Record<string, string> = GATE,
) {
  const reply = await fetch(`${app.url}/hooks/${line}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : new Uint8Array(body),
  })
  const text = await reply.text()
  return { status: reply.status, json: text === '' ? null : JSON.parse(text) }
}

async function listed(app: TestService): Promise<NotUnderstood[]> {
  return (await must(app, 'GET', '/health')).hooks_not_understood
}

/** The reason of a denial, in the words of an agent; null if it is none. */
const REASON: Record<string, (json: Record<string, never> | null) => string | null> = {
  claude: (json) => {
    const { permissionDecision, permissionDecisionReason } =
      (json?.hookSpecificOutput as Record<string, string> | undefined) ?? {}
    return permissionDecision === 'deny' ? (permissionDecisionReason ?? null) : null
  },
  gemini: (json) => (json?.decision === 'deny' ? json.reason : null) ?? null,
  copilot: (json) =>
    (json?.permissionDecision === 'deny' ? json.permissionDecisionReason : null) ?? null,
  cursor: (json) => (json?.permission === 'deny' ? json.agent_message : null) ?? null,
}
const words = (agent: string) => REASON[agent] ?? REASON.claude!

const text = (value: object) => JSON.stringify(value)
const CALL = {
  session_id: 's',
  cwd: 'ROOT',
  hook_event_name: 'PreToolUse',
  tool_name: 'Write',
  tool_input: {},
}
const { session_id: _s, ...NO_SESSION } = CALL
const { cwd: _c, ...NO_CWD } = CALL
const { tool_name: _t, ...NO_TOOL } = CALL
const { hook_event_name: _e, ...NO_EVENT } = CALL
const CURSOR = {
  cursor_version: '2026.09.02',
  workspace_roots: ['ROOT'],
  hook_event_name: 'preToolUse',
}

type Row = [
  what: string,
  line: string,
  body: string | Buffer,
  missing: string[],
  speaks: string,
  event?: string | null,
]
const ROWS: Row[] = [
  ['nothing at all', 'claude', '', ['input'], 'claude', null],
  ['an empty object', 'codex', '{}', ['input'], 'codex', null],
  ['white space', 'gemini', ' \n', ['JSON object'], 'gemini', null],
  ['half of a body', 'copilot', '{"toolName":"create"', ['JSON object'], 'copilot', null],
  ['no object', 'opencode', '[1]', ['JSON object'], 'opencode', null],
  ['a number', 'gemini', '5', ['JSON object'], 'gemini', null],
  ['no UTF-8', 'claude', Buffer.from([0x22, 0xff, 0x22]), ['JSON object'], 'claude', null],
  ['half a character', 'claude', '{"a":"\\ud800"}', ['well-formed text'], 'claude', null],
  [
    'other names',
    'claude',
    '{"tool":"x"}',
    ['session_id', 'cwd', 'hook_event_name'],
    'claude',
    null,
  ],
  ['no session', 'claude', text(NO_SESSION), ['session_id'], 'claude'],
  ['no folder', 'codex', text(NO_CWD), ['cwd'], 'codex'],
  ['a folder that is none', 'claude', text({ ...CALL, cwd: 'ROOT/\0' }), ['cwd'], 'claude'],
  ['no tool', 'claude', text(NO_TOOL), ['tool_name'], 'claude'],
  ['no event', 'claude', text(NO_EVENT), ['hook_event_name'], 'claude', null],
  ['a tool that is no text', 'claude', text({ ...CALL, tool_name: 7 }), ['tool_name'], 'claude'],
  [
    'an event of a later version',
    'claude',
    text({ ...CALL, hook_event_name: 'ToolUseRequested' }),
    ['known event'],
    'claude',
    'ToolUseRequested',
  ],
  [
    'Gemini without its session',
    'gemini',
    text({ ...NO_SESSION, hook_event_name: 'BeforeTool' }),
    ['session_id'],
    'gemini',
    'BeforeTool',
  ],
  [
    'Gemini in the settings of Claude',
    'claude',
    text({ ...NO_SESSION, hook_event_name: 'BeforeTool' }),
    ['session_id'],
    'gemini',
    'BeforeTool',
  ],
  ['Claude in the settings of Gemini', 'gemini', text(NO_SESSION), ['session_id'], 'claude'],
  [
    'Copilot without its session',
    'copilot',
    text({ cwd: 'ROOT', toolName: 'create', toolArgs: {} }),
    ['sessionId'],
    'copilot',
    null,
  ],
  [
    'Cursor without its conversation and tool',
    'claude',
    text(CURSOR),
    ['conversation_id', 'tool_name'],
    'cursor',
    'preToolUse',
  ],
  [
    'VS Code without its session',
    'claude',
    text({ hookEventName: 'PreToolUse', cwd: 'ROOT', tool_name: 'editFiles' }),
    ['session_id'],
    'vscode',
    'PreToolUse',
  ],
  [
    'an agent that nobody knows',
    'windsurf',
    '{"trajectory_id":"x"}',
    ['session_id', 'cwd', 'hook_event_name'],
    'claude',
    null,
  ],
]

t.test('where a case is current', async (t) => {
  const { app, case_id } = await opened(t)
  await must(app, 'PUT', '/current-case', { folder: '.', case_id })

  await t.test(
    'a call that cannot be read is denied where a case is current, and listed',
    async (t) => {
      for (const [what, line, body, missing, speaks, event = 'PreToolUse'] of ROWS) {
        const sent = typeof body === 'string' ? body.replaceAll('ROOT', app.root) : body
        const { status, json } = await post(app, line, sent)
        const reason = words(speaks)(json)
        t.equal(status, 200, what)
        t.match(reason, /"Raise the limit", and cannot read this call/, `${what}: in its own words`)
        for (const name of missing) t.match(reason, `no ${name}`, `${what}: ${name}`)
        const [newest] = await listed(app)
        t.match(newest, { line, sender: speaks, event, missing, is_denied: true }, what)
      }
    },
  )

  await t.test('a body that is too large is denied with the limit', async (t) => {
    const { json } = await post(app, 'gemini', Buffer.alloc(8 * 1024 * 1024 + 1, ' '))
    t.match(words('gemini')(json), /it has no end within 8 MiB/)
  })

  await t.test('only calls of tools are denied', async (t) => {
    for (const kind of ['wait', 'hold', 'stop', 'tell', 'note']) {
      const { status } = await post(app, 'claude', '', { 'x-casefile-kind': kind })
      t.equal(status, 204, kind)
    }
    const start = text({ hook_event_name: 'SessionStart' })
    t.equal((await post(app, 'claude', start, {})).status, 204, 'an event that is no call')
    const later = text({ ...CALL, cwd: app.root, hook_event_name: 'TaskCompleted' })
    t.equal((await post(app, 'claude', later, { 'x-casefile-kind': 'tell' })).status, 204)
    // a plugin, or somebody who sends it in another way, does not say the kind
    for (const body of ['', text(NO_SESSION), text({ hook_event_name: 'BeforeTool' })]) {
      t.equal((await post(app, 'claude', body, {})).status, 200, body)
    }
  })
})

t.test('where none is', async (t) => {
  const { app, case_id } = await opened(t)

  await t.test('without a current case it passes, and is listed', async (t) => {
    for (const [what, line, body] of [ROWS[0]!, ROWS[9]!, ROWS[15]!]) {
      const sent = typeof body === 'string' ? body.replaceAll('ROOT', app.root) : body
      t.match(await post(app, line, sent), { status: 204, json: null }, what)
      t.match((await listed(app))[0], { line, is_denied: false }, what)
    }
  })

  await t.test('which case is current', async (t) => {
    const named = { ...GATE, 'x-casefile-case': case_id }
    const reasonOf = async (body: string, headers = GATE) =>
      words('claude')((await post(app, 'claude', body, headers)).json)
    t.match(await reasonOf('', named), /Raise the limit/, 'the environment of the agent names it')
    const elsewhere = text({ ...NO_SESSION, cwd: '/' })
    t.equal(await reasonOf(elsewhere, named), null, 'a folder that is not of this workspace')

    git(app.root, 'checkout', '--quiet', '-b', `fix/${case_id.slice(0, 8)}`)
    t.match(await reasonOf(''), /Raise the limit/, 'the branch names it')
    git(app.root, 'checkout', '--quiet', '-b', 'main-2')
    t.equal(await reasonOf(''), null)

    await must(app, 'POST', '/hooks/claude', { ...CALL, cwd: app.root })
    const [{ id }] = await must(app, 'GET', '/conversations')
    await must(app, 'POST', `/conversations/${id}/adopt`, { case_id })
    const noTool = text({ ...NO_TOOL, cwd: app.root })
    t.match(await reasonOf(noTool), /Raise the limit/, 'the conversation belongs to it')
  })

  await t.test('what is listed has names and no contents, and stays short', async (t) => {
    const secret = 'hunter2 is the password'
    const body = { [secret]: secret, 'tool-name': secret, prompt: secret, hook_event_name: secret }
    for (let times = 0; times < 3; times++) await post(app, 'claude', text(body))
    const [once, ...others] = await listed(app)
    t.match(once, { count: 3, event: null, fields: ['prompt', 'hook_event_name'] })
    t.notOk(
      others.some(({ fields }) => fields.includes('prompt')),
      'once',
    )
    t.notMatch(text(once as object), 'hunter2')
    for (let n = 0; n < 30; n++) await post(app, `agent${n}`, '')
    const all = await listed(app)
    t.equal(all.length, 20)
    t.match([all[0]!.line, all[19]!.line], ['agent29', 'agent10'])
  })

  await t.test('the page of the agents shows it', async (t) => {
    await post(app, 'claude', text(CURSOR))
    const page = await (await fetch(`${app.url}/agents`)).text()
    t.match(page, /Not understood/)
    t.match(page, /Cursor through the hooks of claude sent preToolUse that Casefile cannot read/)
    t.match(page, /cursor_version, workspace_roots, hook_event_name/)
  })
})
