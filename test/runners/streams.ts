import t from 'tap'
import { retryText } from '../../src/model/agent-retry.ts'
import { createBoundedMap } from '../../src/runners/agents/bounded-map.ts'
import { createDenials } from '../../src/runners/agents/denials.ts'
import { createLines } from '../../src/runners/agents/jsonl.ts'
import { createReadableOutput } from '../../src/runners/agents/readable-output.ts'
import type { StreamEnd, StreamNote } from '../../src/runners/streams/agent-stream.ts'
import { STREAM_FORMATS } from '../../src/runners/streams/formats.ts'

type Format = keyof typeof STREAM_FORMATS

interface Told {
  notes: string[]
  /** What a person is shown. */
  text: string
  end: StreamEnd
}

/** What a format makes of the events; a text is a line as it stands, `!` in front one of stderr. */
function told(format: Format, lines: readonly (object | string)[]): Told {
  let text = ''
  const shownOutput = createReadableOutput({
    write(more) {
      text += more
    },
    clean: (whole) => whole.replaceAll('s3cret', '[redacted KEY]'),
    workdir: '/work',
  })
  const stream = STREAM_FORMATS[format](shownOutput)
  const notes: StreamNote[] = []
  for (const line of lines) {
    const words = typeof line === 'string' ? line : JSON.stringify(line)
    const found = words.startsWith('!') ? stream.errorLine?.(words.slice(1)) : stream.line(words)
    for (const note of found ?? []) shownOutput.note(note)
    notes.push(...(found ?? []))
  }
  return { notes: notes.map(shown), text, end: stream.end() }
}

function shown({ event, fields }: StreamNote): string {
  if (event === 'agent_session') return `session ${fields.agent_session}`
  if (event === 'agent_plan')
    return `plan ${fields.entries.map(({ content, status }) => `${content}:${status}`).join(' ')}`
  if (event === 'agent_retry') return retryText({ ...fields })
  const { tool, kind = '-', title = '-' } = fields
  const how = event === 'denied' ? fields.reason : fields.status
  return `${event} ${tool} ${kind} ${title} ${how}`
}

const notShown = () =>
  createReadableOutput({ write: () => {}, clean: (text) => text, workdir: '/work' })

const NOT_SAID = { ok: false, reason: 'ended without saying that it succeeded' }
const failed = (words: string) => ({ ok: false, reason: `failed, as it says: ${words}` })

type Case = [name: string, lines: (object | string)[], notes: string[], end: Partial<StreamEnd>]

function cases(format: Format, table: readonly Case[]): void {
  t.test(format, async (t) => {
    for (const [name, lines, notes, end] of table) {
      t.test(name, async (t) => {
        const found = told(format, lines)
        t.strictSame(found.notes, notes)
        t.match(found.end, end)
        if (end.verdict) t.strictSame(found.end.verdict, end.verdict)
      })
    }
  })
}

t.test('what is not known is no error, in any format', async (t) => {
  const types = [
    ...['assistant', 'user', 'system', 'result', 'message', 'tool_use', 'tool_result', 'text'],
    ...['item.started', 'item.completed', 'turn.failed', 'error', 'session.error', 'init'],
    ...['assistant.message', 'tool.execution_start', 'tool.execution_complete', 'thread.started'],
  ]
  const strange: (object | string)[] = [
    ...['', 'Warning: no colours', '{', '{"type":', '[]', 'null', '7', '"text"', '{}'],
    ...[{ type: 'new' }, { type: null }, { type: 7, data: [] }, { type: { a: 1 } }],
    ...types.flatMap((type) => [
      { type },
      { type, message: 7, data: 'x', part: [null], item: null, error: 'x' },
      { type, message: { content: [null, 7, 'x', {}] }, data: null, item: { type: 7 } },
      { type, item: { type: 'file_change', changes: [null, 'x'] }, part: { state: 'x' } },
    ]),
  ]
  for (const format of Object.keys(STREAM_FORMATS) as Format[]) {
    t.doesNotThrow(() => told(format, [...strange, '!', '!x', '!{}']), format)
  }
})

