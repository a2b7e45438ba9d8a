import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { readSettings } from '../../src/markdown/settings-file.ts'
import { DEFAULT_SETTINGS, STREAMS } from '../../src/model/settings.ts'
import { trustedText } from '../../src/model/trust.ts'
import { settingsWith, writeSettings } from '../../src/settings/change-settings.ts'
import { createSettings } from '../../src/settings/settings.ts'
import { createTrustFile } from '../../src/settings/trust-file.ts'

const front = (...lines: string[]) => `---\n${lines.join('\n')}\n---\n`

function settingsOf(text: string) {
  const reading = readSettings(text)
  if (!reading.ok) throw new Error(reading.problem.message)
  return reading.settings
}

t.test('every setting is read', async (t) => {
  const text = `${front(
    '# a comment',
    'provider: mine',
    'timeout: { plan: 90s, work: 1h }',
    'env: [DATABASE_URL, _x, DATABASE_URL]',
    'steps:',
    '  - true',
    "  - 'npm test'",
    'providers:',
    '  mine: { kind: command, plan: [node, agent.mjs, --port, 8080], work: [node, ""], prompt: file }',
    '  short: { kind: command, plan: [a] }',
    '  known: { kind: command, plan: [a], stream: claude }',
    '  plain: { kind: command, plan: [a], stream: plain }',
    '  other: { kind: acp, command: [my-agent, --acp], plan_mode: plan, work_mode: "https://x#code" }',
    '  bare: { kind: acp, command: [my-agent] }',
    '  claude: { preset: claude, args: [--model, opus] }',
    '  same: { preset: claude }',
    'tests: npm run all',
    "checklist: ['All tests pass (test-log, required)']",
    'sign_approvals: true',
    'hide: [.env, keys/]',
    'cache: [~/.cache, /opt/cache]',
    'sandbox: { hosts: [packages.example.org, "*.example.com"] }',
    "reading_tools: [mcp__docs__search, 'mcp__wiki__*']",
    "reading_commands: ['npm test']",
    "standing: [{ paths: ['docs/**'], proof: [npm test] }, { commands: [make fmt] }]",
    'parallel: 16',
    'isolation: worktree',
    'memory_root: ../record',
  )}\n# Instructions\n\nBe brief.\n`
  const { providers, lines, ...settings } = settingsOf(text)
  t.strictSame(settings, {
    provider: 'mine',
    timeout: { plan: 90_000, work: 3_600_000, step: 600_000, retries: 300_000 },
    notify: [],
    env: ['DATABASE_URL', '_x'],
    steps: ['true', 'npm test'],
    tests: 'npm run all',
    checklist: ['All tests pass (test-log, required)'],
    signApprovals: true,
    hide: ['.env', 'keys/'],
    cache: ['~/.cache', '/opt/cache'],
    sandbox: { hosts: ['packages.example.org', '*.example.com'] },
    readingTools: ['mcp__docs__search', 'mcp__wiki__*'],
    readingCommands: ['npm test'],
    standing: [
      { paths: ['docs/**'], commands: [], proof: ['npm test'] },
      { paths: [], commands: ['make fmt'], proof: [] },
    ],
    parallel: 16,
    isolation: 'worktree',
    memoryRoot: '../record',
    instructions: '# Instructions\n\nBe brief.',
    faulty: [],
    problems: [],
  })
  t.strictSame(Object.fromEntries(providers), {
    mine: {
      kind: 'command',
      plan: ['node', 'agent.mjs', '--port', '8080'],
      work: ['node', ''],
      prompt: 'file',
    },
    short: { kind: 'command', plan: ['a'], work: null, prompt: 'stdin' },
    known: { kind: 'command', plan: ['a'], work: null, prompt: 'stdin', stream: 'claude' },
    plain: { kind: 'command', plan: ['a'], work: null, prompt: 'stdin' },
    other: {
      kind: 'acp',
      command: ['my-agent', '--acp'],
      planMode: 'plan',
      workMode: 'https://x#code',
    },
    bare: { kind: 'acp', command: ['my-agent'], planMode: null, workMode: null },
    claude: { preset: 'claude', kind: 'preset', args: ['--model', 'opus'] },
    same: { preset: 'claude', kind: 'preset', args: [] },
  })
  t.match([lines.get('provider'), lines.get('providers')], [3, 9])
})

