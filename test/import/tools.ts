import fc from 'fast-check'
import t from 'tap'
import { caseIdFor } from '../../src/import/case-id.ts'
import { importerFor } from '../../src/import/importers.ts'
import type { InputFile, ReadOptions } from '../../src/import/item.ts'
import { type PlannedCase, planImport } from '../../src/import/plan.ts'
import { readCase } from '../../src/markdown/case-file.ts'
import { connect } from '../../src/state/sqlite.ts'
import {
  BACKLOG,
  BEADS,
  lines,
  TASKMASTER,
  VIBE_CSV,
  vibeZip,
  zip,
} from '../fixtures/imported-tasks.ts'

const fileOf = (path: string, content: string | Buffer, absolutePath: string | null = null) => ({
  path,
  absolutePath,
  bytes: Buffer.from(content),
})

const backlogFiles = (files = BACKLOG) =>
  Object.entries(files).map(([path, text]) => fileOf(path, text))

async function planned(files: InputFile[], options: ReadOptions = {}) {
  const sample = files.find(({ path }) => !path.endsWith('.yml'))!
  const importer = importerFor(sample)
  const read = importer.read(files, options)
  const { warnings } = read
  const cases = await planImport(read, importer, { now: '2026-01-01T00:00:00.000Z' })
  return { importer: importer.id, cases, warnings }
}

const withSource = (cases: readonly PlannedCase[], source: string) =>
  cases.find((each) => each.source === source)!

t.test('beads', async (t) => {
  const { importer, cases, warnings } = await planned([
    fileOf(
      'issues.jsonl',
      `${lines(BEADS)}\n${lines([
        { _type: 'memory', key: 'a' },
        { id: 'bd-x', status: 'tombstone' },
      ])}`,
    ),
  ])
  t.equal(importer, 'beads')
  t.match(warnings, [/^1 memories/, /^1 deleted/])
  const [undated] = (
    await planned([
      fileOf('a.jsonl', lines([{ ...BEADS[1]!, created_at: '0001-01-01T00:00:00Z' }])),
    ])
  ).cases
  t.equal(undated!.created_at, null, 'the year 1 is no time')
  const first = withSource(cases, 'beads:bd-a1b2')
  t.match(first.value, {
    title: 'Signed out again',
    type: 'bug',
    state: 'IMPLEMENTING',
    tags: ['good-first-issue', 'priority:0'],
    parent: withSource(cases, 'beads:bd-e1').id,
    created_at: '2026-03-01T09:30:00.000Z',
    checklist: [
      { description: 'The tests pass', type: 'test-log', required: false, checked: false },
      { description: 'Nobody waits', type: 'benchmark', required: true },
    ],
  })
  const { value, problems } = await readCase(first.caseText, { id: first.id, created_at: '' })
  t.strictSame(problems, [])
  t.equal(
    value!.description,
    `${BEADS[0]!.description}\n\n## Design\n\nKeep the clock.\n\n## Notes\n\nSeen twice.`,
  )
  for (const kept of [
    'assignee: bob',
    '- blocks: bd-z9 (case ',
    '> - [x] The tests pass',
    '### ada\n\n> Here too.\n> # Fixed',
    '"future_field": {',
    'updated_at: 2026-03-02T08:30:00.500Z',
  ]) {
    t.ok(first.notes.includes(kept), kept)
  }
  t.strictSame(
    cases.slice(2).map(({ value: { state, outcome, reason } }) => [state, outcome, reason]),
    [
      ['COMPRESSED', null, 'Closed in beads on 2026-04-05: Fixed by 7; no verified proof here'],
      ['WONT_FIX', 'WontFix', "Closed in beads: Won't fix: too old"],
      ['NON_ISSUE', 'Duplicate', 'Closed in beads: Duplicate of bd-c1'],
      ['WATCHLIST', null, 'Deferred in beads'],
    ],
  )
})