const claudeCall = (id: string, name: string, input: object) => ({
  type: 'assistant',
  message: { content: [{ type: 'tool_use', id, name, input }] },
})
const claudeResult = (id: string, is_error?: boolean) => ({
  message: { content: [{ tool_use_id: id, type: 'tool_result', content: 'x', is_error }] },
  type: 'user',
})
const claudeRefused = (tool_use_id: string, content: unknown = ASKED) => ({
  type: 'user',
  message: { content: [{ type: 'tool_result', tool_use_id, is_error: true, content }] },
})
const ASKED = "Claude requested permissions to write to /etc/x, but you haven't granted it yet."
const claudeDenied = (tool_name: string, tool_use_id?: string) => ({
  ...{ type: 'system', subtype: 'permission_denied', message: 'no', tool_name },
  ...(tool_use_id ? { tool_use_id } : {}),
})
const claudeText = (text: string, more: object = {}) => ({
  type: 'assistant',
  message: { content: [{ type: 'text', text }] },
  ...more,
})
const claudeDone = { type: 'result', subtype: 'success', is_error: false, result: 'P' }

cases('claude', [
  [
    'a plan',
    [
      { session_id: 's1', subtype: 'init', tools: [], type: 'system' },
      claudeText('I look.'),
      claudeText('for its agent', { parent_tool_use_id: 'toolu_9' }),
      claudeCall('1', 'Read', { file_path: 'a.txt' }),
      claudeResult('1'),
      claudeCall('2', 'TodoWrite', { todos: [{ content: 'one', status: 'pending' }] }),
      { duration_api_ms: 9, ...claudeDone, permission_denials: [] },
    ],
    [
      'session s1',
      'tool_call Read read a.txt in_progress',
      'tool_call Read read a.txt completed',
      'plan one:pending',
    ],
    { messages: ['I look.', 'P'], plan: null, verdict: { ok: true } },
  ],
  [
    'denials told at once and at the end count once',
    [
      claudeCall('1', 'Write', { file_path: '/b' }),
      {
        type: 'system',
        subtype: 'permission_denied',
        tool_name: 'Write',
        tool_use_id: '1',
        message: 'not granted',
      },
      claudeResult('1', true),
      claudeCall('2', 'Bash', { command: 'make' }),
      claudeResult('2', true),
      {
        ...claudeDone,
        permission_denials: [
          { tool_name: 'Write', tool_use_id: '1', tool_input: { file_path: '/b' } },
          { tool_name: 'WebFetch', tool_use_id: '3', tool_input: { url: 'http://x' } },
        ],
      },
    ],
    [
      'tool_call Write edit /b in_progress',
      'denied Write edit /b not granted',
      'tool_call Bash execute make in_progress',
      'tool_call Bash execute make failed',
      'denied WebFetch fetch http://x permission was not granted',
    ],
    { verdict: { ok: true } },
  ],
  [
    'what was not granted, and told nowhere else',
    [
      claudeCall('1', 'Write', { file_path: '/etc/x' }),
      claudeRefused('1'),
      claudeRefused('unseen', [{ type: 'text', text: ASKED }]),
      claudeCall('2', 'Bash', { command: 'cat /etc/shadow' }),
      claudeRefused('2', 'cat: /etc/shadow: Permission denied'),
      { ...claudeDone, permission_denials: [] },
    ],
    [
      'tool_call Write edit /etc/x in_progress',
      `denied Write edit /etc/x ${ASKED}`,
      `denied  - - ${ASKED}`,
      'tool_call Bash execute cat /etc/shadow in_progress',
      'tool_call Bash execute cat /etc/shadow failed',
    ],
    { verdict: { ok: true } },
  ],
  [
    'a denial without its id counts once',
    [
      claudeDenied('Write'),
      claudeRefused('1'),
      claudeDenied('Bash'),
      claudeDenied('Bash'),
      claudeDenied('Read', '5'),
      {
        ...claudeDone,
        permission_denials: [
          { tool_name: 'Bash', tool_use_id: '2' },
          { tool_name: 'Bash' },
          { tool_name: 'Bash', tool_use_id: '4' },
          { tool_name: 'Read' },
        ],
      },
    ],
    [
      'denied Write edit - no',
      `denied  - - ${ASKED}`,
      'denied Bash execute - no',
      'denied Bash execute - no',
      'denied Read read - no',
      'denied Bash execute - permission was not granted',
    ],
    { verdict: { ok: true } },
  ],
  [
    'one denial, told with its id, without, and with it again',
    [
      claudeCall('1', 'Write', {}),
      claudeRefused('1'),
      claudeDenied('Write'),
      { ...claudeDone, permission_denials: [{ tool_name: 'Write', tool_use_id: '1' }] },
    ],
    ['tool_call Write edit - in_progress', `denied Write edit - ${ASKED}`],
    { verdict: { ok: true } },
  ],
  [
    'kept in plan mode, it has planned',
    [
      claudeCall('1', 'ExitPlanMode', { plan: '# My plan' }),
      claudeResult('1', true),
      {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        permission_denials: [{ tool_name: 'ExitPlanMode', tool_use_id: '1' }],
      },
    ],
    [
      'tool_call ExitPlanMode - {"plan":"# My plan"} in_progress',
      'tool_call ExitPlanMode - {"plan":"# My plan"} failed',
      'denied ExitPlanMode - - permission was not granted',
    ],
    { plan: '# My plan', verdict: { ok: true, anyExit: true } },
  ],
  [
    'an error after another denial is one',
    [
      {
        type: 'result',
        subtype: 'error_during_execution',
        is_error: true,
        errors: ['No conversation found'],
        permission_denials: [{ tool_name: 'Bash', tool_use_id: '1' }],
      },
    ],
    ['denied Bash execute - permission was not granted'],
    { verdict: failed('No conversation found') },
  ],
  [
    'an error in a success',
    [{ ...claudeDone, is_error: true, result: 'API Error: 401' }],
    [],
    { messages: [], verdict: failed('API Error: 401') },
  ],
  [
    'a limit',
    [{ type: 'result', subtype: 'error_max_turns', is_error: false }],
    [],
    { verdict: failed('error_max_turns') },
  ],
  ['no last event', [claudeText('P')], [], { messages: ['P'], verdict: NOT_SAID }],
])

