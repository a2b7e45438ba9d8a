import { deepEqual, equal, ok } from 'node:assert/strict'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import t from 'tap'
import { parse } from 'yaml'
import { readDocument } from '../../src/markdown/document.ts'
import { newFrontmatter, withFields, withoutFields } from '../../src/markdown/field-edit.ts'
import { setKey } from '../../src/markdown/yaml-edit.ts'
import { readYaml } from '../../src/markdown/yaml-map.ts'
import type { YamlValue } from '../../src/markdown/yaml-scalar.ts'
import { plainNode } from '../../src/markdown/yaml-value.ts'
import { anyCharacter } from '../fixtures/any-character.ts'
import { frontmatter, TRICKY_STRINGS } from '../fixtures/frontmatter.ts'

// the reader that gray-matter, and with it most of the world, brings along
const require = createRequire(createRequire(import.meta.url).resolve('gray-matter'))
const jsYaml3 = require('js-yaml') as { safeLoad(text: string): Record<string, unknown> }
const jsYaml4 = createRequire(import.meta.url)('js-yaml-4') as {
  load(text: string): Record<string, unknown>
}

const anyString = fc
  .oneof(
    { weight: 2, arbitrary: fc.constantFrom(...TRICKY_STRINGS) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 40 }) },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 20 }) },
    {
      weight: 1,
      arbitrary: fc.tuple(fc.constantFrom(...TRICKY_STRINGS), fc.string()).map((p) => p.join('')),
    },
    {
      weight: 1,
      arbitrary: fc.string({ unit: fc.constantFrom(...'-:#,[]{}&*!|>\'"%@`?=~<. a1eE_+\n\t\r\\') }),
    },
  )
  .filter((text) => text.isWellFormed())

