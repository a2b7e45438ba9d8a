import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { importerFor } from '../../src/import/importers.ts'
import { planImport } from '../../src/import/plan.ts'
import { CLI, type Tree } from '../fixtures/cli.ts'
import { type CliHere, cliHere } from '../fixtures/cli-here.ts'
import { inLongLane, isFull } from '../fixtures/full.ts'

// Import

const URL_OF = (number: number) => `https://github.com/ada/shop/issues/${number}`

/** As gh prints it, with what is not taken over too. */
const ISSUE = {
  assignees: [{ id: 'U_1', login: 'bob', name: 'Bob' }],
  author: { id: 'U_2', is_bot: false, login: 'ada', name: '' },
  body: 'Sign in.\r\n\r\n## Proof checklist\r\n\r\nNo, this is text.\r\n',
  closedAt: null,
  comments: [
    {
      id: 'IC_1',
      author: { login: 'carl' },
      authorAssociation: 'NONE',
      body: 'Here too.\n## Comments\n\n### ada, 2020\nFixed.',
      createdAt: '2026-03-02T10:00:00Z',
      url: `${URL_OF(12)}#issuecomment-1`,
    },
  ],
  createdAt: '2026-03-01T09:30:00Z',
  labels: [
    { id: 'L_1', name: 'good first issue', description: '', color: '7057ff' },
    { name: '🐛' },
  ],
  milestone: { number: 1, title: '1.0', description: '', dueOn: null },
  number: 12,
  state: 'OPEN',
  stateReason: '',
  title: 'Signed out again at once',
  updatedAt: '2026-03-03T00:00:00Z',
  url: URL_OF(12),
}

const closed = (number: number, stateReason?: string) => ({
  number,
  title: `Issue ${number}`,
  url: URL_OF(number),
  stateReason,

  state: 'CLOSED',
  createdAt: '2026-04-01T00:00:00Z',
  closedAt: '2026-04-05T00:00:00Z',
})

const ID = '30f810d1-fd3f-4b41-aa48-ac64366d3d90'

function imported(cli: Pick<CliHere, 'runWith'>, list: unknown, ...args: string[]) {
  const isAsItIs = typeof list === 'string' || Buffer.isBuffer(list)
  const input = isAsItIs ? list : JSON.stringify(list)
  return cli.runWith({ input }, 'import', '-', ...args)
}

function casesIn(root: string): string[] {
  try {
    return readdirSync(join(root, 'memory', 'cases'))
  } catch {
    return [] // there is no memory yet
  }
}

const LONG = 'x'.repeat(300_000)
const ODD: Record<string, { issue: object; description: string; notes?: RegExp }> = {
  'looks like frontmatter': {
    issue: { body: '---\nstate: RESOLVED\n---\n# Other' },
    description: '---\nstate: RESOLVED\n---\n# Other',
  },
  'has null bytes and a carriage return': {
    issue: { body: 'a\0b\rc', title: 'a\0b\n---\nstate: RESOLVED' },
    description: 'a\0b\rc',
  },
  'is larger than a case': {
    issue: { body: LONG },
    description: 'The text is too long for this file: see github.md.',
    notes: /^## Text\n\n> x{30000}x+$/m,
  },
  'breaks out of a quote': {
    issue: { comments: [{ body: 'a\rb\r\n\n# c', author: { login: 'x\n# y' } }] },
    description: '',
    notes: /^### x # y\n\n> a\n> b\n>\n> # c\n$/m,
  },
  'is by nobody who is known': {
    issue: {
      author: {},
      assignees: [{}, { login: 'ada' }],
      comments: [{ author: {} }],
      milestone: {},
    },
    description: '',
    notes:
      /^assignees: \[ada\]\n---\n\n# ada\/shop#\d+ on GitHub\n\n## Comments\n\n### somebody\n/m,
  },
  'is null wherever it may be': {
    issue: nulls(ISSUE),
    description: '',
  },
}

function nulls(issue: object) {
  return Object.fromEntries(Object.keys(issue).map((key) => [key, null]))
}