const codexItem = (phase: string, item: object) => ({ type: `item.${phase}`, item })
const codexCommand = (status: string, exit_code: number | null, aggregated_output = '') => ({
  id: 'item_1',
  type: 'command_execution',
  command: "bash -lc 'ls'",
  aggregated_output,
  exit_code,
  status,
})

cases('codex', [
  [
    'a plan, with a warning that is no failure',
    [
      { type: 'thread.started', thread_id: 'th' },
      codexItem('completed', { type: 'error', message: 'Model metadata not found' }),
      { type: 'turn.started' },
      codexItem('completed', { type: 'agent_message', text: 'I look.' }),
      codexItem('started', codexCommand('in_progress', null)),
      codexItem('completed', codexCommand('failed', 4)),
      codexItem('started', { type: 'todo_list', items: [{ text: 'one', completed: false }] }),
      codexItem('updated', { type: 'todo_list', items: [{ text: 'one', completed: true }] }),
      codexItem('completed', { type: 'agent_message', text: 'P' }),
      { type: 'turn.completed', usage: {} },
    ],
    [
      'session th',
      "tool_call shell execute bash -lc 'ls' in_progress",
      "tool_call shell execute bash -lc 'ls' failed",
      'plan one:pending',
      'plan one:completed',
    ],
    { messages: ['I look.', 'P'], verdict: { ok: true } },
  ],
  [
    'what its policy refuses',
    [
      codexItem('completed', codexCommand('declined', null)),
      codexItem('completed', {
        type: 'file_change',
        changes: [
          { path: 'a', kind: 'add' },
          { path: 'b', kind: 'add' },
        ],
        status: 'completed',
      }),
      '!2026-11-21T01:00:03Z ERROR codex_core::tools::router: error=patch rejected: read-only',
      '!2026-11-21T01:00:03Z ERROR codex_core::tools::router: error=exec_command failed: rejected: rm',
      '!2026-11-21T01:00:03Z ERROR codex_core::tools::router: error=unsupported call: update_plan',
      { type: 'turn.completed' },
    ],
    [
      "denied shell execute bash -lc 'ls' declined by its own policy",
      'tool_call patch edit a, b completed',
      'denied patch - - patch rejected: read-only',
      'denied shell - - exec_command failed: rejected: rm',
    ],
    { verdict: { ok: true } },
  ],
  [
    'what was rejected, and what failed',
    [
      ...[
        'exec_command failed: rejected by user approval settings',
        'exec command rejected by user',
        'touch: cannot touch b: Permission denied',
        'said: rejected by user\nmake: *** [all] Error 1',
      ].map((words) => codexItem('completed', codexCommand('failed', -1, words))),
      { type: 'turn.completed' },
    ],
    [
      "denied shell execute bash -lc 'ls' exec_command failed: rejected by user approval settings",
      "denied shell execute bash -lc 'ls' exec command rejected by user",
      "tool_call shell execute bash -lc 'ls' failed",
      "tool_call shell execute bash -lc 'ls' failed",
    ],
    { verdict: { ok: true } },
  ],
  [
    'a failed turn',
    [
      { type: 'error', message: 'stream' },
      { type: 'turn.failed', error: { message: '400' } },
    ],
    [],
    { verdict: failed('400') },
  ],
  [
    'a connection made again',
    [{ type: 'error', message: 'Reconnecting... 1/5' }, { type: 'turn.completed' }],
    [],
    { verdict: { ok: true } },
  ],
  ['only an error', [{ type: 'error', message: 'stream' }], [], { verdict: failed('stream') }],
  [
    'no last event',
    [codexItem('completed', { type: 'agent_message', text: 'P' })],
    [],
    { messages: ['P'], verdict: NOT_SAID },
  ],
])

