import t from 'tap'
import { CASE_LAYOUT, editedCase, readCase, roughCase } from '../../src/markdown/case-file.ts'
import { readChecklist, withItem } from '../../src/markdown/checklist.ts'
import { outline, shortOutline } from '../../src/markdown/outline.ts'
import { parsedMarkdown, useParser } from '../../src/markdown/parser-pool.ts'
import { readProof } from '../../src/markdown/proof-file.ts'
import { LEAD, readSections, sectionText, withSection } from '../../src/markdown/sections.ts'
import { readSession } from '../../src/markdown/session-file.ts'
import { newSessionText, SESSION_LAYOUT } from '../../src/markdown/session-texts.ts'
import type { Case } from '../../src/model/case.ts'
import { inLongLane } from '../fixtures/full.ts'
import { CASE_ID, NOW, SESSION } from '../fixtures/records.ts'

const leave = useParser()
t.teardown(leave)

const ORIGIN = { id: CASE_ID, created_at: '2026-01-02T03:04:05.678Z' }
const DERIVED: Partial<Case> = {
  id: CASE_ID,
  created_at: ORIGIN.created_at,
  state: 'OPEN',
  type: 'bug',
  outcome: null,
  tags: [],
  parent: null,
  checklist: [],
}

async function caseOf(text: string): Promise<Case> {
  const { value, problems } = await readCase(text, ORIGIN)
  t.strictSame(problems, [], JSON.stringify(text.slice(0, 80)))
  return value!
}

t.test('files that a person made by hand', async (t) => {
  const files: [string, string, Partial<Case>][] = [
    ['only a title', '---\ntitle: Fix it\n---\n', { title: 'Fix it', description: '' }],
    ['only a heading', '# Fix it\n', { title: 'Fix it', description: '# Fix it' }],
    ['a heading with hashes behind it', '  #\tFix C#  ##  \n', { title: 'Fix C#' }],
    ['a heading, no newline', '# Fix it', { title: 'Fix it' }],
    ['a heading below text', 'Hi\n\n# Fix it\n', { title: 'Fix it' }],
    [
      'a text',
      '\n\nFix it now\nplease',
      { title: 'Fix it now', description: '\nFix it now\nplease' },
    ],
    ['a comment in a fence', '```sh\n# install\n```\n\n# Fix it\n', { title: 'Fix it' }],
    ['nothing', '', { title: CASE_ID, description: '' }],
    ['only lists', '- a\n* b\n', { title: CASE_ID }],
    ['empty frontmatter', '---\n---\nFix it', { title: 'Fix it', description: 'Fix it' }],
    ['an empty title', '---\ntitle: ""\n---\n# Fix it\n', { title: 'Fix it' }],
    ['title: 2024', '---\ntitle: 2024\n---\n', { title: '2024' }],
    ['title: 1.10', '---\ntitle: 1.10\n---\n', { title: '1.10' }],
    ['title: True', '---\ntitle: True\n---\n', { title: 'True' }],
    ['title: 2024-01-05', '---\ntitle: 2024-01-05\n---\n', { title: '2024-01-05' }],
    ['a folded title', '---\ntitle: >-\n  Fix\n  it\n---\n', { title: 'Fix it' }],
    [
      'CRLF',
      '---\r\ntitle: Fix it\r\n---\r\n\r\na\r\nb\r\n',
      { title: 'Fix it', description: 'a\nb' },
    ],
    ['a setext heading', 'Fix it\n======\n\ntext\n', { title: 'Fix it' }],
    [
      'a flow root',
      '---\n{title: Fix it, state: BLOCKED}\n---\n',
      { title: 'Fix it', state: 'BLOCKED' },
    ],
    [
      'unknown keys and sections',
      '---\ntitle: a\nx-own: [1, {b: 2}] # c\n---\n\n## Mine\n\n| a |\n|---|\n',
      { title: 'a', description: '## Mine\n\n| a |\n|---|' },
    ],
  ]
  for (const [name, text, wanted] of files) {
    const read = await caseOf(text)
    t.match(read, { ...DERIVED, ...wanted }, name)
    const edited = await editedCase(text, read, { fields: { outcome: 'NotABug' } })
    const written = await caseOf(edited)
    t.strictSame(written, { ...read, outcome: 'NotABug' }, `${name}: derived values stay`)
    const body = text.replace(/^\ufeff?(?:---\r?\n[\s\S]*?---(?:\r?\n|$))?/, '')
    t.ok(edited.endsWith(body), `${name}: every byte of the body stays`)
    for (const key of ['id', 'title', 'created_at', 'state', 'type', 'outcome', 'tags']) {
      t.match(edited, new RegExp(`(?:^|[{,]) ?${key}:`, 'm'), `${name}: has ${key}`)
    }
    t.equal(await editedCase(edited, written, {}), edited, `${name}: and nothing more is written`)
  }
})