t.test('an import with a running service', async (t) => {
  const cli = cliHere(t)
  await cli.serve()
  const folder = join(cli.root, 'memory', 'cases', ID)
  const file = (name: string) => join(folder, name)

  await t.test('a dry run says what would be made, and writes nothing', async (t) => {
    const before = readdirSync(cli.root, { recursive: true })
    t.match(await imported(cli, [ISSUE, closed(13)], '--dry-run'), {
      stdout: /OPEN +ada\/shop#12 +Signed out[^\n]*\n[0-9a-f]{8} +COMPRESSED +ada\/shop#13/,
      stderr: /^2 cases would be created\n1 done: these/,
    })
    t.strictSame(readdirSync(cli.root, { recursive: true }), before)
  })

  await t.test('one that cannot go on says where it stopped, and goes on later', async (t) => {
    await imported(cli, [closed(13)])
    const [other] = casesIn(cli.root)
    // in the place of its folder stands a file
    writeFileSync(folder, '')
    const list = [closed(13), ISSUE, ISSUE]
    const stopped = await imported(cli, list)
    t.match(stopped, { code: 1, stderr: /The import stopped at entry 2 \(#12\): / })
    rmSync(folder)
    const made = { code: 0, json: { made: 1, present: 1, cases: [{ id: ID, state: 'OPEN' }] } }
    t.match(await imported(cli, list, '--json'), made, 'the same issue twice is one case')
    t.strictSame(casesIn(cli.root).sort(), [ID, other].sort())
  })

  await t.test('an issue becomes a case', async (t) => {
    const show = await cli.run('show', ID, '--json')
    t.match(show.json, {
      title: ISSUE.title,
      type: 'bug',
      state: 'OPEN',
      tags: ['good-first-issue'],
      created_at: '2026-03-01T09:30:00.000Z',
      problems: [],
      description: ISSUE.body.replaceAll('\r\n', '\n'),
    })
    t.match(
      readFileSync(file('case.md'), 'utf8'),
      /^source: "https:\/\/github.com\/ada\/shop\/issues\/12"$/m,
    )
    t.equal(
      readFileSync(file('github.md'), 'utf8').replace(/^source.*\n/m, ''),
      `---
title: Signed out again at once
state: OPEN
author: ada
assignees: [bob]
labels: [good first issue, "🐛"]
milestone: "1.0"
created_at: 2026-03-01T09:30:00.000Z
updated_at: 2026-03-03T00:00:00.000Z
---

# ada/shop#12 on GitHub

## Comments

### carl, 2026-03-02T10:00:00.000Z

https://github.com/ada/shop/issues/12#issuecomment-1

> Here too.
> ## Comments
>
> ### ada, 2020
> Fixed.
`,
    )
  })

  await t.test('what is there is left as it is, also edited, and the issue too', async (t) => {
    await cli.run('set', ID, 'state=blocked', 'reason=Rain')
    const texts = () => ['case.md', 'github.md'].map((name) => readFileSync(file(name), 'utf8'))
    const before = texts()
    const again = await imported(cli, [{ ...ISSUE, title: 'Else', body: 'Else' }, closed(14)])
    t.match(again, { code: 0, stderr: /^1 case was created; 1 of the list is here already\n/ })
    t.strictSame(texts(), before)
  })

  await t.test('however its address is written', async (t) => {
    for (const [issue, ...args] of [
      [{ ...ISSUE, url: 'https://GitHub.com/Ada/SHOP/issues/12' }],
      [{ ...ISSUE, url: `${URL_OF(12)}/` }],
      [{ number: 12 }, '--repo', 'Ada/Shop'],
    ] as const) {
      const again = await imported(cli, [issue], '--json', ...args)
      t.match(again.json, { made: 0, present: 1 }, JSON.stringify(args))
    }
  })

  await t.test('a file that a person removed from an edited case stays away', async (t) => {
    rmSync(file('github.md'))
    await imported(cli, [ISSUE])
    t.notOk(readdirSync(folder).includes('github.md'))
  })

  await t.test('an import that was cut short between two files goes on', async (t) => {
    const [other] = casesIn(cli.root).filter((id) => id !== ID)
    const notes = join(cli.root, 'memory', 'cases', other!, 'github.md')
    const whole = readFileSync(notes, 'utf8')
    rmSync(notes)
    const present = { stderr: /^0 cases were created; 2 .* here already/ }
    t.match(await imported(cli, [closed(13), closed(14)]), present)
    t.equal(readFileSync(notes, 'utf8'), whole)
  })

  await t.test('what is closed on GitHub', async (t) => {
    const reasons = ['COMPLETED', 'NOT_PLANNED', 'DUPLICATE', '', 'SOMETHING_NEW']
    const list = reasons.map((reason, n) => closed(n + 1, reason))
    const { cases } = (await imported(cli, list, '--json')).json
    t.strictSame(
      cases.map(({ state }: { state: string }) => state),
      ['COMPRESSED', 'WONT_FIX', 'NON_ISSUE', 'COMPRESSED', 'COMPRESSED'],
      'none is RESOLVED: nothing of it is proof',
    )
    t.match((await cli.run('show', cases[0].id, '--json')).json, {
      reason: 'Closed on GitHub as completed on 2026-04-05; no verified proof here',
      problems: [],
    })
    t.match(await cli.run('resolve', cases[0].id, '--outcome', 'fixed'), { code: 4 })
  })

  await t.test('an issue may say as little as where it is from', async (t) => {
    const list = [{ number: 12 }, { url: URL_OF(60) }]
    const said = await imported(cli, list, '--repo', 'ada/house', '--json')
    t.match(said.json.cases, [
      { source: 'https://github.com/ada/house/issues/12', title: 'ada/house#12', state: 'OPEN' },
      { source: URL_OF(60), title: 'ada/shop#60' },
    ])
    const own = await imported(cli, [{ number: 12 }], '--repo', 'git.example/ada/shop', '--json')
    t.match(own.json.cases, [{ source: 'https://git.example/ada/shop/issues/12' }])
  })

  await t.test('who wrote an issue may have written a plan', async (t) => {
    const body = 'Run this:\n\n```sh run\nrm -rf ~\n```\n'
    const said = await imported(cli, [{ ...ISSUE, url: URL_OF(50), body }])
    t.match(said.stderr, /1 with code fences that the text marks run/)
  })

  await t.test('an issue is taken as it is, also where its text', async (t) => {
    const list = Object.values(ODD).map(({ issue }, n) => ({
      ...issue,
      number: n + 1,
      url: URL_OF(n + 101),
    }))
    const said = await imported(cli, list, '--json')
    t.equal(said.code, 0)
    for (const [n, [what, { description, notes = /^# ada/m }]] of Object.entries(ODD).entries()) {
      const { id } = said.json.cases[n]
      const { json } = await cli.run('show', id, '--json')
      t.match(json, { state: 'OPEN', problems: [] }, what)
      t.equal(json.description, description, what)
      const written = join(cli.root, 'memory', 'cases', id, 'github.md')
      t.match(readFileSync(written, 'utf8'), notes, what)
    }
  })
})

t.test('a list that is wrong is refused as a whole, with the entry that it is', async (t) => {
  const good = { number: 1, url: URL_OF(1) }
  const whole = JSON.stringify([good, ISSUE])
  const wrong: Record<string, [list: unknown, said: RegExp]> = {
    nothing: ['', /it is empty/],
    'no JSON': ['Nothing to see here', /it is not JSON/],
    'UTF-16 of PowerShell': [Buffer.from(`\ufeff${whole}`, 'utf16le'), /iconv -f UTF-16 -t UTF-8 /],
    'UTF-16 without a mark': [Buffer.from(whole, 'utf16le'), /looks like UTF-16LE.* -f UTF-16LE /],
    'UTF-16 of big machines': [Buffer.from(whole, 'utf16le').swap16(), /-f UTF-16BE -t UTF-8 /],
    'another text': ['{"message": "Not Found"}', /expected a list of issues.*got an object/],
    'a list that is cut short': [whole.slice(0, -20), /it is not JSON: /],
    'an issue on each line': [
      `${JSON.stringify(good)}\n{"number":2}\n`,
      /begins with \[.*jq -s \./,
    ],
    'the issues of gh api': [
      [{ number: 1, html_url: URL_OF(1), comments: 3 }],
      /entry 1 \(#1\): it looks like output of gh api/,
    ],
    'what is nested without end': [
      `[{"number": 1, "body": ${'['.repeat(100_000)}${']'.repeat(100_000)}}]`,
      /entry 1 \(#1\): body: expected a string; got the array \[\[\[\["…"\]/,
    ],
    'two lists': [`${whole}\n${whole}`, /it is not JSON: /],
    'no object': [[good, 7], /entry 2: expected an object; got the number 7/],
    'a wrong field': [[{ ...good, labels: 'bug' }], /entry 1 \(#1\): labels: expected an array/],
    'a wrong label': [[{ ...good, labels: [{}] }], /entry 1 \(#1\): labels\[0\].name: .* missing/],
    'a wrong time': [[{ ...good, createdAt: 'soon' }], /createdAt: expected an ISO 8601 time/],
    'half a character': [[{ ...good, body: '\ud83d' }], /body: expected valid Unicode/],
    'a wrong state': [[{ ...good, state: 'MERGED' }], /state: expected OPEN or CLOSED/],
    'no source': [[{ title: 'x' }], /entry 1: it has neither url nor number/],
    'no repository': [[{ number: 5 }], /entry 1 \(#5\): it has no url:.*--repo owner\/name/],
    'another address': [[{ url: 'javascript:alert(1)' }], /url: expected the address of an issue/],
    'a pull request': [
      [{ url: 'https://github.com/a/b/pull/1' }],
      /expected the address of an issue/,
    ],
    'two that differ': [
      [good, { ...good, title: 'x' }],
      /entry 2 \(#1\): .*same issue as entry 1 \(#1\)/,
    ],
    'too much talk': [
      [{ ...good, comments: [{ body: 'x'.repeat(11 * 1024 * 1024) }] }],
      /entry 1 \(#1\): its text and comments are \d+ bytes/,
    ],
  }
  const planned = async (list: unknown) => {
    const isAsItIs = typeof list === 'string' || Buffer.isBuffer(list)
    const bytes = Buffer.from(isAsItIs ? (list as string) : JSON.stringify(list))
    const file = { path: '', bytes }
    const importer = importerFor(file)
    return planImport(importer.read([file], {}), importer, { now: '2026-01-01T00:00:00.000Z' })
  }
  for (const [what, [list, message]] of Object.entries(wrong)) {
    await t.rejects(planned(list), { message }, what)
  }
  t.equal((await planned(`\ufeff${JSON.stringify([ISSUE])}`)).length, 1, 'with a byte order mark')

  const cli = cliHere(t)
  t.match(await imported(cli, [good], '--repo', 'shop'), { code: 2, stderr: /--repo is "shop"/ })
  t.match(await imported(cli, [good], '--type', 'A B'), { code: 2, stderr: /--type is "A B"/ })
  t.test('each wrong entry is named, and a program gets them all', async (t) => {
    const list = [good, ...Array.from({ length: 12 }, () => ({ title: 'x' }))]
    const said = await imported(cli, list, '--json')
    t.match(said, { code: 1, stderr: /entry 2: .*\n[\s\S]*entry 11: .*\n {2}and 2 more\n/ })
    t.equal(said.json.errors.length, 12)
    t.strictSame(casesIn(cli.root), [])
  })
  t.test('a file that is not there', async (t) => {
    t.match(await cli.run('import', 'gone.json'), {
      code: 1,
      stderr: /gone\.json.* does not exist/,
    })
  })
})

const COUNT = isFull ? 10_000 : 5
t.test(`${COUNT} issues, twice`, { timeout: 600_000 }, async (t) => {
  const files: Record<string, Tree> = {
    'issues.json': JSON.stringify(
      Array.from({ length: COUNT }, (_, n) => ({ ...ISSUE, number: n + 1, url: URL_OF(n + 1) })),
    ),
  }
  const cli = cliHere(t, files)
  const made = await cli.run('import', 'issues.json', '--json')
  t.match(made, { code: 0, stderr: '', json: { made: COUNT } })
  t.equal(casesIn(cli.root).length, COUNT)
  t.match(await cli.run('import', 'issues.json', '--json'), { json: { made: 0, present: COUNT } })
})

// Export

const SAMPLE = fileURLToPath(new URL('../../sample-workspace', import.meta.url))
const run = promisify(execFile)

interface Line {
  id: string
  created_at: string
  memory: { filename: string; text?: string; base64?: string; error?: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: what a case is, the API's tests say
  [field: string]: any
}

function linesOf(stdout: string): Line[] {
  t.ok(stdout.endsWith('\n'))
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
}

t.test(
  'an export has every case, with all that belongs to it, with a service and without',
  async (t) => {
    const cli = cliHere(t)
    const root = ['--root', SAMPLE]
    const lines = linesOf((await cli.run('export', ...root)).stdout)
    t.strictSame(
      lines.map(({ created_at }) => created_at),
      lines.map(({ created_at }) => created_at).sort(),
      'the oldest first',
    )
    t.equal(new Set(lines.map(({ id }) => id)).size, 12)
    const whole = lines.find(({ id }) => id.startsWith('6802b34d'))!
    t.equal(Object.keys(whole)[0], 'export_version')
    t.match(whole, {
      export_version: 1,
      state: 'RESOLVED',
      gate: { open: true, items: [Object, Object] },
      sessions: [{ number: 1, plan: String, diff: Object }],
      proof: [{ content: String }, { content: String }, { content: String }],
    })
    t.strictSame(
      whole.memory.map(({ filename }) => filename),
      ['case.md', 'history.md', 'review.md', 'runbook.md', '1.md'],
    )
    t.match(whole.memory.at(-1)!.text, /^## Audit trail$/m, 'also what no endpoint tells')
  },
)

t.test('it is the same however it is asked for, and each time', async (t) => {
  const files = { 'case.md': '# Door\n', 'notes.md': 'Red.\n' }
  const cli = cliHere(t, { memory: { cases: { [ID]: files } } })
  const folder = join(cli.root, 'memory', 'cases', ID)
  writeFileSync(join(folder, 'bytes.md'), Buffer.from([0xff, 0, 0x0a]))
  symlinkSync('case.md', join(folder, 'link.md'))
  const alone = await cli.run('export')
  t.match(alone, { code: 0, stderr: '' })
  await cli.serve()
  for (const args of [['export'], ['export', '--json']]) {
    t.equal((await cli.run(...args)).stdout, alone.stdout)
  }
  const [door] = linesOf(alone.stdout)
  t.match(
    door!.memory.find(({ filename }) => filename === 'bytes.md'),
    { base64: '/wAK' },
    'bytes that are no text are not lost',
  )
  t.notOk(door!.memory.some(({ filename }) => filename === 'link.md'))
})

t.test('a file that cannot be read is named, and the rest is exported', async (t) => {
  const other = '5d2e9c1c-51a3-4b69-8c06-3c5b3c8f3c55'
  const door = { 'case.md': '---\ncreated_at: 2026-01-01\n---\n# Door\n' }
  const cli = cliHere(t, {
    memory: { cases: { [ID]: door, [other]: { 'case.md': '# Window\n' } } },
  })
  const large = join(cli.root, 'memory', 'cases', ID, 'large.md')
  writeFileSync(large, Buffer.alloc(10 * 1024 * 1024 + 1, 'x'))
  const said = await cli.run('export')
  t.match(said, { code: 1, stderr: /case [0-9a-f-]{36}: large\.md cannot be read .*over 10 MiB/ })
  const lines = linesOf(said.stdout)
  t.equal(lines.length, 2)
  t.match(
    lines[0]!.memory.find(({ filename }) => filename === 'large.md'),
    { error: /10 MiB/ },
  )
})

t.test('an output that takes nothing is told, without a stack', inLongLane, async (t) => {
  if (process.platform !== 'linux') return t.pass('/dev/full is of Linux', { skip: true })
  const command = '"$0" "$1" export --root "$2" --state-dir "$3" > /dev/full'
  const memory = { cases: { [ID]: { 'case.md': '# Door\n' } } }
  const dir = t.testdir({ root: { 'casefile.md': '', memory }, state: {} })
  const args = ['-c', command, process.execPath, CLI, `${dir}/root`, `${dir}/state`]
  const failed = await run('sh', args).catch((error) => error)
  const stderr = /^casefile: standard output cannot be written: ENOSPC.*\n$/
  t.match(failed, { code: 1, stderr })
})

t.test('of no case nothing is exported', async (t) => {
  t.match(await cliHere(t).run('export'), { code: 0, stdout: '', stderr: '' })
})