const anyValue: fc.Arbitrary<YamlValue> = fc.oneof(
  { weight: 4, arbitrary: anyString },
  { weight: 2, arbitrary: fc.array(anyString, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.constantFrom(null, true, false, 0, -7, 12345) },
  {
    weight: 1,
    arbitrary: fc.record(
      { file: anyString, additions: fc.nat(), deletions: fc.nat() },
      { noNullPrototype: true },
    ),
  },
)

function valuesOf(source: string): Record<string, unknown> {
  const read = readYaml(source)
  ok(read.ok, `${JSON.stringify(source)} does not read: ${JSON.stringify(read)}`)
  return Object.fromEntries([...read.map.pairs].map(([key, pair]) => [key, plainNode(pair.value)]))
}

/** The source from the first to the last byte that an edit changed, before and after. */
function changedPart(before: string, after: string): { was: string; now: string; from: number } {
  const most = Math.min(before.length, after.length)
  let from = 0
  while (from < most && before[from] === after[from]) from++
  let tail = 0
  while (tail < most - from && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  return {
    was: before.slice(from, before.length - tail),
    now: after.slice(from, after.length - tail),
    from,
  }
}

const keyLines = (source: string, eol: string) =>
  source.split(eol).filter((line) => /^"?(?:id|title|tags|x-own|clé)"? ?:/.test(line))
const comments = (source: string) =>
  source.match(/(?<=^|[ \t])#.*(?:said|comment|indented|not, yaml).*$/gm) ?? []

t.test('setting a field changes the bytes of its value and no others', async () => {
  fc.assert(
    fc.property(
      frontmatter,
      fc.constantFrom('id', 'title', 'tags', 'x-own', 'clé', 'new'),
      anyValue,
      ({ source, eol, fields }, key, value) => {
        const before = valuesOf(source)
        deepEqual(before, Object.fromEntries(fields.map((each) => [each.key, each.value])))
        const edited = setKey(source, key, value, eol)
        deepEqual(valuesOf(edited), { ...before, [key]: value })
        const index = fields.findIndex((each) => each.key === key)
        const lines = keyLines(source, eol)
        const { was, now, from } = changedPart(source, edited)
        if (edited === source) return
        if (index >= 0) {
          const at = source.indexOf(lines[index]!)
          const next = lines[index + 1]
          ok(from >= at || was + now === '', 'nothing before the key changed')
          ok(!next || from + was.length <= source.lastIndexOf(next), 'nothing after it did')
        } else equal(was, '', 'a new key only adds')
        const own = comments(fields[index]?.lines.join('\n') ?? '').filter((c) => !/said/.test(c))
        const kept = comments(source).filter((c) => !own.includes(c) && !/no comment|# no"/.test(c))
        for (const comment of kept) ok(edited.includes(comment.trimEnd()), `${comment} is kept`)
        equal(/(?<!\r)\n/.test(edited), eol === '\n', 'line endings stay')
        equal(setKey(edited, key, value, eol), edited, 'setting it again changes nothing')
      },
    ),
    { numRuns: 40 },
  )
})

t.test('emptying a field and setting it again', async () => {
  fc.assert(
    fc.property(
      frontmatter,
      fc.constantFrom('id', 'title', 'tags'),
      ({ source, eol, fields }, key) => {
        const before = valuesOf(source)
        const empty = setKey(source, key, null, eol)
        deepEqual(valuesOf(empty), { ...before, [key]: null })
        ok(before[key] === null || !/ ?:[ \t]+\r?$/m.test(changedPart(source, empty).now))
        const { value } = fields.find((each) => each.key === key)!
        deepEqual(valuesOf(setKey(empty, key, value as YamlValue, eol)), before)
      },
    ),
    { numRuns: 40 },
  )
})

t.test('a string is written so that every reader reads that string', async () => {
  const places: [string, (text: string) => [string, YamlValue][]][] = [
    ['alone', (text) => [['title', text]]],
    ['in a list', (text) => [['title', [text, 'b', text]]]],
    ['in a map', (text) => [['title', { a: text, b: [text] }]]],
  ]
  fc.assert(
    fc.property(
      anyString,
      fc.constantFrom(...places),
      fc.constantFrom('\n', '\r\n'),
      (text, [, fields], eol) => {
        const source = newFrontmatter([...fields(text), ['state', 'OPEN']], eol).split(
          /---\r?\n/,
        )[1]!
        const wanted = { title: fields(text)[0]![1], state: 'OPEN' }
        deepEqual(valuesOf(source), wanted)
        deepEqual(parse(source), wanted, 'yaml 2')
        deepEqual(parse(source, { version: '1.1' }), wanted, 'yaml 2 as 1.1')
        deepEqual(jsYaml3.safeLoad(source), wanted, 'js-yaml 3')
        deepEqual(jsYaml4.load(source), wanted, 'js-yaml 4')
        equal(source.split(eol).length, 3, 'one line for each key')
      },
    ),
    { numRuns: 40 },
  )
  for (const text of TRICKY_STRINGS) {
    const edited = setKey('title: x\n', 'title', text, '\n')
    deepEqual(jsYaml3.safeLoad(edited), { title: text })
    deepEqual(jsYaml4.load(edited), { title: text })
  }
})

t.test('how an edit looks', (t) => {
  const cases: [string, string, string, YamlValue, string][] = [
    ['a plain value', 'a: b # c\n', 'a', 'd', 'a: d # c\n'],
    ['an empty one', 'a: # c\nb:\n', 'b', 'd', 'a: # c\nb: d\n'],
    ['removal', 'a:   b # c\n', 'a', null, 'a: # c\n'],
    [
      'block list: appended',
      'tags:\n  - a # x\n  - b\n',
      'tags',
      ['a', 'b', 'c'],
      'tags:\n  - a # x\n  - b\n  - c\n',
    ],
    [
      'block list: first gone',
      'tags:\n- a\n# y\n- b # z\ns: t\n',
      'tags',
      ['b'],
      'tags:\n# y\n- b # z\ns: t\n',
    ],
    [
      'block list: all new',
      'tags: # x\n  - a\n  - b\n\ns: t\n',
      'tags',
      ['no'],
      'tags: # x\n  - "no"\n\ns: t\n',
    ],
    ['block list: last, no newline', 'tags:\n  - a', 'tags', ['a', 'b'], 'tags:\n  - a\n  - b\n'],
    ['block list: null', 'tags:\n  - a\n# c\ns: t\n', 'tags', null, 'tags:\n# c\ns: t\n'],
    ['flow list', 'tags: [a,  b ] # c\n', 'tags', ['b'], 'tags: [b] # c\n'],
    ['literal text', 'a: | # c\n  x\n\n  y\n\nb: d\n', 'a', 'z', 'a: z # c\n\nb: d\n'],
    [
      'map on lines',
      'a:\n  b: 1 # x\n\n# c\nd: e\n',
      'a',
      { b: 2 },
      'a: { b: 2 } # x\n\n# c\nd: e\n',
    ],
    ['flow root', '{ a: b, c }\n', 'a', 'd', '{ a: d, c }\n'],
    ['flow root: null', '{a: b}\n', 'a', null, '{a: null}\n'],
    [
      'flow root: added',
      '{\n  a: b, # x }\n  c: [d], # y\n} # z }\n',
      'e',
      'f',
      '{\n  a: b, # x }\n  c: [d], e: f, # y\n} # z }\n',
    ],
    ['flow root: added after a bare key', '{ a }\n', 'b', 'c', '{ a, b: c }\n'],
    ['JSON root', '{"a":"b"}\n', 'a', 'no', '{"a":"no"}\n'],
    ['added', 'a: b\n# last\n', 'c', 'd', 'a: b\n# last\nc: d\n'],
    ['added to comments alone', '# c\n', 'a', 'b', '# c\na: b\n'],
    ['indented root', '  a: b\n  c: d\n', 'e', 'f', '  a: b\n  c: d\n  e: f\n'],
    ['quoted key', '"a" : b\n', 'a', 'd', '"a" : d\n'],
    ['the same value', "a: 'b'\n", 'a', 'b', "a: 'b'\n"],
    ['behind a wide space', 'a: b\u3000\nc: d\u2003 \n', 'a', 'e', 'a: e\nc: d\u2003 \n'],
  ]
  for (const [name, source, key, value, wanted] of cases) {
    t.equal(setKey(source, key, value, '\n'), wanted, name)
  }
  t.end()
})

t.test('a removed field takes its line with it, and no other bytes', (t) => {
  const cases: [string, string, string][] = [
    ['between others', 'a: b  # x\ntests: "make" \nc: [d,  e]\n', 'a: b  # x\nc: [d,  e]\n'],
    ['the first', 'tests: make\n\n# x\na: b\n', '\n# x\na: b\n'],
    ['with comments alone left', '# x\ntests: make\n# y\n', '# x\n# y\n'],
    ['its own comment stays', 'a: b\n"tests" : make   # slow\nc: d\n', 'a: b\n# slow\nc: d\n'],
    ['a list in brackets', 'tests: [a, b]\na: b\n', 'a: b\n'],
    ['indented', '  a: b\n  tests: make # x\n  c: d\n', '  a: b\n  # x\n  c: d\n'],
    ['absent', 'a: b # tests: x\n', 'a: b # tests: x\n'],
    ['after a text on lines', 'a: |\n  x\n\ntests: make\nc: d\n', 'a: |\n  x\n\nc: d\n'],
    ['on lines: emptied', 'tests: |\n  make\n\nc: d\n', 'tests:\n\nc: d\n'],
    ['in braces: emptied', '{ tests: make, c: d }\n', '{ tests: null, c: d }\n'],
  ]
  for (const [name, source, wanted] of cases) {
    for (const eol of ['\n', '\r\n']) {
      const file = (front: string) => `---\n${front}---\n\nBody.\n`.replaceAll('\n', eol)
      t.equal(withoutFields(file(source), ['tests']), file(wanted), `${name} ${eol.length}`)
    }
  }
  t.equal(withoutFields('no frontmatter', ['tests']), 'no frontmatter')
  t.end()
})

t.test('a file gets the frontmatter that it lacks, and its body stays', (t) => {
  const cases: [string, string, string][] = [
    ['an empty file', '', '---\na: b\n---\n'],
    ['a body', '# x\n', '---\na: b\n---\n\n# x\n'],
    ['a blank first line', '\n# x', '---\na: b\n---\n\n# x'],
    ['a BOM', '\ufeff# x\r\n', '\ufeff---\r\na: b\r\n---\r\n\r\n# x\r\n'],
    ['frontmatter that ends the file', '---\nc: d\n---', '---\nc: d\na: b\n---'],
    ['empty frontmatter', '---\n---\nx', '---\na: b\n---\nx'],
  ]
  for (const [name, text, wanted] of cases) {
    const edited = withFields(text, [['a', 'b']])
    t.equal(edited, wanted, name)
    t.ok(readDocument(edited).ok)
  }
  t.end()
})

t.test('frontmatter that is refused: what, and on which line', async (t) => {
  const block = (source: string) => `---\n${source}\n---\nbody\n`
  const anchors = Array.from({ length: 9 }, (_, i) => `a${i}: &a${i} [${`*a${i - 1},`.repeat(9)}]`)
  const lists = `${'['.repeat(17)}${']'.repeat(17)},`
  const execute = 'globalThis.polluted = 1, Object.prototype.polluted = 1'
  const refused: [string, string, number, RegExp][] = [
    ['---js', `---js\n${execute}\n---\n`, 1, /---js/],
    ['---constructor', '---constructor\na: b\n---\n', 1, /constructor/],
    ['---__proto__', '---__proto__\npolluted: 1\n---\n', 1, /__proto__/],
    ['---json', '---json\n{"__proto__":{"polluted":1}}\n---\n', 1, /json/],
    ['unclosed', '---\na: b\n\n# Title\n', 1, /no closing/],
    ['---foo inside', '---\na: b\n---foo\nc: d\n---\n', 3, /starts with ---/],
    ['--- {} inside', '---\n# c\n--- {c: d}\n---\n', 3, /starts with ---/],
    ['CR alone', '---\ra: b\r---\rbody\r', 1, /CR/],
    ['duplicate key', block('a: b\nc: d\na: e'), 4, /twice/],
    ['duplicate key, nested', block('a:\n  b: 1\n  c: 2\n  b: 3'), 5, /twice/],
    ['duplicate key in a list', block('a: b\nx: [{ c: 1, c: 2 }]'), 3, /twice/],
    ['alias', block('a: &x b\nc: *x'), 3, /alias/],
    ['alias to itself', block('a: &a [*a]'), 2, /alias/i],
    ['alias bomb', block(['a: b', ...anchors.slice(1)].join('\n')), 3, /alias/i],
    ['alias as key', block('a: &x b\n*x : c'), 3, /./],
    ['merge key', block('a: b\n<<: { state: RESOLVED }'), 3, /merge/],
    ['!!js/function', block('a: b\nc: !!js/function "function () { return 1 }"'), 3, /tag/],
    ['!!str', block('a: !!str 12'), 2, /tag/],
    ['!foo', block('a: b\nc: !foo d'), 3, /tag/],
    ['%YAML', block('%YAML 1.1\na: no'), 2, /directive/i],
    ['two documents', block('a: b\n...\nc: d'), 3, /one YAML document/],
    ['__proto__', block('a: b\n__proto__: { polluted: 1 }'), 3, /__proto__/],
    ['__proto__ at depth', block('a:\n  - b:\n      __proto__: { polluted: 1 }'), 4, /__proto__/],
    ['constructor', block('a: b\nconstructor: 1'), 3, /constructor/],
    ['prototype', block('a: b\nprototype: 1'), 3, /prototype/],
    [
      'constructor at depth',
      block('a: b\nc: { d: { constructor: { prototype: 1 } } }'),
      3,
      /constructor/,
    ],
    ['depth 25, flow', block(`a: b\nc: ${'['.repeat(25)}${']'.repeat(25)}`), 3, /levels/],
    [
      'depth 25, block',
      block(Array.from({ length: 25 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')),
      23,
      /levels/,
    ],
    ['64 KiB of [', block(`a: b\nc: ${'['.repeat(65_000)}`), 3, /levels/],
    ['lists in lists', block(`a: b\nc: [${lists.repeat(1500)}]`), 3, /too many/],
    ['64 KiB of items', block(`a:\n${'- b\n'.repeat(16_000)}`), 5002, /too many/],
    ['a list as root', block('- a\n- b'), 2, /key: value/],
    ['a text as root', block('# c\nhello'), 3, /key: value/],
    ['a list in place of a key', block('a: b\n? [c]\n: d'), 3, /key/],
    ['NUL', block('a: b\nc: "\0"'), 3, /0x00/],
    ['escape', block('a: b\nc: \u001b[31m'), 3, /0x1b/],
    ['70 KiB', block(`a: b\n${'# comment\n'.repeat(7000)}`), 1, /64 KiB/],
    ['tab as indentation', block('a:\n\tb: c'), 3, /tab/i],
    ['an open quote', block('a: b\nc: "d'), 3, /quote/],
    ['a colon in plain text', block('a: b\nc: d: e'), 3, /./],
  ]
  readDocument(block('warm: up'))
  for (const [name, text, line, message] of refused) {
    for (const bom of text.length < 100 ? ['', '\ufeff'] : ['']) {
      const read = readDocument(bom + text)
      if (read.ok) {
        t.fail(`${name} was read`)
        continue
      }
      t.match(read.message, message, `${name}: ${read.message}`)
      t.equal(read.line, line, `${name}: line ${line}`)
      t.ok(read.message.length < 400, name)
    }
  }
  t.equal((readDocument(block('a: b\na: c')) as { code?: string }).code, 'duplicate_key')
  t.equal((readDocument(block(`a: ${'x'.repeat(70_000)}`)) as { code?: string }).code, 'too_large')
  t.equal(({} as Record<string, unknown>).polluted, undefined)
  t.equal((globalThis as Record<string, unknown>).polluted, undefined)
  t.end()
})

t.test('frontmatter is parsed once by what a write does with it', async (t) => {
  const source = 'a:\n  b: c\n'
  const map = () => (readYaml(source) as { map: object }).map
  const first = map()
  t.equal(map(), first)
  setKey(source, 'd', 'e', '\n')
  t.equal(map(), first)
  for (let n = 0; n < 3; n++) readYaml(`a${n}: b`)
  t.not(map(), first, 'and kept for a moment')
})

t.test('frontmatter that is read, however odd', async (t) => {
  const read: [string, string, Record<string, unknown> | null, string][] = [
    ['none', 'body\n', null, 'body\n'],
    ['an empty file', '', null, ''],
    ['a blank first line', '\n---\na: b\n---\n', null, '\n---\na: b\n---\n'],
    ['a BOM', '\ufeff---\na: b\n---\nx', { a: 'b' }, 'x'],
    ['spaces behind the dashes', '---  \na: b\n---\t\nx', { a: 'b' }, 'x'],
    ['no newline at the end', '---\na: b\n---', { a: 'b' }, ''],
    ['empty', '---\n---\nx', {}, 'x'],
    ['a comment that is no key', '---\n# a: b\n#c\nd: e\n---\n', { d: 'e' }, ''],
    [
      'a body that starts with ---js',
      '---\na: b\n---\n---js\n1\n---\n',
      { a: 'b' },
      '---js\n1\n---\n',
    ],
    ['a thematic break as body', '---\na: b\n---\n---\n', { a: 'b' }, '---\n'],
    ['an indented --- in a text', '---\na: |\n  ---\n  b\n---\n', { a: '---\nb\n' }, ''],
    ['many brackets in a text', `---\na: "${'[{'.repeat(99)}"\n---\n`, { a: '[{'.repeat(99) }, ''],
    ['a % in a text', '---\na: "x\n  %b"\n---\n', { a: 'x %b' }, ''],
    ['a key without a value', '---\na\u00e9:\nb: ~\n---\n', { aé: null, b: null }, ''],
    [
      'typed words',
      '---\na: 0123\nb: 1.10\nc: no\nd: 2024-01-05\ne: 2024\nf: true\n---\n',
      { a: '0123', b: '1.10', c: 'no', d: '2024-01-05', e: 2024, f: true },
      '',
    ],
  ]
  for (const [name, text, values, body] of read) {
    const result = readDocument(text)
    if (!result.ok) {
      t.fail(`${name}: ${result.message}`)
      continue
    }
    const { front, bodyStart } = result.document
    const found =
      front && Object.fromEntries([...front.map.pairs].map(([k, p]) => [k, plainNode(p.value)]))
    t.strictSame(found, values, name)
    t.equal(text.slice(bodyStart), body, `${name}: body`)
  }
})

t.test('no text makes the reader throw', async () => {
  const line = fc.constantFrom(
    '---',
    '---js',
    'a: b',
    '- ',
    '? ',
    '  ',
    '[',
    '}',
    '*a',
    '&a ',
    '!x ',
    '|',
    '>',
    '"',
    "'",
    '#',
    '...',
    '%',
    ':',
    '\t',
    '\r',
    '\0',
    '<<: ',
    '\u2028',
    '😀',
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '', ' ')), { maxLength: 20 }),
      (parts) => {
        const text = `---\n${parts.flat().join('')}`
        const read = readDocument(text)
        const closed = readDocument(`${text}\n---\n`)
        for (const each of [read, closed]) if (!each.ok) ok(each.line >= 1 && each.line <= 40)
      },
    ),
    { numRuns: 50 },
  )
})