t.test('times as people write them', async (t) => {
  const times: [string, string | null][] = [
    ['2024-01-05', '2024-01-05T00:00:00.000Z'],
    ['"2024-01-05"', '2024-01-05T00:00:00.000Z'],
    ['2024-01-05T10:20:30Z', '2024-01-05T10:20:30.000Z'],
    ['2024-01-05T10:20:30+02:00', '2024-01-05T08:20:30.000Z'],
    ['2024-01-05 10:20:30 +0200', '2024-01-05T08:20:30.000Z'],
    ['2024-01-05 10:20:30', '2024-01-05T10:20:30.000Z'],
    ['2024-01-05T10:20:30.123456789Z', '2024-01-05T10:20:30.123Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-02-30', null],
    ['2024-01-05T25:00:00Z', null],
    ['yesterday', null],
    ['[2024-01-05]', null],
  ]
  for (const [written, wanted] of times) {
    const { value, problems } = await readCase(
      `---\ntitle: a\ncreated_at: ${written}\n---\n`,
      ORIGIN,
    )
    t.equal(value?.created_at ?? null, wanted, written)
    if (wanted === null) t.match(problems, [{ code: 'wrong_type', line: 3 }])
  }
})

t.test('what is wrong in a case file is named with its line', async (t) => {
  const wrong: [string, string, string, number | null][] = [
    ['state', 'title: a\nstate: open', 'unknown_state', 3],
    ['id', 'title: a\nid: other', 'id_mismatch', 3],
    ['type', 'title: a\ntype: Big Bug', 'wrong_type', 3],
    ['outcome', '# c\n\noutcome: not yet', 'wrong_type', 4],
    ['tags', 'tags: a b', 'wrong_type', 2],
    ['tags with a map', 'tags: [{a: b}]', 'wrong_type', 2],
    ['a list as title', 'title: [a]', 'wrong_type', 2],
    ['twice', 'title: a\ntitle: b', 'duplicate_key', 3],
  ]
  for (const [name, source, code, line] of wrong) {
    const { value, problems } = await readCase(`---\n${source}\n---\n`, ORIGIN)
    t.match({ value, problems }, { value: null, problems: [{ code, line }] }, name)
  }
})

t.test('of a case with a wrong field the others are shown', async (t) => {
  const read = (fields: string) => readCase(`---\nid: other\n${fields}---\n`, ORIGIN)
  t.match(await read('title: a\n'), { value: null, shown: { title: 'a', id: CASE_ID } })
  t.match(await read('title: a\nstate: open\n'), { value: null, shown: { title: 'a' } })
  const copy = await readCase('---\nid: other\n---\n', { ...ORIGIN, isTaken: () => true })
  t.match(copy, { value: null, shown: { id: CASE_ID }, problems: [{ code: 'duplicate_id' }] })
})

t.test('a description is emptied, and what is below it stays', async (t) => {
  const text = '---\ntitle: a\n---\n\nold\n\n## Proof checklist\n\n- [ ] One (log)\n'
  const edited = await editedCase(text, await caseOf(text), { fields: { description: '' } })
  t.match(await caseOf(edited), { description: '', checklist: [{ description: 'One' }] })
  t.notMatch(edited, 'old')
})