const geminiSays = (content: string) => ({
  type: 'message',
  role: 'assistant',
  content,
  delta: true,
})
const geminiUse = (id: string, tool_name: string, parameters: object) => ({
  type: 'tool_use',
  tool_name,
  tool_id: id,
  parameters,
})
const geminiDone = (id: string, error?: object) => ({
  type: 'tool_result',
  tool_id: id,
  status: error ? 'error' : 'success',
  ...(error ? { error } : {}),
})

cases('gemini', [
  [
    'a plan in parts',
    [
      { type: 'init', session_id: 'g1', model: 'auto' },
      { type: 'message', role: 'user', content: 'the prompt' },
      geminiSays('I '),
      geminiSays('look.'),
      geminiUse('1', 'read_file', { file_path: 'a.txt' }),
      geminiDone('1'),
      geminiUse('2', 'write_todos', { todos: [{ description: 'one', status: 'pending' }] }),
      geminiDone('2'),
      geminiSays('## Plan\n'),
      geminiSays('do'),
      { type: 'result', status: 'success' },
    ],
    [
      'session g1',
      'tool_call read_file read a.txt in_progress',
      'tool_call read_file read a.txt completed',
      'plan one:pending',
    ],
    { messages: ['I look.', '## Plan\ndo'], verdict: { ok: true } },
  ],
  [
    'a plan in its own folder of plans',
    [
      geminiUse('1', 'write_file', { file_path: '/h/.gemini/tmp/x/plans/p.md', content: 'P' }),
      geminiDone('1'),
      geminiUse('2', 'write_file', { file_path: '/h/.gemini/tmp/x/plans/q.md', content: 'Q' }),
      geminiDone('2', { type: 'file_write_failure', message: 'no space' }),
      { type: 'result', status: 'success' },
    ],
    [
      'tool_call write_file edit /h/.gemini/tmp/x/plans/p.md in_progress',
      'tool_call write_file edit /h/.gemini/tmp/x/plans/p.md completed',
      'tool_call write_file edit /h/.gemini/tmp/x/plans/q.md in_progress',
      'tool_call write_file edit /h/.gemini/tmp/x/plans/q.md failed',
    ],
    { messages: ['P'], verdict: { ok: true } },
  ],
  [
    'success with denied tools',
    [
      geminiUse('1', 'write_file', { file_path: 'b' }),
      geminiDone('1', { type: 'policy_violation', message: 'Tool execution denied by policy.' }),
      geminiUse('2', 'write_file', { file_path: '/b' }),
      geminiDone('2', { type: 'invalid_tool_params', message: 'Path not in workspace: /b' }),
      geminiUse('3', 'run_shell_command', { command: 'cat /root' }),
      geminiDone('3', { type: 'shell_execute_error', message: 'cat: Permission denied' }),
      { type: 'result', status: 'success' },
    ],
    [
      'tool_call write_file edit b in_progress',
      'denied write_file edit b Tool execution denied by policy.',
      'tool_call write_file edit /b in_progress',
      'denied write_file edit /b Path not in workspace: /b',
      'tool_call run_shell_command execute cat /root in_progress',
      'tool_call run_shell_command execute cat /root failed',
    ],
    { verdict: { ok: true } },
  ],
  [
    'a failure',
    [
      { type: 'error', severity: 'warning', message: 'loop' },
      { type: 'result', status: 'error', error: { type: 'unknown', message: '400' } },
    ],
    [],
    { verdict: failed('400') },
  ],
  ['no last event', [geminiSays('P')], [], { messages: ['P'], verdict: NOT_SAID }],
])