t.test('Task Master', async (t) => {
  const { importer, cases } = await planned([fileOf('tasks.json', JSON.stringify(TASKMASTER))])
  t.equal(importer, 'taskmaster')
  t.strictSame(
    cases.map(({ name, value }) => [name, value.state]),
    [
      ['1', 'VERIFYING'],
      ['1.1', 'COMPRESSED'],
      ['1.2', 'OPEN'],
      ['1.2#2', 'WONT_FIX'],
      ['2', 'BLOCKED'],
      ['beta/1', 'WATCHLIST'],
    ],
  )
  const [task, form, button] = cases
  t.equal(form!.value.parent, task!.id)
  t.match(form!.value.checklist, [{ description: 'It opens', required: false }])
  t.equal(
    task!.value.description,
    'With a name.\n\n## Details\n\nAsk for it.\n\n## Test strategy\n\nTry it.',
  )
  t.match(task!.notes, /"relevantFiles": \[/)
  t.ok(button!.notes.includes(`- 1.1 (case ${form!.id})\n- 1.2 (case ${button!.id})`))
  const old = await planned([
    fileOf('tasks.json', JSON.stringify({ tasks: TASKMASTER.master.tasks })),
  ])
  t.strictSame(
    old.cases.map(({ id }) => id),
    cases.slice(0, 5).map(({ id }) => id),
    'a file from before there were tags has the same tasks',
  )
})

t.test('a number with a dot in a subtask is no number of a sibling', async (t) => {
  const subtasks = [
    { id: '1.1', title: 'Form' },
    { id: '1.2', title: 'Button', dependencies: ['1.1'] },
  ]
  const tasks = [{ id: 1, title: 'Sign in', subtasks }]
  const { cases } = await planned([fileOf('tasks.json', JSON.stringify({ tasks }))])
  t.ok(cases[2]!.notes.includes(`- 1.1 (case ${cases[1]!.id})`), cases[2]!.notes)
})

t.test('a case whose text is too long', async (t) => {
  const details = 'x'.repeat(300_000)
  const many = Array.from({ length: 101 }, (_, n) => `${n} ${'y'.repeat(100)}`)
  const tasks = [['It opens'], many].map((acceptanceCriteria, index) => ({
    id: index + 1,
    title: 'Form',
    details,
    acceptanceCriteria,
  }))
  const { cases } = await planned([fileOf('tasks.json', JSON.stringify({ tasks }))])
  const [kept, cut] = cases
  const hundred = [{ id: 1, title: 'Form', acceptanceCriteria: many.slice(1) }]
  const whole = await planned([fileOf('tasks.json', JSON.stringify({ tasks: hundred }))])
  t.equal(whole.cases[0]!.value.checklist.length, 100, 'so many are items')
  const description = 'The text is too long for this file: see taskmaster.md.'
  t.match(
    kept!.value,
    { description, checklist: [{ description: 'It opens' }] },
    'keeps its checklist',
  )
  t.match(kept!.caseText, 'It opens')
  t.match(cut!.value, { description, checklist: [] }, 'a list of more than 100 is text')
  t.ok(cut!.notes.includes(`\n> - ${many.at(-1)}\n`), 'and then its notes have it')
})

t.test('Backlog.md', async (t) => {
  const { importer, cases, warnings } = await planned(backlogFiles())
  t.equal(importer, 'backlog')
  t.match(warnings, [/^1 files are not tasks/])
  t.strictSame(
    cases.map(({ source, value }) => [source, value.state, value.reason]),
    [
      ['backlog:TASK-1', 'IMPLEMENTING', 'In progress in Backlog.md'],
      ['backlog:TASK-001.01', 'COMPRESSED', 'Live in Backlog.md; no verified proof here'],
      ['backlog:task-2', 'COMPRESSED', 'To Do in Backlog.md; no verified proof here'],
      ['backlog:task-2 (task-2 - Lock.md)', 'WONT_FIX', 'Archived in Backlog.md: To Do'],
      ['backlog:draft-1', 'OPEN', null],
    ],
  )
  const [door, handle] = cases
  t.equal(handle!.value.parent, door!.id)
  t.match(door!.value, {
    type: 'feature',
    tags: ['good-first-issue', 'priority:high'],
    created_at: '2026-03-01T09:30:00.000Z',
    description:
      'It is **red**.\n\n```md\n## Acceptance Criteria\n- [ ] no\n```\n\n## Implementation Plan\n\n1. Paint',
    checklist: [
      { description: 'It opens', type: 'operator-note', required: false },
      { description: 'Tests pass', type: 'test-log', required: true },
    ],
  })
  for (const kept of ['["@ada", "@bob"]', 'reporter: "@carl"', '> ## Not a heading', '"kept": [']) {
    t.ok(door!.notes.includes(kept), kept)
  }
  const moved = await planned(
    backlogFiles({ 'archive/tasks/BACK-001 - Gate.md': '---\nid: BACK-001\ntitle: Gate\n---\n' }),
  )
  t.equal(moved.cases[0]!.id, door!.id, 'a task that is renamed and archived is the same task')
})

t.test('Backlog.md: the id of an archived task is given to a new one', async (t) => {
  const file = (folder: string, title: string, created: string, id = 'TASK-1') =>
    fileOf(
      `backlog/${folder}/${id.toLowerCase()} - ${title}.md`,
      `---\nid: ${id}\ntitle: ${title}\n${created && `created_date: '${created}'\n`}---\n`,
    )
  const archived = 'archive/tasks'
  const [older, newer] = ['2026-03-01 09:30', '2026-03-02']
  const histories: Record<string, InputFile[][]> = {
    'a new task after each import': [
      [file('tasks', 'Door', older)],
      [file('tasks', 'Lock', newer), file(archived, 'Door', older)],
      [
        file('tasks', 'Bell', '2026-03-03'),
        file(archived, 'Door', older),
        file(archived, 'Lock', newer),
      ],
    ],
    'two that are imported together': [
      [file('tasks', 'Lock', newer), file(archived, 'Door', older)],
      [file('tasks', 'Bell', newer), file(archived, 'Lock', newer), file(archived, 'Door', older)],
    ],
    'made within the same minute': [
      [file('tasks', 'Door', older)],
      [file('tasks', 'Bell', older), file(archived, 'Door', older)],
      [file('tasks', 'Bell', older)],
    ],
    'without dates': [
      [file('tasks', 'Door', '')],
      [file('tasks', 'Bell', ''), file(archived, 'Door', '')],
    ],
    'the archived one is deleted': [[file('tasks', 'Door', older)], [file('tasks', 'Bell', newer)]],
    'a new title, in a new file': [
      [file('tasks', 'Lock', newer), file(archived, 'Door', older)],
      [file('tasks', 'Safer lock', newer), file(archived, 'Door', older)],
    ],
    'a task in both folders, that the same title has twice': [
      [file('tasks', 'Door', older)],
      [file('tasks', 'Door', newer), file(archived, 'Door', older)],
      [file('completed', 'Door', newer), file(archived, 'Door', older)],
    ],
  }
  for (const [what, imports] of Object.entries(histories)) {
    const known = new Map<string, { title: string; created_at: string }>()
    const tasks = new Set<string>()
    for (const files of imports) {
      const { cases } = await planned(files, { known })
      for (const { id, value, created_at } of cases) {
        const created = created_at ?? '2026-01-01T00:00:00.000Z'
        if (!known.has(id)) known.set(id, { title: value.title, created_at: created })
      }
      for (const { path, bytes } of files) {
        const created = /created_date: (.*)/.exec(Buffer.from(bytes).toString())?.[1]
        const isRetitled = path.includes('Safer')
        tasks.add(`${isRetitled ? 'Lock' : path.split(' - ')[1]!.slice(0, -3)} ${created}`)
      }
    }
    t.equal(known.size, tasks.size, `${what}: ${[...known.values()].map(({ title }) => title)}`)
  }
  const child = fileOf(
    'backlog/tasks/task-2 - Key.md',
    '---\nid: TASK-2\nparent_task_id: TASK-1\ndependencies: [TASK-1]\n---\n',
  )
  const { cases } = await planned([
    file('tasks', 'Lock', newer),
    child,
    file(archived, 'Door', older),
  ])
  t.equal(cases[1]!.value.parent, cases[0]!.id, 'a parent is the task that is there now')
  t.ok(cases[1]!.notes.includes(`TASK-1 (case ${cases[0]!.id})`))
  t.strictSame(
    cases.map(({ source }) => source),
    ['backlog:TASK-1 (task-1 - Lock.md)', 'backlog:TASK-2', 'backlog:TASK-1'],
  )
})

t.test('vibe-kanban', async (t) => {
  const forms: Record<string, InputFile> = {
    'issues.csv': fileOf('issues.csv', `\ufeff${VIBE_CSV}`),
    'an export': fileOf('vibe-kanban-export-2026-04-24.zip', vibeZip()),
  }
  for (const [what, file] of Object.entries(forms)) {
    const { importer, cases, warnings } = await planned([file])
    t.equal(importer, 'vibe-kanban', what)
    t.match(cases, [
      {
        source: 'vibe-kanban:SHOP-1',
        value: {
          title: 'Say "hi"',
          description: 'Two\nlines, here',
          state: 'IMPLEMENTING',
          tags: ['Shop', 'priority:urgent'],
        },
      },
      {
        value: {
          state: 'COMPRESSED',
          parent: cases[0]!.id,
          reason: 'Done in vibe-kanban on 2026-03-03; no verified proof here',
        },
      },
    ])
    t.equal(cases[0]!.value.title, 'Say "hi"')
    t.match(cases[0]!.notes, /^assignees: "Ada, Bob"$/m)
    if (file.path.endsWith('.zip')) {
      t.match(cases[0]!.notes, /a\.png, image\/png, 12/)
      t.match(warnings, [/^1 attachments .* not copied/])
    }
  }
})

const uuid = (digit: string) => Buffer.from(digit.repeat(32), 'hex')

t.test("vibe-kanban's database, with its attempts, in each form that it had", async (t) => {
  const shapes = {
    new: `CREATE TABLE tasks (id BLOB, project_id BLOB, title TEXT, description TEXT, status TEXT, parent_workspace_id BLOB, created_at TEXT);
      CREATE TABLE workspaces (id BLOB, task_id BLOB, branch TEXT, created_at TEXT);
      CREATE TABLE sessions (id BLOB, workspace_id BLOB, executor TEXT);
      CREATE TABLE execution_processes (id BLOB, session_id BLOB);
      CREATE TABLE coding_agent_turns (id BLOB, execution_process_id BLOB, prompt TEXT, summary TEXT);
      INSERT INTO workspaces VALUES (x'33', x'11', 'vk/red', '2026-03-01 10:00:00.5');
      INSERT INTO sessions VALUES (x'44', x'33', 'CLAUDE_CODE');
      INSERT INTO execution_processes VALUES (x'55', x'44');
      INSERT INTO coding_agent_turns VALUES (x'66', x'55', 'Paint it', 'Painted.');`,
    old: `CREATE TABLE tasks (id BLOB, project_id BLOB, title TEXT, description TEXT, status TEXT, parent_task_attempt BLOB, created_at TEXT);
      CREATE TABLE task_attempts (id BLOB, task_id BLOB, branch TEXT, executor TEXT, stdout TEXT, created_at TEXT);
      CREATE TABLE executor_sessions (id BLOB, task_attempt_id BLOB, prompt TEXT, summary TEXT);
      INSERT INTO task_attempts VALUES (x'33', x'11', 'vk/red', 'CLAUDE_CODE', 'long', '2026-03-01 10:00:00.5');
      INSERT INTO executor_sessions VALUES (x'66', x'33', 'Paint it', 'Painted.');`,
  }
  for (const [what, sql] of Object.entries(shapes)) {
    const path = `${t.testdir()}/${what}.sqlite`
    const database = connect(path)
    database.exec(`${sql}
      CREATE TABLE projects (id BLOB, name TEXT);
      CREATE TABLE merges (id BLOB, ${what === 'new' ? 'workspace_id' : 'task_attempt_id'} BLOB, merge_commit TEXT, target_branch_name TEXT, pr_url TEXT);
      INSERT INTO projects VALUES (x'22', 'Shop');
      INSERT INTO merges VALUES (x'77', x'33', 'abc123', 'main', NULL);
      INSERT INTO tasks VALUES (x'11', x'22', 'Door', 'Red.', 'inprogress', NULL, '2026-03-01 09:30:00.250');`)
    const add = database.prepare('INSERT INTO tasks VALUES (?, ?, ?, ?, ?, ?, ?)')
    add.run(uuid('a'), uuid('2'), 'Key', null, 'inreview', Buffer.from('33', 'hex'), null)
    database.close()
    const { cases } = await planned([fileOf('db.sqlite', '', path)])
    const [door, key] = cases
    t.match(door!.value, {
      state: 'IMPLEMENTING',
      tags: ['Shop'],
      created_at: '2026-03-01T09:30:00.250Z',
    })
    t.match(key, {
      source: 'vibe-kanban:aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa',
      value: { state: 'VERIFYING', parent: door!.id },
    })
    t.match(
      door!.notes,
      '### Attempt, 2026-03-01T10:00:00.5Z\n\n- branch: vk/red\n- agent: CLAUDE_CODE\n- merged as abc123 into main\n\nPrompt:\n\n> Paint it\n\nAnswer:\n\n> Painted.',
    )
  }
  const answer = {
    success: true,
    data: [{ id: 'a', project_id: 'b', title: 'Door', status: 'done' }],
  }
  const { importer, cases } = await planned([fileOf('tasks.json', JSON.stringify(answer))])
  t.equal(importer, 'vibe-kanban')
  t.match(cases, [{ source: 'vibe-kanban:a', value: { state: 'COMPRESSED' } }])
})

t.test('any part of a list, in any order, gives the same files', async (t) => {
  const whole = await planned([fileOf('issues.jsonl', lines(BEADS))])
  const expected = new Map(whole.cases.map(({ id, ...each }) => [id, each.caseText + each.notes]))
  const property = fc.asyncProperty(fc.shuffledSubarray(BEADS, { minLength: 1 }), async (part) => {
    const { cases } = await planned([fileOf('issues.jsonl', lines([...part, ...part]))])
    return cases.every(({ id, ...each }) => each.caseText + each.notes === expected.get(id))
  })
  await fc.assert(property, { numRuns: 30 })
  const files = backlogFiles().filter(({ path }) => !path.includes('archive'))
  const all = await planned(files)
  for (const file of files.filter(({ path }) => /task-1/.test(path))) {
    const { cases } = await planned([file, files[0]!])
    const same = all.cases.find(({ id }) => id === cases[0]!.id)!
    t.equal(cases[0]!.caseText + cases[0]!.notes, same.caseText + same.notes)
  }
})

t.test('projects with the same ids', async (t) => {
  const file = fileOf('issues.jsonl', lines(BEADS))
  const [one] = (await planned([file])).cases
  const [other] = (await planned([file], { project: 'shop' })).cases
  t.equal(other!.source, 'beads:shop/bd-a1b2')
  t.not(other!.id, one!.id)
})

t.test('Task Master: a tag with a slash is none of a project', async (t) => {
  const file = fileOf(
    'tasks.json',
    JSON.stringify({
      y: { tasks: [{ id: 1, title: 'A' }] },
      'x/y': { tasks: [{ id: 1, title: 'B' }] },
    }),
  )
  const sources = async (options: ReadOptions) =>
    (await planned([file], options)).cases.map(({ source }) => source)
  t.strictSame(await sources({}), ['taskmaster:y/1', 'taskmaster:x%2Fy/1'])
  t.strictSame(await sources({ project: 'x' }), ['taskmaster:x/y/1', 'taskmaster:x/x%2Fy/1'])
  const old = (title: string) =>
    new Map([[caseIdFor('taskmaster:x/y/1'), { title, created_at: '' }]])
  t.strictSame((await sources({ known: old('B') }))[1], 'taskmaster:x/y/1', 'it was imported so')
  t.strictSame((await sources({ known: old('A') }))[1], 'taskmaster:x%2Fy/1', 'that is the project')
})

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const BOMB = ['a: &a [x]', 'b: &b [*a,*a]', 'c: [*b,*b]'].join('\n')
const backlog = (text: string | Buffer) => fileOf('tasks/task-1 - x.md', text)

const HOSTILE: Record<string, [file: InputFile, says: RegExp]> = {
  'a broken line of beads': [
    fileOf('issues.jsonl', `${lines(BEADS)}<<<<<<< HEAD\n`),
    /issues\.jsonl cannot be read: line 7 is not JSON/,
  ],
  'a wrong field of beads': [
    fileOf('issues.jsonl', lines([...BEADS, { ...BEADS[1], id: '../x', labels: 'a' }])),
    /line 7 \(\.\.\/x\): id: expected an id[\s\S]*line 7 \(\.\.\/x\): labels: expected an array/,
  ],
  'the same issue twice, with other words': [
    fileOf('issues.jsonl', lines([BEADS[1]!, { ...BEADS[1], title: 'Else' }])),
    /line 2 \(bd-e1\): it is the same issue as line 1 \(bd-e1\)/,
  ],
  'the same issue twice, and another wrong one': [
    fileOf(
      'issues.jsonl',
      lines([BEADS[1]!, { ...BEADS[1], title: 'Else' }, { ...BEADS[1], id: '../x' }]),
    ),
    /line 3 \(\.\.\/x\): id: [\s\S]*line 2 \(bd-e1\): it is the same issue as line 1/,
  ],
  'an export of vibe-kanban with an issue twice': [
    fileOf('export.zip', zip({ 'issues.csv': `${VIBE_CSV}SHOP-2,Else,,,,,,,,,,,,\n` })),
    /row on line 5 \(SHOP-2\): it is the same issue as row on line 4 .*Unpack the export, correct issues\.csv/,
  ],
  'deep nesting': [
    fileOf('issues.jsonl', `${lines([BEADS[1]!]).trimEnd().slice(0, -1)},"x":${DEEP}}\n`),
    /line 1 \(bd-e1\): it has more than 100 levels/,
  ],
  'a wrong time': [
    fileOf('issues.jsonl', lines([{ ...BEADS[1], created_at: 'soon' }])),
    /created_at: expected an ISO 8601 time/,
  ],
  'a task without an id': [
    fileOf('tasks.json', JSON.stringify({ master: { tasks: [{ title: 'x' }] } })),
    /master, task entry 1: id: expected a string or a number/,
  ],
  'a wrong subtask': [
    fileOf('tasks.json', JSON.stringify({ tasks: [{ id: 1, subtasks: [{ id: 1, title: 2 }] }] })),
    /master, subtask of 1: 1: title: expected a string/,
  ],
  'a YAML bomb': [backlog(`---\nid: task-1\n${BOMB}\n---\n`), /task-1 - x\.md: line \d: aliases/],
  'a YAML tag': [backlog('---\nid: !!js/function x\n---\n'), /line 2: (?:tags|Unresolved tag)/],
  'broken YAML': [backlog('---\nid: task-1\ntitle: [\n---\n'), /task-1 - x\.md: line \d: /],
  'frontmatter without an end': [backlog('---\nid: task-1\n'), /line 1: .*no closing ---/],
  'frontmatter with control characters': [backlog('---\nid: task-1\ntitle: a\x1bb\n---\n'), /0x1b/],
  'a task in Latin-1': [
    backlog(Buffer.from('---\nid: task-1\ntitle: T\xfcr\n---\n', 'latin1')),
    /not UTF-8 \(line 3\)/,
  ],
  'a wrong date': [
    backlog('---\nid: task-1\ncreated_date: soon\n---\n'),
    /line 3: created_date: expected a date/,
  ],
  'a quote that is not closed': [
    fileOf('issues.csv', `${VIBE_CSV}SHOP-3,"x\n`),
    /row on line 5 has a quote that is not closed/,
  ],
  'a row with too many columns': [
    fileOf('issues.csv', 'Issue ID,Title\nSHOP-1,a,b\n'),
    /row on line 2 has 3 columns/,
  ],
  'a ZIP archive that is cut short': [
    fileOf('a.zip', vibeZip().subarray(0, -30)),
    /not a whole ZIP/,
  ],
  'a ZIP archive of something else': [fileOf('a.zip', zip({ 'a.txt': 'x' })), /no issues\.csv/],
  'a database of something else': [fileOf('a.sqlite', 'SQLite format 3'), /name its file instead/],
}

for (const [what, [file, says]] of Object.entries(HOSTILE)) {
  t.test(`${what} imports nothing`, async (t) => {
    await t.rejects(planned([file]), { message: says })
  })
}

t.test('text cannot pretend to be a field or a heading', async (t) => {
  const issue = {
    ...BEADS[1]!,
    title: 'a\n---\nstate: RESOLVED\x1b[2J',
    description: '---\nstate: RESOLVED\n---\n## Proof checklist\n- [ ] x (log, required)',
    acceptance_criteria: '- required: everything\n- <!-- open',
    assignee: 'x\n---\n# y',
    comments: [{ author: 'x\n# y', text: 'a\rb\n## c' }],
  }
  const { cases } = await planned([fileOf('issues.jsonl', lines([issue]))])
  const [{ caseText, id, notes }] = cases as [PlannedCase]
  const { value, problems } = await readCase(caseText, { id, created_at: '' })
  t.match(value, { state: 'OPEN', checklist: [], title: 'a --- state: RESOLVED [2J' })
  t.strictSame(problems, [])
  t.match(value!.description, /## Acceptance criteria\n\n- required: everything/)
  t.match(notes, /### x # y\n\n> a\n> b\n> ## c\n/)
})