t.test('a field holds any YAML value: it is read, or a problem', async (t) => {
  const values = [
    '{ toString: 1, valueOf: 2, constructor: 3 }',
    '[{ toString: 1 }, [], null]',
    '{ file: { toString: 1 }, additions: 1, deletions: 0, files: [{ file: [{ toString: 1 }], additions: 1, deletions: 0 }] }',
    '{ file: 2026, additions: .nan, deletions: -.inf, files: [[], { toJSON: 1 }] }',
    '{ run: .nan, passed: 1.5, failed: -3 }',
  ]
  const keys = [
    'id',
    'title',
    'state',
    'type',
    'tags',
    'parent',
    'reason',
    'workdir',
    'provider',
    'outcome',
    'created_at',
    'number',
    'case_id',
    'session_type',
    'started_at',
    'diff',
    'tests',
    'plan_sha256',
    'completed_at',
    'sha256',
    'verified',
    'verified_at',
    'session_id',
  ]
  const session = { case_id: CASE_ID, number: 2, case_title: 'A case', created_at: NOW }
  for (const [at, key] of keys.entries()) {
    for (const value of [values[at % 5]!]) {
      const text = `---\n${key}: ${value}\n---\n`
      const readings = [
        await readCase(text, ORIGIN),
        readSession(text, session),
        readProof(text, { id: SESSION.id, case_id: CASE_ID, created_at: NOW }),
      ]
      const isTold = (each: { value: unknown; problems: unknown[] }) =>
        each.value !== null || each.problems.length > 0
      t.ok(readings.every(isTold), `${key}: ${value}`)
    }
  }
  const diff = (file: string) =>
    readSession(`---\ndiff: { file: ${file}, additions: 3, deletions: 1 }\n---\n`, session).value
      ?.diff
  for (const [written, wanted] of [
    ['src/a.js', 'src/a.js'],
    ['2026', '2026'],
    ['no', 'no'],
    ['', ''],
    ['{ toString: 1 }', ''],
    ['[a]', ''],
  ] as const) {
    t.strictSame(diff(written), { file: wanted, additions: 3, deletions: 1 }, `file: ${written}`)
  }
})

t.test('a case that cannot be read still says something', async (t) => {
  const rough: [string, string, Partial<Case>][] = [
    [
      'an open quote',
      '---\ntitle: Fix it\nstate: BLOCKED\ntype: bug\nx: "\n---\n',
      { title: 'Fix it', state: 'BLOCKED' },
    ],
    [
      'a body with a break',
      '---\ncreated_at: 2026-01-02\na: [\n---\n# Fix it\n\n---\n\nmore\n',
      {
        title: 'Fix it',
        created_at: '2026-01-02T00:00:00.000Z',
        description: '# Fix it\n\n---\n\nmore',
      },
    ],
    ['unclosed', '---\ntitle: "Fix it"\r\nstate: nonsense', { title: 'Fix it', state: 'OPEN' }],
    ['only spaces', `---\ntitle: ${' '.repeat(9000)}x\n---\n`, { title: CASE_ID }],
    ['a key twice', '---\ntitle: First\ntitle: Then\nx: [\n---\n', { title: 'First' }],
  ]
  for (const [name, text, wanted] of rough) t.match(await roughCase(text, ORIGIN), wanted, name)
})

const LIST = '## Proof checklist\n\n- [ ] One (log, required)\n'

t.test('checklists: what is read, and where an item is added', async (t) => {
  const one = { description: 'One', type: 'log', required: true, checked: false }
  const added = '- [ ] New (x)\n'
  const files: [string, string, object[], string][] = [
    ['none', 'text\n', [], `text\n\n## Proof checklist\n\n${added}`],
    ['an empty file', '', [], `## Proof checklist\n\n${added}`],
    ['none, no newline', 'text', [], `text\n\n## Proof checklist\n\n${added}`],
    ['none, blank lines at the end', 'text\n\n', [], `text\n\n\n## Proof checklist\n\n${added}`],
    ['one', LIST, [one], LIST + added],
    ['no final newline', LIST.trimEnd(), [one], LIST + added],
    ['CRLF', LIST.replaceAll('\n', '\r\n'), [one], (LIST + added).replaceAll('\n', '\r\n')],
    ['an empty list', '## Proof checklist\n', [], `## Proof checklist\n\n${added}`],
    [
      'an empty list, then a section',
      '## Proof checklist\n\n## Notes\n',
      [],
      `## Proof checklist\n\n${added}\n## Notes\n`,
    ],
    [
      'a section below',
      `${LIST}\n## Notes\n\n- [ ] no\n`,
      [one],
      `${LIST}${added}\n## Notes\n\n- [ ] no\n`,
    ],
    [
      'a title below',
      `${LIST}\nTop\n===\n\n- [ ] no\n`,
      [one],
      `${LIST}${added}\nTop\n===\n\n- [ ] no\n`,
    ],
    [
      'a wrapped item',
      '## Proof checklist\n\n- [x] One\n  more\n  (log)\n',
      [{ ...one, description: 'One more', required: false, checked: true }],
      `## Proof checklist\n\n- [x] One\n  more\n  (log)\n${added}`,
    ],
    [
      'a nested list',
      `${LIST}  - [x] Two\n`,
      [one, { description: 'Two', type: null, required: false, checked: true }],
      `${LIST}  - [x] Two\n${added}`,
    ],
    [
      'stars',
      '## Proof checklist\n* [X] a\n+ [ ] b (c)\n',
      [
        { description: 'a', checked: true, type: null },
        { description: 'b', type: 'c', required: false },
      ],
      `## Proof checklist\n* [X] a\n+ [ ] b (c)\n${added}`,
    ],
    ['text around', `intro\n\n${LIST}\nand text\n`, [one], `intro\n\n${LIST}${added}\nand text\n`],
    [
      'closing hashes',
      LIST.replace('list', 'list ##'),
      [one],
      LIST.replace('list', 'list ##') + added,
    ],
    [
      'in a fence',
      `\`\`\`\n${LIST}\`\`\`\n`,
      [],
      `\`\`\`\n${LIST}\`\`\`\n\n## Proof checklist\n\n${added}`,
    ],
    [
      'in a quote',
      '> ## Proof checklist\n> - [ ] x\n',
      [],
      `> ## Proof checklist\n> - [ ] x\n\n## Proof checklist\n\n${added}`,
    ],
    [
      'a deeper heading',
      `### Proof checklist\n\n- [ ] x\n`,
      [{ description: 'x', required: false }],
      `### Proof checklist\n\n- [ ] x\n${added}`,
    ],
  ]
  for (const [name, text, wanted, edited] of files) {
    const read = await readChecklist(text, CASE_LAYOUT)
    t.match(read?.items, wanted, name)
    t.equal(read?.items.length, wanted.length)
    const item = { description: 'New', type: 'x', required: false }
    t.equal(await withItem(text, CASE_LAYOUT, item), edited, `${name}: added`)
    t.equal(
      sectionText((await readSections(edited, CASE_LAYOUT))!, LEAD),
      sectionText((await readSections(text, CASE_LAYOUT))!, LEAD),
      `${name}: the description stays`,
    )
  }
  for (const description of ['a\nb', ' ', '', 'x\r- [ ] y', '  padded']) {
    const item = { description, type: 'x', required: false }
    await t.rejects(
      withItem(LIST, CASE_LAYOUT, item),
      { code: 'unreadable_file' },
      JSON.stringify(description),
    )
  }
})

