import t from 'tap'
import { retryText } from '../../src/model/agent-retry.ts'
import { STREAMS, type StreamName } from '../../src/model/settings.ts'
import { createBoundedMap } from '../../src/runners/agents/bounded-map.ts'
import { codexRecord } from '../../src/runners/agents/codex/record.ts'
import { createDenials } from '../../src/runners/agents/denials.ts'
import { createLines } from '../../src/runners/agents/jsonl.ts'
import type { ParsedEnd, ParsedNote } from '../../src/runners/agents/parser-kit.ts'
import { createReadableOutput } from '../../src/runners/agents/readable-output.ts'
import { parserFor } from '../../src/runners/agents/registry.ts'
import { transcriptsOf } from '../fixtures/agents/transcripts.ts'

/*
 * What the parsers make of lines that differ from what real agents printed; of that see readings.ts. Where a line differs from what was recorded, `altered` says in what. Lines that are written here are hostile, or of
 * settings that no session uses.
 */

type Format = StreamName

interface Told {
  notes: string[]
  /** What a person is shown. */
  text: string
  end: ParsedEnd
}

/** What a format makes of the events; a text is a line as it stands, `!` in front one of stderr. */
function reported(format: Format, lines: readonly (object | string)[]): Told {
  let text = ''
  const shownOutput = createReadableOutput({
    write(more) {
      text += more
    },
    clean: (whole) => whole.replaceAll('s3cret', '[redacted KEY]'),
    workdir: '/project',
  })
  const stream = parserFor(format)(shownOutput)
  const notes: ParsedNote[] = []
  const isRecord = (line: object | string) => typeof line === 'object' && 'record' in line
  for (const line of lines.filter((each) => !isRecord(each))) {
    const words = typeof line === 'string' ? line : JSON.stringify(line)
    const found = words.startsWith('!') ? stream.errorLine?.(words.slice(1)) : stream.line(words)
    for (const note of found ?? []) shownOutput.note(note)
    notes.push(...(found ?? []))
  }
  const record = lines.filter(isRecord).map((line) => JSON.stringify((line as Line).record))
  notes.push(
    ...(stream.unsent?.(record.length > 0 ? codexRecord(record.join('\n'), 0) : null) ?? []),
  )
  const all = notes.map(shown)
  // some repeat it with every line
  const isNews = (note: string, at: number) =>
    !note.startsWith('session ') || all.indexOf(note) === at
  return { notes: all.filter(isNews), text, end: stream.end() }
}

/** What an agent printed in a scene, a line of stderr with `!` in front. */
function recorded(format: Format, scene: string): (object | string)[] {
  const lines = transcriptsOf(format).get(scene)?.lines ?? []
  return lines.flatMap((line) => {
    if ('out' in line) return [line.out as object | string]
    if ('record' in line) return [line]
    return 'err' in line && typeof line.err === 'string' ? [`!${line.err}`] : []
  })
}

/** The same with other lines: undefined takes one away. */
function altered(
  format: Format,
  scene: string,
  change: (line: Line) => object | undefined,
): (object | string)[] {
  return recorded(format, scene).flatMap((line) => {
    const copy = typeof line === 'string' ? line : change(structuredClone(line))
    return copy === undefined ? [] : [copy]
  })
}

function shown({ event, fields }: ParsedNote): string {
  if (event === 'agent_session') return `session ${fields.agent_session}`
  if (event === 'agent_plan')
    return `plan ${fields.entries.map(({ content, status }) => `${content}:${status}`).join(' ')}`
  if (event === 'agent_retry') return retryText({ ...fields })
  if (event === 'agent_transcript') return `transcript ${fields.path}`
  if (event === 'asked') return `asked ${fields.tool}`
  const { tool, kind = '-', title = '-' } = fields
  const how = event === 'denied' ? fields.reason : fields.status
  return `${event} ${tool} ${kind} ${title} ${how}`
}

