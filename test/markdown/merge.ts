import { equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { conflictSides } from '../../src/markdown/conflict-sides.ts'
import { hasChange, mergeLines } from '../../src/markdown/merge.ts'
import { mergeRecord, mergeSession } from '../../src/markdown/merge-record.ts'

const lines: [name: string, base: string, ours: string, theirs: string, merged: string | null][] = [
  ['only they changed', 'a\nb\n', 'a\nb\n', 'a\nB\n', 'a\nB\n'],
  ['only we changed', 'a\nb\n', 'A\nb\n', 'a\nb\n', 'A\nb\n'],
  ['both the same', 'a\n', 'A\n', 'A\n', 'A\n'],
  ['both, apart', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\n', 'A\nb\nC\n'],
  ['both, one line', 'a\nb\n', 'A\nb\n', 'a!\nb\n', null],
  ['both, lines that touch', 'a\nb\n', 'A\nb\n', 'a\nB\n', null],
  ['both at the end', 'a\n', 'a\nours\n', 'a\ntheirs\n', null],
  ['both the same, and another', 'a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'A\nb\nc\nD\n', 'A\nb\nc\nD\n'],
  ['they removed a line', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\n', 'A\nb\n'],
  ['CRLF stays', 'a\r\nb\r\nc\r\n', 'A\r\nb\r\nc\r\n', 'a\r\nb\r\nC\r\n', 'A\r\nb\r\nC\r\n'],
  ['no line end at the end stays', 'a\nb\nc', 'A\nb\nc', 'a\nb\nC', 'A\nb\nC'],
  ['they took the last line end away', 'a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nc', 'A\nb\nc'],
  ['and we went on behind it', 'a\nb\n', 'a\nb\nc\n', 'a\nb', null],
  [
    'blank lines',
    'a\n\n\nb\n\nc\n\n',
    'A\n\n\nb\n\nc\n\n',
    'a\n\n\nb\n\nC\n\n',
    'A\n\n\nb\n\nC\n\n',
  ],
  ['a blank line more touches the line above', 'a\nb\n', 'A\nb\n', 'a\n\nb\n', null],
  ['nothing before', '', 'a\n', 'a\n', 'a\n'],
]

t.test('two changes of a text are merged where they do not touch', async (t) => {
  for (const [name, base, ours, theirs, merged] of lines) {
    t.equal(mergeLines({ base, ours, theirs }), merged, name)
    const swapped = mergeLines({ base, ours: theirs, theirs: ours })
    t.equal(swapped, merged, `${name}, from the other side`)
  }
})

t.test('whether a text has what another save changed', async (t) => {
  const rows: [name: string, base: string, ours: string, theirs: string, has: boolean][] = [
    ['a line more', 'a\n', 'x\na\nb\n', 'a\nb\n', true],
    ['a line more, twice', 'a\n', 'a\nb\n', 'a\nb\nb\n', false],
    ['a line less', 'a\nb\n', 'a\nc\n', 'a\n', true],
    ['a line less, which is still there', 'a\nb\n', 'a\nb\nc\n', 'a\n', false],
    ['another line', 'a\nb\n', 'a\nc\n', 'a\nc\n', true],
    ['nothing', 'a\n', 'a\nb\n', 'a\n', false],
    ['line ends alone', 'a\r\n', 'a\n', 'a\n', false],
  ]
  for (const [name, base, ours, theirs, has] of rows)
    t.equal(hasChange({ base, ours, theirs }), has, name)
})

const few = fc.constantFrom('a', 'b', 'c', 'd', '')
const text = fc
  .tuple(fc.array(few, { maxLength: 12 }), fc.constantFrom('\n', '\r\n'), fc.boolean())
  .map(([all, eol, closed]) => all.map((line) => line + eol).join('') + (closed ? '' : 'x'))

t.test('no line that either wrote is lost in a merge', async () => {
  const counts = (text: string) => {
    const found = new Map<string, number>()
    for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
      found.set(line, (found.get(line) ?? 0) + 1)
    }
    return found
  }
  fc.assert(
    fc.property(text, text, text, (base, ours, theirs) => {
      const merged = mergeLines({ base, ours, theirs })
      if (merged === null) return
      const [b, o, s, m] = [base, ours, theirs, merged].map(counts) as Map<string, number>[]
      for (const [one, other] of [
        [o!, s!],
        [s!, o!],
      ] as const) {
        for (const [line, count] of one) {
          const before = b!.get(line) ?? 0
          if (count <= before || (other.get(line) ?? 0) < before) continue
          equal((m!.get(line) ?? 0) >= count, true, `${JSON.stringify(line)} is lost`)
        }
      }
    }),
    { numRuns: 40 },
  )
})

t.test('changes with two lines between them are always merged', async () => {
  const part = fc.array(fc.stringMatching(/^[a-z]{3}\n$/), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(part, part, part, part, (head, tail, newHead, newTail) => {
      const middle = ['KEPT 1\n', 'KEPT 2\n']
      const of = (...parts: string[][]) => parts.flat().join('')
      equal(
        mergeLines({
          base: of(head, middle, tail),
          ours: of(newHead, middle, tail),
          theirs: of(head, middle, newTail),
        }),
        of(newHead, middle, newTail),
      )
    }),
  )
})

const KEYS = ['title', 'state', 'type', 'outcome', 'tags', 'mine']
const BLOCKS = [
  (key: string) => `${key}: plain\n`,
  (key: string) => `${key}:   "quoted: x" # why\n`,
  (key: string) => `${key}:\n  - a # first\n  - b\n`,
  (key: string) => `${key}: { a: 1,\n  b: 2 }\n# below\n`,
  (key: string) => `${key}: |\n  text\n  other: text\n\n`,
  (key: string) => `${key}: [a]\r\n`,
]

t.test('changes of different keys never touch', async () => {
  const block = fc.nat(BLOCKS.length - 1)
  const file = fc.array(block, { minLength: KEYS.length, maxLength: KEYS.length })
  const owner = fc.array(fc.constantFrom('ours', 'theirs'), {
    minLength: KEYS.length,
    maxLength: KEYS.length,
  })
  fc.assert(
    fc.property(file, file, file, owner, (base, ours, theirs, owners) => {
      const of = (pick: (index: number) => number) =>
        `\ufeff---\n${KEYS.map((key, index) => BLOCKS[pick(index)]!(key)).join('')}---\n\nText\n`
      const merged = mergeRecord({
        base: of((index) => base[index]!),
        ours: of((index) => (owners[index] === 'ours' ? ours : base)[index]!),
        theirs: of((index) => (owners[index] === 'theirs' ? theirs : base)[index]!),
      })
      equal(
        merged,
        of((index) => (owners[index] === 'ours' ? ours : theirs)[index]!),
      )
    }),
  )
})

const front = (keys: string, body = '\nText\n') => `---\n${keys}---\n${body}`
const records: typeof lines = [
  [
    'lines of keys that touch',
    front('type: bug\noutcome:\ntags: []\n'),
    front('type: bug\noutcome:\ntags: [a]\n'),
    front('type: bug\noutcome: Duplicate # sure\ntags: []\n'),
    front('type: bug\noutcome: Duplicate # sure\ntags: [a]\n'),
  ],
  ['one key', front('a: 1\n'), front('a: 2\n'), front('a: 3\n'), null],
  [
    'a key and the body',
    front('a: 1\n'),
    front('a: 2\n'),
    front('a: 1\n', 'New\n'),
    front('a: 2\n', 'New\n'),
  ],
  [
    'a key more, beside one that changed',
    front('a: 1\nc: 3\n'),
    front('a: 2\nc: 3\n'),
    front('a: 1\nb: 2\nc: 3\n'),
    front('a: 2\nb: 2\nc: 3\n'),
  ],
  [
    'a key less, beside one that changed',
    front('a: 1\nb: 2\n'),
    front('a: 2\nb: 2\n'),
    front('a: 1\n'),
    front('a: 2\n'),
  ],
  ['a key less that changed', front('a: 1\nb: 2\n'), front('a: 1\nb: 3\n'), front('a: 1\n'), null],
  [
    'frontmatter that cannot be read, by lines',
    front('a: [\nb: 1\nc: 2\n'),
    front('a: [\nb: 1\nc: 3\n'),
    front('a: []\nb: 1\nc: 2\n'),
    front('a: []\nb: 1\nc: 3\n'),
  ],
  [
    'the last line of the head without an end',
    '---\na: 1\n---',
    front('a: 1\n', 'x\n'),
    '---\na: 2\n---',
    front('a: 2\n', 'x\n'),
  ],
]

t.test('files with frontmatter', async (t) => {
  for (const [name, base, ours, theirs, merged] of records) {
    t.equal(mergeRecord({ base, ours, theirs }), merged, name)
  }
})

const LINE = '2026-11-20T09:54:00.000Z'
const trail = (...events: string[]) =>
  `## Audit trail\n\n${events.map((event, index) => `${index + 1}. ${LINE} ${event}\n`).join('')}`
const session = (plan: string, ...events: string[]) =>
  `${front('state: planning\n')}\n## Plan\n\n${plan}\n\n${trail(...events)}`

const sessions: typeof lines = [
  [
    'the trail has grown',
    session('Old', 'one'),
    session('Old', 'one', 'two'),
    session('New', 'one'),
    session('New', 'one', 'two'),
  ],
  [
    'they took lines of the trail away',
    session('Old', 'one', 'two'),
    session('Old', 'one', 'two', 'three'),
    session('New', 'one'),
    session('New', 'one', 'two', 'three'),
  ],
  [
    'they wrote into the trail',
    session('Old', 'one'),
    session('Old', 'one', 'two'),
    session('New', 'mine'),
    null,
  ],
  [
    'they wrote below the trail',
    session('Old', 'one'),
    session('Old', 'one', 'two'),
    `${session('Old', 'one')}\nA note\n`,
    null,
  ],
  [
    'they took the trail and the last line end away',
    session('Old', 'one'),
    session('Old', 'one', 'two'),
    session('New').split('\n\n## Audit')[0]!,
    null,
  ],
]

t.test('the trail of a session stays the one of the service', async (t) => {
  for (const [name, base, ours, theirs, merged] of sessions) {
    t.equal(mergeSession({ base, ours, theirs }), merged, name)
  }
})

t.test('the two sides of a file with conflict markers', async (t) => {
  const marks = 'a\n<<<<<<< HEAD\nour\n=======\ntheir\n>>>>>>> x\nb\n'
  const sides = { ours: 'a\nour\nb\n', theirs: 'a\ntheir\nb\n' }
  t.strictSame(conflictSides(marks), sides)
  t.strictSame(conflictSides(marks.replace('=======', '||||||| base\nold\n=======')), sides)
  t.strictSame(conflictSides('a\n=======\nb\n'), {
    ours: 'a\n=======\nb\n',
    theirs: 'a\n=======\nb\n',
  })
  t.equal(conflictSides(marks.replace(/>>>>.*/, '')), null)
  t.strictSame(conflictSides(marks.replaceAll('\n', '\r\n'))?.theirs, 'a\r\ntheir\r\nb\r\n')
})