t.test('what can be written is written', async (t) => {
  const text = await newSessionText(SESSION)
  const texts = [
    '<!--',
    '```',
    '<script>\n## Plan\n\nx',
    '- a\n\n  ```',
    '\n',
    '\n\n',
    ' ',
    '```verbatim\nx\n```',
    '`'.repeat(9),
  ]
  const files = [
    text,
    text.split('\n## Hypothesis')[0]!,
    text.replace(/## Hypothesis[\s\S]*(?=## Audit)/, ''),
  ]
  for (const [at, value] of texts.entries()) {
    for (const file of [files[at % 3]!]) {
      let edited = file
      for (const name of ['Hypothesis', 'Plan', 'Execution output', 'Proof candidates']) {
        edited = await withSection(edited, SESSION_LAYOUT, name, value)
      }
      const read = (await readSections(edited, SESSION_LAYOUT))!
      for (const name of ['Hypothesis', 'Plan', 'Execution output', 'Proof candidates']) {
        t.equal(sectionText(read, name), value)
      }
    }
    const listed = await withItem(await withSection('', CASE_LAYOUT, LEAD, value), CASE_LAYOUT, {
      description: 'a',
      type: 'b',
      required: true,
    })
    t.equal(sectionText((await readSections(listed, CASE_LAYOUT))!, LEAD), value)
  }
})

t.test('an outline without the parser equals the one by it where runs are long', async (t) => {
  for (const text of [
    `${'`'.repeat(70_000)}\n## Plan\n${'`'.repeat(70_000)}\n## Plan\n`,
    `## Plan ${'#'.repeat(9000)}\n`,
    `## Plan ${'#'.repeat(9000)}x\n`,
  ]) {
    t.strictSame(shortOutline(text, ['Plan']), await outline(text, ['Plan']))
  }
})

t.test('closing the parser settles what is being parsed', inLongLane, async (t) => {
  await parsedMarkdown('warm')
  const parsing = parsedMarkdown(`${'- '.repeat(10_000)}3`)
  const refused = t.rejects(parsing, { code: 'stopping' })
  await parsedMarkdown('warm') // cached: gives the turn in which the worker is asked
  await new Promise(setImmediate)
  await leave()
  await refused
})

t.test('who has done with the parser leaves it to the others', async (t) => {
  const [leaveFirst, leaveToo] = [useParser(), useParser()]
  const asked = parsedMarkdown('# By the one\n\n- that is still there\n')
  await leaveFirst()
  await leaveFirst()
  t.ok(await asked)
  await leaveToo()
})
