import fc from 'fast-check'
import t from 'tap'
import { importerFor } from '../../src/import/importers.ts'
import type { InputFile, ReadOptions } from '../../src/import/item.ts'
import { type PlannedCase, planImport } from '../../src/import/plan.ts'
import { readCase } from '../../src/markdown/case-file.ts'
import { BACKLOG, lines, TASKS } from '../fixtures/imported-tasks.ts'

const fileOf = (path: string, content: string | Buffer) => ({ path, bytes: Buffer.from(content) })

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

t.test('the JSON form', async (t) => {
  const { importer, cases } = await planned([fileOf('tasks.jsonl', lines(TASKS))])
  t.equal(importer, 'json')
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
  t.equal(value!.description, TASKS[0]!.description)
  for (const kept of [
    '"assignee": "bob"',
    '### ada\n\n> Here too.\n> # Fixed',
    '"future_field": {',
    'created_at: 2026-03-01T09:30:00.000Z',
  ]) {
    t.ok(first.notes.includes(kept), kept)
  }
  t.equal(cases[1]!.created_at, null, 'the year 1 is no time')
  t.strictSame(
    cases.slice(2).map(({ value: { state, outcome, reason } }) => [state, outcome, reason]),
    [
      ['COMPRESSED', null, 'Closed in beads on 2026-04-05: Fixed by 7; no verified proof here'],
      ['WONT_FIX', 'WontFix', "Cancelled in beads: Won't fix: too old"],
      ['NON_ISSUE', 'Duplicate', 'Duplicate in beads: Duplicate of bd-c1'],
      ['WATCHLIST', null, 'Deferred in beads'],
      ['COMPRESSED', null, 'Closed in beads on 2026-04-05; no verified proof here'],
    ],
  )
  const list = await planned([fileOf('tasks.json', JSON.stringify(TASKS))])
  t.strictSame(
    list.cases.map(({ id, caseText }) => id + caseText),
    cases.map(({ id, caseText }) => id + caseText),
    'a list is the same as lines',
  )
})

t.test('a case whose text is too long', async (t) => {
  const text = 'x'.repeat(300_000)
  const many = Array.from({ length: 101 }, (_, n) => `${n} ${'y'.repeat(100)}`)
  const task = { tool: 'shop', title: 'Form', description: text }
  const tasks = [['It opens'], many].map((criteria, id) => ({ ...task, id, criteria }))
  const { cases } = await planned([fileOf('tasks.json', JSON.stringify(tasks))])
  const [kept, cut] = cases
  const hundred = [{ ...task, id: 1, description: '', criteria: many.slice(1) }]
  const whole = await planned([fileOf('tasks.json', JSON.stringify(hundred))])
  t.equal(whole.cases[0]!.value.checklist.length, 100, 'so many are items')
  const description = 'The text is too long for this file: see imported.md.'
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
    backlogFiles({
      'archive/tasks/BACK-001 - Gate.md':
        "---\nid: BACK-001\ntitle: Gate\ncreated_date: '2026-03-01 09:30'\n---\n",
    }),
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
      const { cases } = await planned(files)
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
    ['backlog:TASK-1', 'backlog:TASK-2', 'backlog:TASK-1 (task-1 - Door.md)'],
  )
})

t.test('any part of a list, in any order, gives the same files', async (t) => {
  const whole = await planned([fileOf('tasks.jsonl', lines(TASKS))])
  const expected = new Map(whole.cases.map(({ id, ...each }) => [id, each.caseText + each.notes]))
  const property = fc.asyncProperty(fc.shuffledSubarray(TASKS, { minLength: 1 }), async (part) => {
    const { cases } = await planned([fileOf('tasks.jsonl', lines([...part, ...part]))])
    return cases.every(({ id, ...each }) => each.caseText + each.notes === expected.get(id))
  })
  await fc.assert(property, { numRuns: 30 })
  const files = backlogFiles().filter(({ path }) => !path.includes('archive'))
  const all = await planned(files)
  for (const file of files.filter(({ path }) => /task-1 /.test(path))) {
    const { cases } = await planned([file, files[0]!])
    const same = all.cases.find(({ id }) => id === cases[0]!.id)!
    t.equal(cases[0]!.caseText + cases[0]!.notes, same.caseText + same.notes)
  }
})