const openPart = (type: string, part: object) => ({ type, sessionID: 'ses_1', part })
const openTool = (tool: string, state: object) => openPart('tool_use', { tool, state })
const REJECTED = 'The user rejected permission to use this specific tool call.'

cases('opencode', [
  [
    'a plan',
    [
      openPart('step_start', {}),
      openPart('text', { text: 'I look.' }),
      openTool('read', { status: 'completed', input: { filePath: 'a.txt' } }),
      openTool('todowrite', {
        status: 'completed',
        input: { todos: [{ content: 'one', status: 'pending' }] },
      }),
      openPart('text', { text: 'P' }),
      openPart('step_finish', { reason: 'stop' }),
    ],
    [
      ...['session ses_1', 'session ses_1', 'session ses_1'],
      ...['tool_call read read a.txt completed', 'session ses_1', 'plan one:pending'],
      ...['session ses_1', 'session ses_1'],
    ],
    { messages: ['I look.', 'P'], verdict: { ok: true } },
  ],
  [
    'a rejection told twice counts once',
    [
      '!\u001b[93m! permission requested: bash (echo x > b.txt); auto-rejecting',
      { type: 'tool_use', part: { tool: 'bash', state: { status: 'error', error: REJECTED } } },
      { type: 'tool_use', part: { tool: 'edit', state: { status: 'error', error: REJECTED } } },
      'permission requested: edit (/b); auto-rejecting',
    ],
    [
      'denied bash execute echo x > b.txt permission requested: bash (echo x > b.txt); auto-rejecting',
      `denied edit edit - ${REJECTED}`,
    ],
    { verdict: { ok: false, reason: 'ended without an answer' } },
  ],
  [
    'what a rule forbids, and what fails',
    [
      {
        type: 'tool_use',
        part: {
          tool: 'write',
          state: {
            status: 'error',
            error: 'The user has specified a rule which prevents you from using this tool',
          },
        },
      },
      { type: 'tool_use', part: { tool: 'bash', state: { status: 'error', error: 'timeout' } } },
      openTool('bash', { status: 'error', error: 'permission denied by rule' }),
      openTool('read', { status: 'error', error: "EACCES: permission denied, open '/x'" }),
      { type: 'text', part: { text: 'done' } },
    ],
    [
      'denied write edit - The user has specified a rule which prevents you from using this tool',
      'tool_call bash execute - failed',
      'session ses_1',
      'denied bash execute - permission denied by rule',
      'session ses_1',
      'tool_call read read - failed',
    ],
    { verdict: { ok: true } },
  ],
  [
    'an error',
    [
      { type: 'text', part: { text: 'I look.' } },
      { type: 'error', error: { name: 'APIError', data: { message: 'scripted error' } } },
    ],
    [],
    { verdict: failed('scripted error') },
  ],
  ['nothing', [], [], { verdict: { ok: false, reason: 'ended without an answer' } }],
])