const notShown = () =>
  createReadableOutput({ write: () => {}, clean: (text) => text, workdir: '/project' })

const NOT_SAID = { ok: false, reason: 'ended without saying that it succeeded' }
const failed = (words: string) => ({
  ok: false as const,
  reason: `failed: ${words}`,
  isSaid: true as const,
})

type Case = [
  name: string,
  lines: (object | string)[],
  notes: (string | RegExp)[],
  end: Partial<ParsedEnd>,
]
// biome-ignore lint/suspicious/noExplicitAny: each agent's own shape
type Line = any

function cases(format: Format, table: readonly Case[]): void {
  t.test(format, async (t) => {
    for (const [name, lines, notes, end] of table) {
      t.test(name, async (t) => {
        const found = reported(format, lines)
        const wanted = notes.map((note, at) => {
          const isMet = typeof note !== 'string' && note.test(found.notes[at] ?? '')
          return isMet ? found.notes[at] : note
        })
        t.strictSame(found.notes, wanted)
        t.match(found.end, end)
        if (end.verdict) t.strictSame(found.end.verdict, end.verdict)
      })
    }
  })
}

t.test('what is not known is no error, in any format', async (t) => {
  const types = [
    'assistant',
    'user',
    'system',
    'result',
    'message',
    'tool_use',
    'tool_result',
    'text',
    'item.started',
    'item.completed',
    'turn.failed',
    'error',
    'session.error',
    'init',
    'assistant.message',
    'tool.execution_start',
    'tool.execution_complete',
    'thread.started',
  ]
  const strange: (object | string)[] = [
    '',
    'Warning: no colours',
    '{',
    '{"type":',
    '[]',
    'null',
    '7',
    '"text"',
    '{}',
    { type: 'new' },
    { type: null },
    { type: 7, data: [] },
    { type: { a: 1 } },
    ...types.flatMap((type) => [
      { type },
      { type, message: 7, data: 'x', part: [null], item: null, error: 'x' },
      { type, message: { content: [null, 7, 'x', {}] }, data: null, item: { type: 7 } },
      { type, item: { type: 'file_change', changes: [null, 'x'] }, part: { state: 'x' } },
    ]),
  ]
  for (const format of STREAMS) {
    t.doesNotThrow(() => reported(format, [...strange, '!', '!x', '!{}']), format)
  }
})

const PLAN =
  'I looked.\n\n<!-- casefile:plan -->\n## Hypothesis\n\nThe limit is too low.\n\n## Plan\n\n1. Raise the limit.\n<!-- /casefile:plan -->'
const UUID = '00000000-0000-4000-8000-000000000001'

const NOT_GRANTED =
  "Claude requested permissions to write to /elsewhere/made.txt, but you haven't granted it yet."
const claudeEnd = (fields: object) => (line: Line) =>
  line.type === 'result' ? { ...line, ...fields } : line

