import t from 'tap'
import { matchingLines } from '../../src/search/matching-lines.ts'
import { parseQuery } from '../../src/search/query.ts'
import { placeOf, searchedLines } from '../../src/search/searched-lines.ts'
import { termsOf } from '../../src/search/words.ts'

t.test('a text is found by', async (t) => {
  const texts: [text: string, terms: string][] = [
    ['Login times out.', 'login times out'],
    ['src/http/body.ts:12', 'src http body.ts body ts 12'],
    ['foo_bar CASE-0012', 'foo_bar foo bar case-0012 case 0012'],
    ['readFileSync HTTPServer', 'readfilesync read file sync httpserver http server'],
    ['__proto__ (constructor)', 'proto constructor'],
    ['Müller, Straße; NAÏVE ﬁle', 'muller strasse naive file'],
    ['mu\u0308ller', 'muller'],
    ['日本語 error', '日本 本語 語 error'],
    ['한국어 검색', '한국어 검색'],
    ['हिन्दी', 'हिन्दी'],
    ['a'.repeat(100_000), 'a'.repeat(64)],
    ['… — !?', ''],
  ]
  for (const [text, terms] of texts) t.equal(termsOf(text).join(' '), terms, text.slice(0, 40))
  t.equal(termsOf('a.'.repeat(100_000)).length, 1, 'one name of very many parts')
})

t.test('of a record, what people wrote is searched', async (t) => {
  const session = [
    ...['---', 'id: 1', 'state: complete', 'diff: { file: src/a.js }', '---', ''],
    ...['# Session 1: implementing', '', '## Plan', '', 'Say ## Audit trail', '```verbatim'],
    ...['## Audit trail', '```', '', '## Audit trail', '', '1. 2026 session_created'],
  ].join('\r\n')
  const shown = (name: string, text: string) =>
    [...searchedLines(placeOf(name), text)].map(
      ({ line, text, from }) => `${line} ${text.slice(from)}`,
    )
  t.strictSame(shown('sessions/1.md', session), [
    ...['4  { file: src/a.js }', '11 Say ## Audit trail', '13 ## Audit trail', '14 ```'],
  ])
  t.strictSame(shown('case.md', '\ufeff---\nid: 1\ntitle: A b\n---\n\nText\n'), [
    '3  A b',
    '6 Text',
  ])
  t.strictSame(shown('case.md', '---\nid: 1\nnever closed'), ['1 ---', '2 id: 1', '3 never closed'])
  t.strictSame(shown('notes.md', '---\nid: 1\n---\n'), ['1 ---', '2 id: 1', '3 ---'])
})

t.test('a query is words and filters', async (t) => {
  const { wanted, filters } = parseQuery('the Login type:bug state:resolved tag:a,b tag:c x:y')
  t.strictSame(
    wanted.map(({ whole }) => whole),
    ['login'],
  )
  t.strictSame(filters, { type: ['bug'], state: ['RESOLVED'], tag: ['a', 'b', 'c'] })
  t.strictSame(
    parseQuery('the').wanted.map(({ whole }) => whole),
    ['the'],
    'a common word, where there is no other',
  )
  const wrong: [string, RegExp][] = [
    ['', /expected a word to look for/],
    [' \n ', /expected a word/],
    ['!? —', /expected a word to look for, .* got "!\? —"/],
    ['type:', /expected a value after "type:", as in type:bug/],
    ['x'.repeat(1001), /expected at most 1000 characters; got 1001/],
    [Array.from({ length: 33 }, (_, i) => `w${i}`).join(' '), /expected at most 32 words; got 33/],
  ]
  for (const [text, message] of wrong) t.throws(() => parseQuery(text), { message })
})

t.test(
  'the lines with most of the words come first, and long ones are cut around them',
  async (t) => {
    const long = `${'x '.repeat(400)}needle ${'y '.repeat(400)}`
    const text = ['one needle', 'nothing', 'the Needle in the hay', long].join('\n')
    const terms = new Set(['needle', 'hay'])
    const found = matchingLines(searchedLines('notes', text), terms, 3)
    t.strictSame(
      found.map(({ line }) => line),
      [3, 1, 4],
    )
    t.strictSame(found[0]!.marks, [
      [4, 10],
      [18, 21],
    ])
    const cut = found[2]!
    t.match(cut.text, /^…x .* needle y .*…$/)
    t.ok(cut.text.length <= 242)
    for (const [from, to] of cut.marks) t.equal(cut.text.slice(from, to), 'needle')
  },
)