const copilotStart = (toolCallId: string, toolName: string, args: object) => ({
  type: 'tool.execution_start',
  data: { toolCallId, toolName, arguments: args },
})
const copilotDone = (toolCallId: string, success: boolean, code = 'failure', message = 'no') => ({
  type: 'tool.execution_complete',
  data: { toolCallId, success, ...(success ? {} : { error: { message, code } }) },
})

cases('copilot', [
  [
    'a plan',
    [
      { type: 'assistant.message_delta', data: { deltaContent: 'I lo' }, ephemeral: true },
      { type: 'assistant.message', data: { content: 'I look.' } },
      { type: 'assistant.message', data: { content: 'sub', parentToolCallId: 'x' } },
      copilotStart('1', 'view', { path: 'a.txt' }),
      copilotDone('1', true),
      { type: 'assistant.message', data: { content: 'P' } },
      { type: 'result', sessionId: 'c1', exitCode: 0 },
    ],
    ['tool_call view read a.txt in_progress', 'tool_call view read a.txt completed', 'session c1'],
    { messages: ['I look.', 'P'], verdict: { ok: true } },
  ],
  [
    'success with denied tools',
    [
      copilotStart('1', 'create', { path: '/d' }),
      copilotDone('1', false, 'denied'),
      copilotStart('2', 'bash', { command: 'make' }),
      copilotDone('2', false),
      copilotStart('3', 'bash', { command: 'cat /x' }),
      copilotDone('3', false, 'failure', 'cat: /x: Permission denied'),
      copilotStart('4', 'bash', { command: 'touch x' }),
      copilotDone('4', false, '', 'The tool call was denied (no interactive user response)'),
      copilotDone('unseen', false, 'permission_denied', 'Permission denied'),
      copilotDone('unseen', false),
      { type: 'result', exitCode: 0 },
    ],
    [
      'tool_call create edit /d in_progress',
      'denied create edit /d no',
      'tool_call bash execute make in_progress',
      'tool_call bash execute make failed',
      'tool_call bash execute cat /x in_progress',
      'tool_call bash execute cat /x failed',
      'tool_call bash execute touch x in_progress',
      'denied bash execute touch x The tool call was denied (no interactive user response)',
      'denied  - - Permission denied',
    ],
    { verdict: { ok: true } },
  ],
  [
    'a failure',
    [
      { type: 'session.error', data: { message: '400 scripted error' } },
      { type: 'result', exitCode: 1 },
    ],
    [],
    { verdict: failed('400 scripted error') },
  ],
  ['no last event', [], [], { verdict: NOT_SAID }],
])

cases('plain', [
  [
    'all of it is one message',
    ['## Plan', '', '{"type":"result"}'],
    [],
    { messages: ['## Plan\n\n{"type":"result"}\n'], overlong: false, verdict: { ok: true } },
  ],
  ['nothing', [], [], { messages: [], verdict: { ok: true } }],
])

t.test('a message that is too long is not kept in part', async (t) => {
  const half = 'x'.repeat(600 * 1024)
  t.match(told('plain', [half, 'end']).end, { messages: [/^x+\nend\n$/], overlong: false })
  t.match(told('plain', [half, half, 'end']).end, { messages: [], overlong: true })
  const said = told('claude', [claudeText(half + half), claudeText('P'), claudeDone]).end
  t.match(said, { messages: ['P', 'P'], overlong: true })
  const much = told('claude', Array(5).fill(claudeText(half))).end
  t.equal(much.messages.length, 3, 'the oldest go')

  const stream = STREAM_FORMATS.plain(notShown())
  stream.line('## Plan')
  stream.dropped?.()
  stream.line('## Plan')
  t.match(stream.end(), { messages: [], overlong: true })
})