cases('claude', [
  [
    'a denial reported at the end alone, as older ones do',
    altered('claude', 'denied-write', (line) => {
      return line.subtype === 'permission_denied' ? undefined : line
    }),
    [
      `session ${UUID}`,
      'tool_call Write edit /elsewhere/made.txt in_progress',
      'tool_call Write edit /elsewhere/made.txt failed',
      'denied Write edit /elsewhere/made.txt permission was not granted',
    ],
    { verdict: { ok: true } },
  ],
  [
    'kept in plan mode, it has planned',
    altered(
      'claude',
      'plan-own-tool',
      claudeEnd({
        subtype: 'error_during_execution',
        is_error: true,
        permission_denials: [{ tool_name: 'ExitPlanMode', tool_use_id: 'unseen' }],
      }),
    ),
    [
      `session ${UUID}`,
      'tool_call ExitPlanMode - - in_progress',
      'tool_call ExitPlanMode - - failed',
      'denied ExitPlanMode - - permission was not granted',
    ],
    { plan: '1. Raise the limit.', verdict: { ok: true, anyExit: true } },
  ],
  [
    'an error after another denial is one',
    altered(
      'claude',
      'denied-write',
      claudeEnd({
        subtype: 'error_during_execution',
        is_error: true,
        result: undefined,
        errors: ['No conversation found'],
      }),
    ),
    [
      `session ${UUID}`,
      'tool_call Write edit /elsewhere/made.txt in_progress',
      `denied Write edit /elsewhere/made.txt ${NOT_GRANTED}`,
    ],
    { verdict: failed('No conversation found') },
  ],
  [
    'no last event',
    altered('claude', 'plan', (line) => (line.type === 'result' ? undefined : line)),
    [`session ${UUID}`],
    { messages: [PLAN], verdict: NOT_SAID },
  ],
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
    'a list, which it keeps with models that it knows',
    [
      codexItem('started', { type: 'todo_list', items: [{ text: 'one', completed: false }] }),
      codexItem('updated', { type: 'todo_list', items: [{ text: 'one', completed: true }] }),
      { type: 'turn.completed' },
    ],
    ['plan one:pending', 'plan one:completed'],
    { verdict: { ok: true } },
  ],
  [
    'what its policy declines',
    altered('codex', 'failing-command', (line) =>
      line.item?.status === 'failed'
        ? { ...line, item: { ...line.item, status: 'declined', exit_code: -1 } }
        : line,
    ),
    [
      `session ${UUID}`,
      'tool_call shell execute echo broken; exit 3 in_progress',
      'denied shell execute echo broken; exit 3 declined by its own policy',
    ],
    { verdict: { ok: true } },
  ],
  [
    'the same without a record: no command or path',
    recorded('codex', 'refused-by-policy').filter(
      (line) => !JSON.stringify(line).includes('"record"'),
    ),
    [
      `session ${UUID}`,
      'denied shell - - rm -f style commands are not permitted. Use a safer approach',
      'denied patch - - patch rejected: writing outside of the project; rejected by user approval settings',
    ],
    { verdict: { ok: true } },
  ],
  [
    'a record that does not mark what was sent',
    altered('codex', 'refused-other-way', (line) =>
      JSON.stringify(line).includes('item_completed') ? undefined : line,
    ),
    [
      `session ${UUID}`,
      'tool_call patch edit /project/app.js in_progress',
      'tool_call patch edit /project/app.js completed',
    ],
    { verdict: { ok: true } },
  ],
  ['only an error', [{ type: 'error', message: 'stream' }], [], { verdict: failed('stream') }],
  [
    'no last event',
    altered('codex', 'plan', (line) => (line.type === 'turn.completed' ? undefined : line)),
    [`session ${UUID}`],
    { messages: [PLAN], verdict: NOT_SAID },
  ],
])

const geminiResult = (error: object) => (line: Line) =>
  line.type === 'tool_result' ? { ...line, status: 'error', error } : line

