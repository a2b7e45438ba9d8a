import t from 'tap'
import { foundLines } from '../../src/search/found-lines.ts'
import { indexedText, MARK } from '../../src/search/indexed-text.ts'
import { parseQuery, wordsIn } from '../../src/search/query.ts'

/** The lines of a file that are in the index, as a result shows them. */
function searched(name: string, text: string): string[] {
  const marked = indexedText(name, text).replace(/[^\n\x01-\x04]+/g, `${MARK.open}$&${MARK.close}`)
  return foundLines(marked).map(({ line, text }) => `${line} ${text}`)
}

t.test('the words of a query', async (t) => {
  const texts: [text: string, words: string][] = [
    ['Login times out.', 'login times out'],
    ['src/http/body.ts:12', 'src http body.ts 12'],
    ['foo_bar CASE-0012', 'foo_bar case-0012'],
    ['__proto__ (constructor)', 'proto constructor'],
    ['日本語 error', '日本 本語 error'],
    ['한국어 검색', '한국 국어 검색'],
    ['한국'.normalize('NFD'), '한국'],
    ['ガイド'.normalize('NFD'), 'ガイ イド'],
    ['登录失败 v2 的', '登录 录失 失败 v2 的'],
    ['\u26a0\ufe0fWarning \u2764\ufe0f', 'warning'],
    ['… — !?', ''],
  ]
  for (const [text, words] of texts) t.equal(wordsIn(text).join(' '), words, text)
  t.equal(wordsIn('a.'.repeat(100_000)).length, 1, 'one name of very many parts')
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
  t.strictSame(searched('sessions/1.md', session), [
    '11 Say ## Audit trail',
    '13 ## Audit trail',
    '14 ```',
  ])
  t.strictSame(searched('case.md', '\ufeff---\nid: 1\ntitle: A b\n---\n\nText\n'), ['6 Text'])
  const block = '---\nid: >-\n  1\ntags:\n- a\n  - b\n\nreason: >-\n  long\nstate: OPEN\n---\n'
  t.strictSame(searched('case.md', block), ['8 >-', '9   long'])
  t.strictSame(searched('case.md', '---\nid: 1\nnever closed'), [
    '1 ---',
    '2 id: 1',
    '3 never closed',
  ])
  t.strictSame(searched('notes.md', '---\nid: 1\n---\n'), ['1 ---', '2 id: 1', '3 ---'])
  t.strictSame(searched('notes.md', 'a \x1b[31mreadFile\x1b[0m 日本'), [
    '1 a \x1b[31mreadFile\x1b[0m 日本',
  ])
})

t.test('a query is words and filters', async (t) => {
  const { words, filters } = parseQuery('the Login type:bug state:resolved tag:a,b tag:c x:y')
  t.strictSame(words, ['login'])
  t.strictSame(filters, { type: ['bug'], state: ['RESOLVED'], tag: ['a', 'b', 'c'] })
  t.match(parseQuery('type:"bug" tag:"a","b" "say no'), {
    words: ['say'],
    filters: { type: ['bug'], tag: ['a', 'b'] },
  })
  t.strictSame(parseQuery('the').words, ['the'], 'a common word, where there is no other')
  const sentence = String.fromCodePoint(...Array.from({ length: 100 }, (_, i) => 0x4e00 + i))
  t.equal(parseQuery(sentence).words.length, 99, 'a sentence without blanks is no word too many')
  const quoted = parseQuery('a "Times OUT, the" tag:"c,b" type:"bug" say:"x y" "so" "" "!" "')
  t.strictSame(quoted.phrases, ['Times OUT, the', 'x y', 'so'])
  t.strictSame(quoted.words, ['say'])
  t.strictSame(quoted.filters, { tag: ['c', 'b'], type: ['bug'] })
  const most = Array.from({ length: 32 }, (_, i) => `w${i}`).join(' ')
  t.equal(parseQuery(most).words.length, 32)
  t.equal(parseQuery('x'.repeat(1000)).words.length, 1)
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

t.test('lines with most of the words weigh most, and long ones are cut', async (t) => {
  const mark = (text: string) => text.replace(/needle|hay/gi, `${MARK.open}$&${MARK.close}`)
  const long = `${'x '.repeat(400)}needle ${'y '.repeat(400)}`
  const found = foundLines(mark(['one needle', 'no', 'the Needle in the hay', long].join('\n')))
  t.strictSame(
    found.map(({ line }) => line),
    [1, 3, 4],
  )
  const [one, both, cut] = found as [(typeof found)[0], (typeof found)[0], (typeof found)[0]]
  t.ok(both.weight > one.weight && one.weight === cut.weight)
  t.strictSame(both.marks, [
    [4, 10],
    [18, 21],
  ])
  t.match(cut.text, /^…x .* needle y .*…$/)
  t.ok(cut.text.length <= 242)
  for (const [from, to] of cut.marks) t.equal(cut.text.slice(from, to), 'needle')
  const { open, close, parts } = MARK
  t.match(
    foundLines(`a ${open}phrase\nof two${close} lines\nreadFile${parts}read ${open}File${close}`),
    [
      { line: 1, marks: [[2, 8]] },
      { line: 2, marks: [[0, 6]] },
      { line: 3, text: 'readFile', marks: [[4, 8]] },
    ],
  )
})