t.test('an agent that calls tools without end is remembered for its last ones', async (t) => {
  const map = createBoundedMap<number>(2)
  for (const [at, key] of ['a', 'b', 'a', 'c'.repeat(9_000_000)].entries()) map.set(key, at)
  t.strictSame(map.entries(), [
    ['b', 1],
    ['c'.repeat(200), 3],
  ])
  t.equal(map.get(`${'c'.repeat(200)}d`), 3)

  const events: Record<'claude' | 'copilot' | 'gemini', (id: string) => [object, object]> = {
    claude: (id) => [
      { type: 'assistant', message: { content: [{ type: 'tool_use', id, name: 'Bash' }] } },
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id }] } },
    ],
    copilot: (toolCallId) => [
      { type: 'tool.execution_start', data: { toolCallId, toolName: 'bash' } },
      { type: 'tool.execution_complete', data: { toolCallId, success: true } },
    ],
    gemini: (tool_id) => [
      { type: 'tool_use', tool_id, tool_name: 'bash' },
      { type: 'tool_result', tool_id, status: 'success' },
    ],
  }
  for (const [format, of] of Object.entries(events) as [
    keyof typeof events,
    typeof events.claude,
  ][]) {
    const stream = STREAM_FORMATS[format](notShown())
    const line = (event: object) => stream.line(JSON.stringify(event))
    for (let at = 0; at <= 2000; at++) line(of(`${at}`)[0])
    t.strictSame(line(of('0')[1]), [], `${format}: the first is forgotten`)
    t.match(line(of('2000')[1]), [{ fields: { status: 'completed' } }], `${format}: not the last`)
  }

  const one = createDenials()
  one.add('Delete all\nof it.')
  t.equal(one.complaint(), 'was denied one of its actions: Delete all of it')
  const denials = createDenials()
  for (let at = 0; at < 2000; at++) denials.add(`tool-${at}`)
  t.match(denials.complaint(), /^was denied 2000 of its actions: tool-1500, .* and 1992 more$/)
})

t.test('lines, however the bytes are chunked', async (t) => {
  const text = 'één\r\n{"a":"日本"}\n\n  x\r\r\nlast 🙂'
  const expected = ['één', '{"a":"日本"}', '', '  x\r', 'last 🙂']
  const bytes = Buffer.from(text)
  for (const size of [1, 2, 3, 5, 7, bytes.length]) {
    const found: string[] = []
    const lines = createLines({ line: (line) => found.push(line), dropped: () => t.fail() })
    for (let at = 0; at < bytes.length; at += size) lines.write(bytes.subarray(at, at + size))
    lines.end()
    t.strictSame(found, expected, `chunks of ${size}`)
  }
})

t.test('a line that is too long is dropped whole, once, and what follows is read', async (t) => {
  const found: string[] = []
  const lines = createLines(
    { line: (line) => found.push(line), dropped: () => found.push('-') },
    10,
  )
  for (const part of ['0123456789\n', '0123456789', '0\n', 'x\n', '01234567890123456789']) {
    lines.write(Buffer.from(part))
  }
  lines.end()
  t.strictSame(found, ['0123456789', '-', 'x', '-'])

  const early: string[] = []
  createLines({ line: () => {}, dropped: () => early.push('-') }, 10).write(Buffer.alloc(11))
  t.strictSame(early, ['-'], 'told before it ends, if it ever does')

  const before = process.memoryUsage().rss
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const all = createLines({ line: () => t.fail(), dropped: () => found.push('400 MB') })
  for (let sent = 0; sent < 400_000_000; sent += chunk.length) all.write(Buffer.from(chunk))
  all.end()
  t.equal(found.at(-1), '400 MB')
  const grown = (process.memoryUsage().rss - before) / 1e6
  t.ok(grown < 150, `grown by ${Math.round(grown)} MB`)
})
