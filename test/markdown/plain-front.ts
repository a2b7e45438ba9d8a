import { deepEqual, equal } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { withParsedFields } from '../../src/markdown/field-edit.ts'
import { type HeadResult, parsedHead, readHead } from '../../src/markdown/head.ts'
import { withPlainFields } from '../../src/markdown/plain-edit.ts'
import { plainFront } from '../../src/markdown/plain-front.ts'
import type { YamlValue } from '../../src/markdown/yaml-scalar.ts'
import { TRICKY_STRINGS } from '../fixtures/frontmatter.ts'
import { headText, mutated } from '../fixtures/head-text.ts'
import { sampleFiles, writtenFiles } from '../fixtures/written-files.ts'

const files = [...sampleFiles, ...writtenFiles].filter((text) => text.startsWith('---'))

/** All of it that can be compared: a Map in its order. */
function said(read: HeadResult): unknown {
  return read.ok ? { ...read.head, fields: read.head.fields && [...read.head.fields] } : read
}

function holds(text: string): boolean {
  if (!plainFront(text)) return false
  deepEqual(said(readHead(text)), said(parsedHead(text)))
  return true
}

t.test('files as the service and the sample have them are read without the parser', async (t) => {
  t.ok(files.length > 100)
  for (const text of files) {
    const crlf = text.replaceAll('\n', '\r\n')
    for (const each of [text, `\ufeff${text}`, crlf]) t.ok(holds(each), each.slice(0, 60))
  }
})

t.test('where plain frontmatter is read, the parser reads the same', async (t) => {
  let plain = 0
  const runs = 8000
  fc.assert(
    fc.property(headText, (text) => {
      if (holds(text)) plain++
    }),
    { numRuns: runs, verbose: 1 },
  )
  t.ok(plain > runs / 8, `${plain} of ${runs} were plain`)
})

t.test('and so it is in files of which something was changed', async (t) => {
  let plain = 0
  const runs = 4000
  fc.assert(
    fc.property(mutated(files), (text) => {
      if (holds(text)) plain++
    }),
    { numRuns: runs, verbose: 1 },
  )
  t.ok(plain > runs / 8, `${plain} of ${runs} were plain`)
})

const values = fc.oneof(
  fc.constantFrom<YamlValue>(
    ...TRICKY_STRINGS,
    null,
    '',
    'OPEN',
    'a: b',
    7,
    true,
    ['a', 'b c'],
    [],
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
)
const edits = fc.array(
  fc.tuple(
    fc.constantFrom('id', 'title', 'state', 'outcome', 'tags', 'created_at', 'x-own'),
    values,
  ),
  { minLength: 1, maxLength: 2 },
)

for (const [name, texts] of [
  ['in any frontmatter', headText],
  ['in files of which something was changed', mutated(files)],
] as const) {
  t.test(`where a field is set without the parser, it sets the same: ${name}`, async (t) => {
    let plain = 0
    const runs = 4000
    fc.assert(
      fc.property(texts, edits, (text, fields) => {
        const edited = withPlainFields(text, fields)
        if (edited === null) return
        equal(edited, withParsedFields(text, fields))
        plain++
      }),
      { numRuns: runs, verbose: 1 },
    )
    t.ok(plain > runs / 200, `${plain} of ${runs} were plain`)
  })
}

t.test('a title is set without the parser where the file is as the service has it', async (t) => {
  for (const text of files.filter((each) => each.includes('\ntitle: '))) {
    for (const each of [text, text.replaceAll('\n', '\r\n')]) {
      t.equal(
        withPlainFields(each, [['title', 'New: one']]),
        withParsedFields(each, [['title', 'New: one']]),
      )
    }
  }
})
