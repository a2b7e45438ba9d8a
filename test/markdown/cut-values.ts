import t from 'tap'
import { editedCase, readCase } from '../../src/markdown/case-file.ts'
import { countedProof, readProof } from '../../src/markdown/proof-file.ts'
import { isBreaking } from '../../src/model/problem.ts'

const ORIGIN = {
  id: '1a6976d2-ff1c-4d71-8cd4-1f0e3f1f4a3b',
  created_at: '2026-01-01T00:00:00.000Z',
}
const read = (front: string) => readCase(`---\n${front}\n---\n\nx\n`, ORIGIN)

t.test('a text that YAML cuts is a problem that names what was cut', async (t) => {
  const rows: [front: string, cut: [line: number, text: string][], value: object][] = [
    ['title: Fix #123 and #124', [[2, '#123 and #124']], { title: 'Fix' }],
    ['title: C # and F#', [[2, '# and F#']], { title: 'C' }],
    ['title: #123 fails', [[2, '#123 fails']], { title: 'x' }],
    ['title: Fix the\n  login #12', [[2, '#12']], { title: 'Fix the login' }],
    [
      'title: Fix\t#1\nreason: See #2',
      [
        [2, '#1'],
        [3, '#2'],
      ],
      { title: 'Fix', reason: 'See' },
    ],
    [
      'tags:\n  - auth #b\n  - #login\n  - ui',
      [
        [3, '#b'],
        [4, '#login'],
      ],
      { tags: ['auth', 'ui'] },
    ],
    ['tags: #auth #ui', [[2, '#auth #ui']], { tags: [] }],
    ['outcome: Duplicate #12', [[2, '#12']], { outcome: 'Duplicate' }],
    ['workdir: a #b', [[2, '#b']], { workdir: 'a' }],
    ['{ title: Fix #1\n}', [[2, '#1']], { title: 'Fix' }],
  ]
  for (const [front, cut, expected] of rows) {
    t.test(front, async (t) => {
      const { value, problems } = await read(front)
      t.match(
        problems,
        cut.map(([line, text]) => ({ code: 'cut_value', file: 'case.md', line, message: text })),
      )
      t.equal(problems.length, cut.length)
      t.match(value, expected)
      t.notOk(problems.some(isBreaking), 'and the case can be edited')
    })
  }
})

t.test('so is one in the reason for accepting a proof', async (t) => {
  const { problems } = readProof('---\naccepted: Known #12\n---\nx\n', { ...ORIGIN, case_id: 'c' })
  t.match(problems, [{ code: 'cut_value', line: 2, message: '#12' }])
  const text = '---\nsha256: x\naccepted: Known #12\n---\nx\n'
  const counted = {
    sha256: 'x',
    image: null,
    tests: null,
    failed_tests: [],
    flaky_tests: [],
    unread: null,
  }
  const edited = countedProof(text, counted, {
    verified_at: ORIGIN.created_at,
    verified_by: 'Ada',
    meets: [],
    accepted: 'Seen',
  })
  t.match(edited, '\naccepted: "Seen" #12\n', 'quotes say where it ends')
})

t.test('a comment is no problem', async (t) => {
  const fronts = [
    'title: "Fix" # urgent',
    "title: 'Fix #1' # urgent",
    'title: A\nstate: OPEN # waiting',
    'title: A\ntype: bug # or feature\nprovider: runbook # no agent',
    'title: A\ncreated_at: 2026-01-01 # about',
    'title: A\ntags: [a, b] # words',
    'title: A\ntags: # words\n  - a',
    'title: A\nreason: # not yet',
    'title: # in one line\n  A',
    'title: > # folded\n  A #1',
    '# a comment\ntitle: C#\n# another',
    'title: A#1',
  ]
  for (const front of fronts) {
    t.test(front, async (t) => t.strictSame((await read(front)).problems, []))
  }
})

t.test('a title of several lines is joined', async (t) => {
  for (const front of [
    'title: >\n  folded\n  title',
    'title: |\n  folded\n  title',
    'title: >-\n  folded\n\n  title\n',
    'title: |+\n  folded\n  title\n\n',
    'title: folded\n  title',
    'title: "folded\n  title"',
    'title: "folded\\ntitle"',
  ]) {
    t.test(front, async (t) => {
      const { value, problems } = await read(front)
      t.equal(value?.title, 'folded title')
      t.strictSame(problems, [])
    })
  }
  t.equal((await read('title: A\nreason: |\n  one\n  two')).value?.reason, 'one two')
})

t.test('an edit replaces exactly the value, and is not cut itself', async (t) => {
  const rows: [before: string, title: string, after: string][] = [
    ['title: Fix #123 # x', 'Fix it', 'title: "Fix it" #123 # x'],
    ['title: Fix #123', 'Fix #123', 'title: "Fix #123" #123'],
    ['title: "Fix" # why', 'Done', 'title: "Done" # why'],
    ['title: #123', 'Fix', 'title: "Fix" #123'],
    ['title: >\n  folded\n  title', 'New', 'title: New'],
  ]
  for (const [before, title, after] of rows) {
    t.test(`${before} → ${title}`, async (t) => {
      const rest = `id: ${ORIGIN.id}\ncreated_at: 2026-01-01T00:00:00.000Z\nstate: OPEN # waiting\ntype: bug\noutcome:\ntags: []`
      const text = (front: string) => `---\n${front}\n${rest}\n---\n\nx\n`
      const { value } = await readCase(text(before), ORIGIN)
      const edited = await editedCase(text(before), value!, { fields: { title } })
      t.equal(edited, text(after))
      const again = await readCase(edited, ORIGIN)
      t.match(again, { value: { title } })
      t.strictSame(again.problems, [])
    })
  }
})

t.test('what looks like frontmatter of another kind is a problem', async (t) => {
  for (const [text, line] of [
    ['+++\ntitle = "x"\n+++\n\nx\n', 1],
    ['\ufeff+++\r\ntitle = "x"\r\n+++\r\n', 1],
    ['\n\n+++  \ntitle: x\n+++\n', 3],
    [';;;\n{"title": "x"}\n;;;\n', 1],
    ['{\n  "title": "x"\n}\n', 1],
    ['\n---\ntitle: x\n---\n', 2],
    ['---\ntitle: x\n\nx\n', 1],
    ['title: x\nstate: OPEN\n---\n\nx\n', 1],
    ['---toml\ntitle = "x"\n---\n', 1],
  ] as const) {
    t.test(text, async (t) => {
      const { value, problems } = await readCase(text, ORIGIN)
      t.match(problems, [{ code: 'bad_frontmatter', line }])
      t.equal(value, null)
    })
  }
  for (const text of ['a +++ b\n', '# Title\n\n+++\n', '{ a }\n', '{\n  "x": 1\n}\n']) {
    t.strictSame((await readCase(text, ORIGIN)).problems, [], text)
  }
})