cases('gemini', [
  [
    'a plan in parts',
    recorded('gemini', 'plan').flatMap((line) => {
      if (typeof line === 'string' || (line as Line).role !== 'assistant') return [line]
      return PLAN.split(/(?<=\n)/).map((content) => ({ ...line, content }))
    }),
    [`session ${UUID}`],
    { messages: [PLAN], verdict: { ok: true } },
  ],
  [
    'a plan in its own folder of plans, where its own plan mode allows that',
    altered('gemini', 'plan-own-tool', (line) =>
      line.type === 'tool_result' ? { ...line, status: 'success', error: undefined } : line,
    ),
    [
      `session ${UUID}`,
      `tool_call write_file edit /home/me/.gemini/tmp/work/${UUID}/plans/p.md in_progress`,
      `tool_call write_file edit /home/me/.gemini/tmp/work/${UUID}/plans/p.md completed`,
    ],
    { messages: ['1. Raise the limit.', 'It is handed in.'], verdict: { ok: true } },
  ],
  [
    'what a policy denies',
    altered(
      'gemini',
      'failing-command',
      geminiResult({ type: 'policy_violation', message: 'Tool execution denied by policy.' }),
    ),
    [
      `session ${UUID}`,
      'tool_call run_shell_command execute echo broken; exit 3 in_progress',
      'denied run_shell_command execute echo broken; exit 3 Tool execution denied by policy.',
    ],
    { verdict: { ok: true } },
  ],
  ...['path_not_in_workspace', 'sandbox_expansion_required'].map(
    (type): Case => [
      `a denial of the type ${type}`,
      altered('gemini', 'failing-command', geminiResult({ type, message: 'x' })),
      [
        `session ${UUID}`,
        'tool_call run_shell_command execute echo broken; exit 3 in_progress',
        'denied run_shell_command execute echo broken; exit 3 x',
      ],
      { verdict: { ok: true } },
    ],
  ),
  [
    'what the system denies to a command',
    altered(
      'gemini',
      'failing-command',
      geminiResult({ type: 'shell_execute_error', message: 'cat: Permission denied' }),
    ),
    [
      `session ${UUID}`,
      'tool_call run_shell_command execute echo broken; exit 3 in_progress',
      'tool_call run_shell_command execute echo broken; exit 3 failed',
    ],
    { verdict: { ok: true } },
  ],
  [
    'no last event',
    altered('gemini', 'plan', (line) => (line.type === 'result' ? undefined : line)),
    [`session ${UUID}`],
    { messages: [PLAN], verdict: NOT_SAID },
  ],
])

const copilotError = (error: object) => (line: Line) => {
  if (line.type === 'tool.execution_complete') Object.assign(line.data, { success: false, error })
  return line
}

