import t from 'tap'
import { matchingLines } from '../../src/search/matching-lines.ts'
import { parseQuery } from '../../src/search/query.ts'
import { fieldOf, searchedLines } from '../../src/search/searched-lines.ts'
import { indexedText, plainWordsIn, termsIn } from '../../src/search/words.ts'

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
    ['한국어 검색', '한국 국어 어 검색 색'],
    ['한국'.normalize('NFD'), '한국 국'],
    ['ガイド'.normalize('NFD'), 'ガイ イド ド'],
    ['ｶﾞｲﾄﾞ', 'ガイ イド ド'],
    ['a\x1b[31merror\x1b[39m \x1b[1;91mFAIL\x1b[0m', 'a error fail'],
    ['\u26a0\ufe0fWarning \u2764\ufe0f', 'warning'],
    ['हिन्दी', 'हिन्दी'],
    ['a'.repeat(100_000), 'a'.repeat(64)],
    ['… — !?', ''],
  ]
  for (const [text, terms] of texts) t.equal(termsIn(text).join(' '), terms, text.slice(0, 40))
  t.equal(indexedText('the foo_bar.ts readFile'), 'the foo bar ts readfile _ foo_bar.ts read file')
  t.strictSame(plainWordsIn('a-b 日本語 C'), ['a', 'b', '日', '本', '語', 'c'])
  t.equal(termsIn('a.'.repeat(100_000)).length, 1, 'one name of very many parts')
  t.equal(termsIn('1;'.repeat(100_000)).length, 100_000, 'much that could be a colour')
})

t.test('of a record, what people wrote is searched', async (t) => {
  const session = [
    '---',
    'id: 1',
    'state: complete',
    'diff: { file: src/a.js }',
    '---',
    '',
    '# Session 1: implementing',
    '',
    '## Plan',
    '',
    'Say ## Audit trail',
    '```verbatim',
    '## Audit trail',
    '```',
    '',
    '## Audit trail',
    '',
    '1. 2026 session_created',
  ].join('\r\n')
  const shown = (name: string, text: string) =>
    [...searchedLines(fieldOf(name), text)].map(
      ({ line, text, from }) => `${line} ${text.slice(from)}`,
    )
  t.strictSame(shown('sessions/1.md', session), [
    '4  { file: src/a.js }',
    '11 Say ## Audit trail',
    '13 ## Audit trail',
    '14 ```',
  ])
  t.strictSame(shown('case.md', '\ufeff---\nid: 1\ntitle: A b\n---\n\nText\n'), [
    '3  A b',
    '6 Text',
  ])
  const block = '---\nid: >-\n  1\ntags:\n- a\n  - b\n\nreason: >-\n  long\nstate: OPEN\n---\n'
  t.strictSame(shown('case.md', block), ['5 - a', '6   - b', '8  >-', '9   long'])
  t.strictSame(shown('case.md', '---\nid: 1\nnever closed'), ['1 ---', '2 id: 1', '3 never closed'])
  t.strictSame(shown('notes.md', '---\nid: 1\n---\n'), ['1 ---', '2 id: 1', '3 ---'])
})

t.test('a query is words and filters', async (t) => {
  const { terms, filters } = parseQuery('the Login type:bug state:resolved tag:a,b tag:c x:y')
  t.strictSame(
    terms.map(({ text }) => text),
    ['login'],
  )
  t.strictSame(filters, { type: ['bug'], state: ['RESOLVED'], tag: ['a', 'b', 'c'] })
  t.match(parseQuery('type:"bug" tag:"a","b" "say no'), {
    terms: [{ text: 'say' }],
    filters: { type: ['bug'], tag: ['a', 'b'] },
  })
  t.strictSame(
    parseQuery('the').terms.map(({ text }) => text),
    ['the'],
    'a common word, where there is no other',
  )
  t.strictSame(
    parseQuery('登录失败 v2 的').terms.map(({ text }) => text),
    ['登录', '录失', '失败', 'v2', '的'],
    'each pair of characters, where no blank is between words',
  )
  const sentence = String.fromCodePoint(...Array.from({ length: 100 }, (_, i) => 0x4e00 + i))
  t.equal(parseQuery(sentence).terms.length, 99, 'a sentence without blanks is no word too many')
  const quoted = parseQuery('a "Times OUT, the" tag:"c,b" type:"bug" say:"x y" "so" "" "!" "')
  t.strictSame(quoted.phrases, ['Times OUT, the', 'x y', 'so'])
  t.strictSame(
    quoted.terms.map(({ text }) => text),
    ['say'],
  )
  t.strictSame(quoted.filters, { tag: ['c', 'b'], type: ['bug'] })
  const most = Array.from({ length: 32 }, (_, i) => `w${i}`).join(' ')
  t.equal(parseQuery(most).terms.length, 32)
  t.equal(parseQuery('x'.repeat(1000)).terms.length, 1)
  const wrong: [string, RegExp][] = [
    ['""', /expected a word/],
    ['', /expected a word to look for/],
    [' \n ', /expected a word/],
    ['!? —', /expected a word to look for, .* got "!\? —"/],
    ['type:', /expected a value after "type:", as in type:bug/],
    ['type:""', /expected a value after "type:"/],
    ['tag:"good first issue"', /expected a value without spaces after "tag:", as in tag:auth/],
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
    const words = new Set(['needle', 'hay'])
    const query = { words, prefixes: [], texts: [], limit: 3 }
    const found = matchingLines(searchedLines('notes', text), query)
    t.strictSame(
      found.map(({ line }) => line),
      [3, 1, 4],
    )
    t.strictSame(found[0]!.marks, [
      [4, 10],
      [18, 21],
    ])
    const phrase = new Set(['in', 'the', 'hay'])
    t.strictSame(
      matchingLines(searchedLines('notes', 'the nothing\nin the hay'), {
        ...query,
        words: phrase,
      }).map(({ line, marks }) => [line, marks.length]),
      [[2, 3]],
      'the common words of a phrase alone are no match',
    )
    const cut = found[2]!
    t.match(cut.text, /^…x .* needle y .*…$/)
    t.ok(cut.text.length <= 242)
    for (const [from, to] of cut.marks) t.equal(cut.text.slice(from, to), 'needle')
    const begun = { words: new Set<string>(), prefixes: ['need'], texts: [], limit: 3 }
    t.strictSame(
      matchingLines(searchedLines('notes', text), begun).map(({ line }) => line),
      [1, 3, 4],
      'by the beginning of a word',
    )
  },
)

t.test('before all others the lines that are as the query', async (t) => {
  const text = ['c b a b', '失败 录失 登录', 'x A, b! c', '用户登录失败了'].join('\n')
  const first = (query: string) => {
    const words = new Set(termsIn(query))
    const texts = [parseQuery(query).pasted]
    const lines = searchedLines('notes', text)
    return matchingLines(lines, { words, prefixes: [], texts, limit: 1 })[0]?.line
  }
  t.equal(first('a b c'), 3)
  t.equal(first('登录失败'), 4)
  const lines = searchedLines('notes', 'b c b c\na b\na b c')
  const found = matchingLines(lines, {
    words: new Set(termsIn('a b c')),
    prefixes: [],
    texts: ['a b', 'a b c'],
    limit: 3,
  })
  t.strictSame(
    found.map(({ line }) => line),
    [3, 2, 1],
  )
})