t.test('a file may say little', async (t) => {
  const texts: [name: string, text: string, instructions: string][] = [
    ['only a body', '# Hello\n', '# Hello'],
    ['an empty frontmatter', '---\n---\nHello', 'Hello'],
    ['keys without a value', front('provider:', 'timeout: { plan: }', 'providers:', 'env:'), ''],
    ['a BOM and CRLF', '\ufeff---\r\nsteps: []\r\n---\r\nHello\r\n', 'Hello'],
  ]
  for (const [name, text, instructions] of texts) {
    t.test(name, async (t) => {
      t.strictSame({ ...settingsOf(text), lines: new Map() }, { ...DEFAULT_SETTINGS, instructions })
    })
  }
})

const COMMAND = '{ kind: command, plan: [a], work: [b] }'

const bad: [text: string, line: number, message: RegExp][] = [
  ['parallel: 0', 2, /^parallel: found "?0"?, expected a number from 1 to 16$/],
  ['parallel: 17', 2, /^parallel: found "?17"?, expected a number from 1 to 16$/],
  [
    'provider: runbook\nprovidr: x',
    3,
    /^providr is not known \(found "x"\), expected one of provider, timeout, env, steps, tests, checklist, providers, notify, sign_approvals, hide, cache, sandbox, reading_tools, reading_commands, standing, parallel, isolation, memory_root$/,
  ],
  ['provider: my agent', 2, /^provider: found "my agent", expected a word/],
  ['provider: [a]', 2, /^provider: found \["a"\], expected a word/],
  ['timeout:\n  plan: 30m\n  work: 30', 4, /^timeout\.work: found 30, expected a duration/],
  ['timeout: { step: 25h }', 2, /^timeout\.step: found "25h"/],
  [
    'timeout:\n\n  wrok: 2h',
    4,
    /^timeout\.wrok is not known \(found "2h"\), expected one of plan, work, step, retries$/,
  ],
  ['timeout: 2h', 2, /^timeout: found "2h", expected a mapping of plan, work, step, retries/],
  ['env: DATABASE_URL', 2, /^env: found "DATABASE_URL", expected a list of names/],
  ['env:\n  - GOOD\n  - A=B', 4, /^env\[1\]: found "A=B", expected the name/],
  ['steps: npm test', 2, /^steps: found "npm test", expected a list of commands/],
  ['steps:\n  - npm test\n  -', 4, /^steps\[1\]: found null, expected a command/],
  ['steps: [{ run: x }]', 2, /^steps\[0\]: found \{"run":"x"\}/],
  ['providers: [mine]', 2, /^providers: found \["mine"\], expected a mapping of names/],
  ['providers:\n  a: x', 3, /^providers\.a: found "x", expected \{ kind: command, .* or \{ preset/],
  ['providers:\n  a: { plan: [x] }', 3, /^providers\.a: found .*expected \{ kind: command/],
  [
    'providers:\n  a:\n    kind: shell',
    4,
    /^providers\.a\.kind: found "shell", expected command or acp$/,
  ],
  [
    'providers:\n  a:\n    kind: command\n    plan: [x]\n    promt: stdin\n    work: [x]',
    6,
    /^providers\.a\.promt is not known \(found "stdin"\), expected one of kind, plan, work, prompt, stream$/,
  ],
  [
    'providers: { a: { kind: acp, command: [x], prompt: stdin } }',
    2,
    /^providers\.a\.prompt is not known .* expected one of kind, command, plan_mode, work_mode$/,
  ],
  [
    'providers: { a: { kind: acp, command: my agent } }',
    2,
    /^providers\.a\.command: found "my agent", expected a command as a list/,
  ],
  ['providers: { a: { kind: acp, command: [] } }', 2, /^providers\.a\.command: found \[\]/],
  [
    'providers: { a: { kind: acp, command: ["", x] } }',
    2,
    /^providers\.a\.command: found \["","x"\]/,
  ],
  [
    'providers: { a: { kind: acp, command: [x, {prompt}] } }',
    2,
    /^providers\.a\.command\[1\]: found \{"prompt":null\}, expected a text/,
  ],
  ['providers: { a: { kind: acp, command: [x, "\\0"] } }', 2, /^providers\.a\.command\[1\]/],
  [
    'providers:\n  a: { kind: command, work: [x] }',
    3,
    /^providers\.a: plan is missing, expected a command/,
  ],
  [
    'providers: { a: { kind: command, plan: [x], work: [x], prompt: env } }',
    2,
    /^providers\.a\.prompt: found "env", expected one of stdin, argument, file$/,
  ],
  [
    'providers: { a: { kind: command, plan: [x], stream: json } }',
    2,
    new RegExp(`^providers\\.a\\.stream: found "json", expected one of ${STREAMS.join(', ')}$`),
  ],
  ['providers: { a: { kind: acp, command: [x], plan_mode: [x] } }', 2, /^providers\.a\.plan_mode/],
  [
    'providers: { a: { preset: x, kind: acp } }',
    2,
    /^providers\.a\.kind is not known .* expected one of preset, args$/,
  ],
  [
    'providers: { a: { preset: [x] } }',
    2,
    /^providers\.a\.preset: found \["x"\], expected the name of a preset/,
  ],
  ['providers: { a: { preset: } }', 2, /^providers\.a: preset is missing/],
  [
    'providers: { a: { preset: x, args: --fast } }',
    2,
    /^providers\.a\.args: found "--fast", expected a list of arguments/,
  ],
  [
    'providers:\n  My Agent: { kind: command, plan: [a], work: [b] }',
    3,
    /^providers\.My Agent: found .*expected it under a name that is a word/,
  ],
  [
    'providers:\n  runbook: { kind: command, plan: [a], work: [b] }',
    3,
    /^providers\.runbook: .*runbook is reserved$/,
  ],
  ['memory_root: []', 2, /^memory_root: found \[\], expected a folder$/],
  ['hide: .env', 2, /^hide: found "\.env", expected a list of files and folders, such as \[\.env/],
  ['cache:\n  - "  "', 3, /^cache\[0\]: .* expected a file or folder/],
  [
    'sandbox: off',
    2,
    /^sandbox: found "?(?:off|false)"?, expected mounts, none or \{ hosts: \[packages\.example\.org\] \}$/,
  ],
  [
    'sandbox: { hosts: ["https://example.com"] }',
    2,
    /^sandbox\.hosts\[0\]: .* expected the name of a host/,
  ],
  ['sandbox: { hosts: [a], ports: [1] }', 2, /^sandbox\.ports is not known/],
]

t.test('a wrong setting is a problem, and counts as not set', async (t) => {
  for (const [text, line, message] of bad) {
    const settings = settingsOf(front(text))
    const problem = { code: 'bad_settings', file: 'casefile.md', line, message }
    t.match(settings.problems, [problem], text)
    t.equal(settings.problems.length, 1, text)
    t.notOk(settings.providers.has('a') || settings.providers.has('runbook'), text)
    t.strictSame(settings.steps, [], text)
  }

  t.test('the rest of the file counts', async (t) => {
    const settings = settingsOf(
      front(
        'timeout: { plan: 1m, work: soon }',
        'env: [GOOD, A=B]',
        'providers:',
        `  good: ${COMMAND}`,
        '  bad: { kind: command, plan: [a], work: b }',
        'nonsense: true',
        "steps: ['npm test']",
      ),
    )
    t.strictSame(settings.timeout, { ...DEFAULT_SETTINGS.timeout, plan: 60_000 })
    t.strictSame(settings.env, ['GOOD'])
    t.strictSame([...settings.providers.keys()], ['good'])
    t.strictSame(settings.faulty, ['bad'])
    t.strictSame(settings.steps, ['npm test'])
    t.strictSame(
      settings.problems.map(({ line }) => line),
      [2, 3, 6, 7],
    )
  })

  t.test('a long value is shown in part', async (t) => {
    const [problem] = settingsOf(front(`provider: ${'x '.repeat(5000)}`)).problems
    t.ok(problem!.message.length < 300)
  })
})

/** A workspace with this casefile.md, and what reads it. */
function opened(t: Test, text: string | Buffer) {
  const root = t.testdir({ 'casefile.md': text })
  const path = join(root, 'casefile.md')
  return { root, path, settings: createSettings(root) }
}

const timeouts = (plan: string) => front(`timeout: { plan: ${plan} }`)

t.test('the file is read again when it has changed', async (t) => {
  const { path, settings } = opened(t, timeouts('1m'))
  const plan = async () => (await settings()).timeout.plan
  t.equal(await plan(), 60_000)
  for (let round = 1; round < 10; round++) {
    writeFileSync(path, timeouts(`${round}s`)) // of the same length, within one tick of the clock
    t.equal(await plan(), round * 1000)
  }
  rmSync(path)
  t.strictSame(await settings(), DEFAULT_SETTINGS)
  writeFileSync(path, timeouts('3m'))
  t.equal(await plan(), 180_000)
})

const broken: [name: string, text: string | Buffer, code: string, line: number | null][] = [
  ['nothing', '', 'unreadable', null],
  ['only blanks', ' \n\n', 'unreadable', null],
  ['only the first dashes', '--', 'unreadable', null],
  ['an open frontmatter', '---\ntimeout: { plan: 5m }\n', 'bad_frontmatter', 1],
  ['half a mapping', front('provider: runbook', 'timeout: { plan: 5m'), 'bad_frontmatter', 3],
  ['an alias', front('steps: &a [x]', 'env: *a'), 'bad_frontmatter', 3],
  ['a key that stands twice', front('timeout:', '  plan: 1m', '  plan: 2m'), 'duplicate_key', 4],
  [
    'conflict markers',
    `${front('<<<<<<< HEAD', 'provider: a', '=======', 'provider: b', '>>>>>>> theirs')}`,
    'merge_conflict',
    2,
  ],
  [
    'conflict markers in the body',
    `${timeouts('5m')}<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n`,
    'merge_conflict',
    4,
  ],
  ['no UTF-8', Buffer.from(`${timeouts('5m')}caf\xe9\n`, 'latin1'), 'bad_encoding', 4],
  ['UTF-16 without a BOM', Buffer.from(timeouts('5m'), 'utf16le'), 'bad_encoding', 1],
  ['too much', `${timeouts('5m')}${'x'.repeat(256 * 1024)}`, 'too_large', null],
  ['too much frontmatter', front(`# ${'x'.repeat(70_000)}`), 'too_large', 1],
]

t.test('while the file is broken the last good settings count', async (t) => {
  const good = timeouts('7m')
  for (const [name, text, code, line] of broken) {
    t.test(name, async (t) => {
      const { path, settings } = opened(t, good)
      await settings()
      writeFileSync(path, text)
      for (const now of [await settings(), await settings()]) {
        t.equal(now.timeout.plan, 7 * 60_000)
        t.match(now.problems, [{ code, file: 'casefile.md', line }])
        t.match(now.problems[0]!.message, /the settings that it gave before count$/)
        t.equal(now.problems.length, 1)
      }
      writeFileSync(path, timeouts('8m'))
      t.match(await settings(), { timeout: { plan: 8 * 60_000 }, problems: { length: 0 } })
    })

    t.test(`${name}, at the start`, async (t) => {
      const now = await opened(t, text).settings()
      t.strictSame({ ...now, problems: [] }, DEFAULT_SETTINGS)
      t.match(now.problems, [{ code, line, message: /the defaults count$/ }])
    })
  }

  t.test('a link', async (t) => {
    const { root, path, settings } = opened(t, good)
    await settings()
    renameSync(path, join(root, 'elsewhere.md'))
    symlinkSync('elsewhere.md', path)
    t.match(await settings(), {
      timeout: { plan: 7 * 60_000 },
      problems: [{ code: 'symbolic_link' }],
    })
  })

  t.test('a save by rename, which leaves the name free for a moment', async (t) => {
    const { root, path, settings } = opened(t, good)
    await settings()
    renameSync(path, join(root, 'casefile.md~'))
    const now = settings()
    setTimeout(() => writeFileSync(path, timeouts('8m')), 5)
    t.match(await now, { timeout: { plan: 8 * 60_000 }, problems: { length: 0 } })
  })

  t.test('a text whose end is not written yet, by a clock of whole milliseconds', async (t) => {
    const { path, settings } = opened(t, `${good}\nBe brief.\n`)
    await settings()
    writeFileSync(path, timeouts('9m') + '\nBe ve')
    const { now } = Date
    t.teardown(() => {
      Date.now = now
    })
    // the stamp of a file is finer
    Date.now = () => statSync(path).ctimeMs - 0.7
    t.match(await settings(), { timeout: { plan: 7 * 60_000 }, instructions: 'Be brief.' })
  })

  t.test('a text whose end is not written yet', async (t) => {
    const { path, settings } = opened(t, `${good}\nBe brief.\n`)
    await settings()
    writeFileSync(path, timeouts('9m') + '\nBe ve')
    t.match(await settings(), { timeout: { plan: 7 * 60_000 }, instructions: 'Be brief.' })
    appendFileSync(path, 'ry brief.\n')
    t.match(await settings(), { timeout: { plan: 9 * 60_000 }, instructions: 'Be very brief.' })
  })
})

t.test('what is trusted is one text for each meaning', async (t) => {
  const text = (...lines: string[]) => trustedText(settingsOf(front(...lines)))
  const first = text(
    'env: [B, A]',
    'providers:',
    `  y: ${COMMAND}`,
    '  x: { preset: p, args: [q] }',
  )
  const same: [name: string, lines: string[]][] = [
    [
      'another order and layout',
      [
        'steps: [other]',
        'providers:',
        '  x: { args: ["q"], preset: "p" }',
        '  y:',
        '    prompt: stdin # the default',
        '    stream: plain # too',
        '    work: [b]',
        '    plan: [a]',
        '    kind: command',
        'env: [A, B, A]',
      ],
    ],
  ]
  for (const [name, lines] of same) t.equal(text(...lines), first, name)
  const others: [name: string, lines: string[]][] = [
    [
      'another word',
      [
        'env: [B, A]',
        'providers:',
        '  y: { kind: command, plan: [a], work: [c] }',
        '  x: { preset: p, args: [q] }',
      ],
    ],
    [
      'a provider more',
      [
        'env: [B, A]',
        'providers:',
        `  y: ${COMMAND}`,
        `  z: ${COMMAND}`,
        '  x: { preset: p, args: [q] }',
      ],
    ],
    ['a name less', ['env: [A]', 'providers:', `  y: ${COMMAND}`, '  x: { preset: p, args: [q] }']],
    [
      'words that look the same joined',
      ['env: [B, A]', 'providers:', `  y: ${COMMAND}`, '  x: { preset: p, args: ["q\\",\\"r"] }'],
    ],
  ]
  for (const [name, lines] of others) t.not(text(...lines), first, name)
  const wider = ['cache: [~/.cache]', 'sandbox: none', 'sandbox: { hosts: [a] }']
  t.equal(new Set(wider.map((line) => text(line))).size, 3, 'what lets runs do more')
  t.notOk(wider.map((line) => text(line)).includes(null))
  t.equal(text('hide: [.env]', 'cache: []', 'sandbox: mounts'), null, 'what takes away only')
  t.equal(text('steps: [x]', 'providers: { same: { preset: claude } }'), null, 'nothing to trust')
})

t.test('a change of casefile.md is made on the text that was read', async (t) => {
  const before = front('provider: runbook')
  const root = t.testdir({ 'casefile.md': before })
  const edit = { before, after: settingsWith(before, { provider: 'claude' }, '') }
  const saved = front('provider: codex')
  writeFileSync(join(root, 'casefile.md'), saved)
  await t.rejects(writeSettings(root, edit), { code: 'changed_meanwhile' })
  t.equal(readFileSync(join(root, 'casefile.md'), 'utf8'), saved)
})

t.test('what settings take away holds also where nothing can be trusted', async (t) => {
  const root = t.testdir({ state: {} })
  const trust = createTrustFile(join(root, 'state'), root, (line) => t.fail(line))
  const limits = { ...DEFAULT_SETTINGS, hide: ['.env'], signApprovals: true }
  await trust.restrict(limits)
  t.match(await trust.read(), {
    settings: null,
    restrictions: { hide: ['.env'], signApprovals: true },
  })
})