cases('copilot', [
  ...(
    [
      ['a denial by its code', 'permission_denied', 'Permission denied', 'denied'],
      ['what the system denies to a command', 'failure', 'cat: /x: Permission denied', 'failed'],
      ['a failure of a command', 'failure', 'no', 'failed'],
    ] as const
  ).map(([name, code, message, how]): Case => {
    const facts = 'bash execute echo broken; exit 3'
    return [
      name,
      altered('copilot', 'failing-command', copilotError({ message, code })),
      [
        `tool_call ${facts} in_progress`,
        how === 'denied' ? `denied ${facts} ${message}` : `tool_call ${facts} failed`,
        `session ${UUID}`,
      ],
      { verdict: { ok: true } },
    ]
  }),
  [
    'a denial of a call that was not seen',
    [
      {
        type: 'tool.execution_complete',
        data: { success: false, error: { message: 'Permission denied', code: 'denied' } },
      },
    ],
    ['denied  - - Permission denied'],
    { verdict: NOT_SAID },
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

t.test('what a person is shown', async (t) => {
  const command = (output: string, status = 'completed') => [
    codexItem('started', codexCommand('in_progress', null)),
    codexItem('completed', codexCommand(status, status === 'failed' ? 1 : 0, output)),
  ]
  const lines = Array.from({ length: 3000 }, (_, at) => `${at + 1}\n`).join('')
  t.equal(reported('codex', command(lines)).text, '→ shell ls\n  ok: 3000 lines, the last: 3000\n')
  t.equal(
    reported('codex', command('\u001b[31mred\u001b[0m\rdone')).text,
    '→ shell ls\n  ok: 2 lines, the last: done\n',
  )
  t.equal(reported('codex', ['Not JSON.', '{"type":"new"}']).text, 'Not JSON.\n', 'as it is')
  const long = `${'a'.repeat(290)} s3cret ${'b'.repeat(9000)}`
  t.match(reported('codex', command(long, 'failed')).text, /failed: exit 1 a+ \[r … b{300}\n$/)
  t.notMatch(reported('codex', command(long, 'failed')).text, 's3c', 'half a secret is none')
  const cut = `x\n${' '.repeat(49_995)}s3cret${' '.repeat(60_000)}\nend`
  t.match(reported('codex', command(cut, 'failed')).text, /failed: exit 1 x end\n$/)

  const [first, second] = command('x').map((event) => JSON.stringify(event))
  const other = JSON.stringify(
    codexItem('started', { ...codexCommand('in_progress', null), id: '2' }),
  )
  t.equal(
    reported('codex', [first!, other, second!]).text,
    '→ shell ls\n→ shell ls\n  ok (shell ls): x\n',
    'the result of a call that is not the last',
  )
})

t.test('opencode says only in its log that it asks its model again', async (t) => {
  const log = (level: string, message: string, more = '') =>
    `timestamp=2026-11-24T15:31:50.784Z level=${level} run=fb3dc929 message=${message} providerID=x small=false agent=build${more}`
  const asked = log('INFO', 'stream')
  const failure = log('ERROR', '"stream error"', ' error.error="AI_APICallError: scripted 500"')
  const lines = [asked, failure, asked, failure, asked, failure].map((line) => `!${line}`)
  t.strictSame(reported('opencode', lines).notes, [
    'the model did not answer correctly (scripted 500), attempt 1',
    'the model did not answer correctly (scripted 500), attempt 2',
  ])
  const step = (type: string, part: object) => ({ type, sessionID: 's', part })
  const nothing = [step('step_start', {}), step('step_finish', { reason: 'unknown' })]
  const said = [nothing[0]!, { type: 'text', sessionID: 's', part: { text: 'x' } }, nothing[1]!]
  t.strictSame(reported('opencode', said).notes, ['session s'], 'it has answered')
  t.strictSame(reported('opencode', [...nothing, ...nothing]).notes, [
    'session s',
    ...Array(2).fill('the model did not answer correctly (its answer was empty), trying again'),
  ])
})

t.test('a message that is too long is not kept in part', async (t) => {
  const half = 'x'.repeat(600 * 1024)
  t.match(reported('plain', [half, 'end']).end, { messages: [/^x+\nend\n$/], overlong: false })
  t.match(reported('plain', [half, half, 'end']).end, { messages: [], overlong: true })
  const [words] = altered('claude', 'plan', (line) =>
    line.type === 'assistant' ? line : undefined,
  )
  const says = (text: string) => ({
    ...(words as Line),
    message: { content: [{ type: 'text', text }] },
  })
  const lines = recorded('claude', 'plan')
  const said = reported('claude', [says(half + half), ...lines]).end
  t.match(said, { messages: [PLAN, PLAN], overlong: true })
  const much = reported('claude', Array(5).fill(says(half))).end
  t.equal(much.messages.length, 3, 'the oldest go')

  const stream = parserFor('plain')(notShown())
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
    const stream = parserFor(format)(notShown())
    const line = (event: object) => stream.line(JSON.stringify(event))
    for (let at = 0; at <= 2000; at++) line(of(`${at}`)[0])
    t.strictSame(line(of('0')[1]), [], `${format}: the first is forgotten`)
    t.match(line(of('2000')[1]), [{ fields: { status: 'completed' } }], `${format}: not the last`)
  }

  const one = createDenials()
  one.add('Delete all\nof it.')
  t.equal(one.summary(), 'was denied one of its actions: Delete all of it')
  const twice = createDenials()
  for (const name of ['a', 'b', 'a']) twice.add(name)
  t.equal(twice.summary(), 'was denied 3 of its actions: a 2 times, b')
  t.equal(createDenials().summary(), null)
  const denials = createDenials()
  for (let at = 0; at < 2000; at++) denials.add(`tool-${at}`)
  t.match(denials.summary(), /^was denied 2000 of its actions: tool-1500, .* and 1992 more$/)
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
})