t.test('projects with the same ids', async (t) => {
  const file = fileOf('tasks.jsonl', lines(TASKS))
  const [one] = (await planned([file])).cases
  const [other] = (await planned([file], { project: 'shop' })).cases
  t.equal(other!.source, 'beads:shop/bd-a1b2')
  t.not(other!.id, one!.id)
})

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
const BOMB = ['a: &a [x]', 'b: &b [*a,*a]', 'c: [*b,*b]'].join('\n')
const backlog = (text: string | Buffer) => fileOf('tasks/task-1 - x.md', text)

const HOSTILE: Record<string, [file: InputFile, says: RegExp]> = {
  'a broken line': [
    fileOf('tasks.jsonl', `${lines(TASKS)}<<<<<<< HEAD\n`),
    /tasks\.jsonl cannot be read: line 8 is not JSON/,
  ],
  'a wrong field': [
    fileOf('tasks.jsonl', lines([...TASKS, { ...TASKS[1], id: '../x', labels: 'a' }])),
    /line 8 \(\.\.\/x\): id: expected an id[\s\S]*line 8 \(\.\.\/x\): labels: expected an array/,
  ],
  'the same task twice, with other words': [
    fileOf('tasks.jsonl', lines([TASKS[1]!, { ...TASKS[1], title: 'Else' }])),
    /line 2 \(bd-e1\): it is the same issue as line 1 \(bd-e1\)/,
  ],
  'the same task twice, and another wrong one': [
    fileOf(
      'tasks.jsonl',
      lines([TASKS[1]!, { ...TASKS[1], title: 'Else' }, { ...TASKS[1], id: '../x' }]),
    ),
    /line 3 \(\.\.\/x\): id: [\s\S]*line 2 \(bd-e1\): it is the same issue as line 1/,
  ],
  'deep nesting': [
    fileOf('tasks.jsonl', `${lines([TASKS[1]!]).trimEnd().slice(0, -1)},"x":${DEEP}}\n`),
    /line 1 \(bd-e1\): it has more than 100 levels/,
  ],
  'a wrong time': [
    fileOf('tasks.jsonl', lines([{ ...TASKS[1], created_at: 'soon' }])),
    /created_at: expected an ISO 8601 time/,
  ],
  'a task without an id': [
    fileOf('tasks.json', JSON.stringify([TASKS[1], { tool: 'shop', title: 'x' }])),
    /entry 2: id: /,
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
}

for (const [what, [file, says]] of Object.entries(HOSTILE)) {
  t.test(`${what} imports nothing`, async (t) => {
    await t.rejects(planned([file]), { message: says })
  })
}

t.test('text cannot pretend to be a field or a heading', async (t) => {
  const issue = {
    ...TASKS[1]!,
    title: 'a\n---\nstate: RESOLVED\x1b[2J',
    description: '---\nstate: RESOLVED\n---\n## Proof checklist\n- [ ] x (log, required)',
    criteria: ['required: everything', '<!-- open'],
    reason: 'x\n---\n# y',
    comments: [{ author: 'x\n# y', text: 'a\rb\n## c' }],
  }
  const { cases } = await planned([fileOf('tasks.jsonl', lines([issue]))])
  const [{ caseText, id, notes }] = cases as [PlannedCase]
  const { value, problems } = await readCase(caseText, { id, created_at: '' })
  t.match(value, { state: 'OPEN', checklist: [], title: 'a --- state: RESOLVED [2J' })
  t.strictSame(problems, [])
  t.match(value!.description, /## Acceptance criteria\n\n- required: everything/)
  t.match(notes, /### x # y\n\n> a\n> b\n> ## c\n/)
})
