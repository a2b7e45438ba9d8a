import { deepEqual, ok } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { newCaseText } from '../../src/markdown/case-file.ts'
import { readDocument } from '../../src/markdown/document.ts'
import { newFrontmatter } from '../../src/markdown/field-edit.ts'
import { ordinaryValues } from '../../src/markdown/ordinary-front.ts'
import { newProofText } from '../../src/markdown/proof-file.ts'
import { newSessionText } from '../../src/markdown/session-texts.ts'
import { cutsOf } from '../../src/markdown/yaml-cut.ts'
import { readYaml } from '../../src/markdown/yaml-map.ts'
import { isNode } from '../../src/markdown/yaml-package.ts'
import { plainNode, scalarText } from '../../src/markdown/yaml-value.ts'
import type { Proof } from '../../src/model/proof.ts'
import type { Session } from '../../src/model/session.ts'
import { frontmatter, TRICKY_STRINGS } from '../fixtures/frontmatter.ts'
import { isFull } from '../fixtures/full.ts'
import { CASE, PROOF, SESSION } from '../fixtures/records.ts'

const RUNS = isFull ? 100_000 : 50

/** The fields as the strict reader has them, which it must have if the other one has any. */
function strictly(source: string) {
  const read = readYaml(source)
  ok(read.ok, `${JSON.stringify(source)} is read by one of two`)
  return [...read.map.pairs].map(([name, pair]) => {
    const at = 4 + (isNode(pair.key) ? pair.key.range![0] : 0)
    const { value } = pair
    return [
      name,
      { value: plainNode(value), text: scalarText(value), at, cuts: cutsOf(source, pair) },
    ]
  })
}

/** Whether the first reader reads it: the same as the strict one. */
function isRead(source: string): boolean {
  if (ordinaryValues(source) === null || /^---/m.test(source)) return false
  const read = readDocument(`---\n${source}---\n`)
  deepEqual(read.ok && [...read.document.fields!], strictly(source))
  return true
}

const SIGNS = [...'ab:,[]{}-"\'.~10/()+=_^$;<#&*!|>%@`?\\\t', ' ', ' ', '  ', ': ', ', ', ' #']
const WORDS = 'null true True << 12 1.5 -7 1e3 "x" \'\' \\n é 😀 ... __proto__: constructor:'.split(
  ' ',
)
const ODD = [...'\u2029\u0085\u00a0\ufeff\ud800\0']
const part = fc.constantFrom(...SIGNS, ...WORDS, ...ODD)
const parts = fc.array(part, { maxLength: 8 }).map((all) => all.join(''))
const key = fc.constantFrom('a', 'b', 'd-e', 'null', '__proto__', '"a"')
const line = fc.oneof(
  fc.tuple(key, fc.constantFrom(':', ': ', ':  '), parts),
  fc.tuple(key, fc.constantFrom(': [', ': {', ': [{ '), parts, fc.constantFrom(']', '}', ' }]')),
  fc.tuple(fc.constantFrom('- ', '  - ', '   - ', '-', '  '), parts),
)
const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\n', '\r\n')), { maxLength: 6 })
const oddText = lines.map((all) => all.flat(2).join(''))
const text = fc.oneof(fc.constantFrom(...TRICKY_STRINGS), fc.string({ unit: 'grapheme' }))
const value = fc.oneof(text, fc.array(text), fc.record({ file: text, x: fc.array(text) }))
const own = fc
  .array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e'), value), { maxLength: 5 })
  .map((fields) => newFrontmatter(fields).slice(4, -4))

t.test('two readers read the same, or the first leaves it to the other', async () => {
  const typed = 'True TRUE 1.5 -7 1e21 1e+21 0x1 .5 a#b'.split(' ')
  for (const text of [...TRICKY_STRINGS, ...typed])
    for (const source of [text, `"${text}"`, `[${text}]`, `{ b: ${text} }`, `\n- ${text}`])
      isRead(`a: ${source}\n`)
  for (const texts of [oddText, own, frontmatter.map(({ source }) => source)]) {
    fc.assert(
      fc.property(texts, (source) => {
        isRead(source)
      }),
      { numRuns: RUNS },
    )
  }
})

t.test('what the service writes needs only the first', async (t) => {
  const change = { file: 'src/a b.ts', additions: 3, deletions: 0 }
  const session: Session = {
    ...SESSION,
    diff: { ...change, files: [change, { ...change, file: '' }] },
    tests: { run: 3, passed: 1, failed: 2, flaky: 0 },
    failed_tests: [
      { name: 'a > "b": #1', message: 'expected {\n}', file: 'a.ts', line: 3 },
      { name: 'c', message: null, file: null, line: null },
    ],
  }
  const image: Proof['image'] = { name: 'p.png', type: 'image/png', width: 1, height: 2, bytes: 3 }
  const texts = {
    case: await newCaseText({ ...CASE, title: 'Fix #12: "it\'s" [x]', tags: ['a b', '12', 'no'] }),
    session: await newSessionText(session),
    proof: newProofText({ ...PROOF, tests: session.tests }, 'x'),
    picture: newProofText({ ...PROOF, image }, ''),
  }
  for (const [name, text] of Object.entries(texts)) {
    const source = text.slice(4, text.indexOf('\n---\n') + 1)
    t.ok(isRead(source), name)
    t.ok(isRead(source.replaceAll('\n', '\r\n')), `${name} with CRLF`)
  }
})
