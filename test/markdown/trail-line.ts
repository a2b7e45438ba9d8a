import { deepEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { readTrailLine } from '../../src/markdown/trail.ts'
import { type TrailLine, trueLines } from '../../src/model/trail.ts'
import { mutated, often } from '../fixtures/mutated.ts'
import { sampleFiles, writtenFiles } from '../fixtures/written-files.ts'

const LINE =
  /^(\d{1,9})\. (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([a-z_]+)((?: [a-z_][a-z0-9_]*=.*)?)$/
const FIELD = /^ ([a-z_][a-z0-9_]*)=/
const BARE = /^[A-Za-z0-9._:/+@,-]+$/

/** The grammar of a line, written down in the plainest way. */
function lineByGrammar(text: string): TrailLine | null {
  const match = LINE.exec(text)
  if (!match) return null
  const fields: Record<string, unknown> = {}
  let rest = match[4]!
  while (rest !== '') {
    const name = FIELD.exec(rest)
    if (!name || name[1] === '__proto__') return null
    rest = rest.slice(name[0].length)
    const length = /^["[{]/.test(rest) ? jsonLength(rest) : rest.search(/ |$/)
    const source = rest.slice(0, length)
    const value = json(source)
    if (value === undefined && !BARE.test(source)) return null
    fields[name[1]!] = value === undefined ? source : value
    rest = rest.slice(length)
  }
  return { number: Number(match[1]), time: match[2]!, event: match[3]!, fields } as TrailLine
}

/** Up to where brackets and quotes are closed, at most 100 deep. */
function jsonLength(text: string): number {
  let depth = 0
  let inString = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index]!
    if (inString) {
      if (character === '\\') index++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if ('[{'.includes(character)) depth++
    else if (']}'.includes(character)) depth--
    if (depth === 0 && !inString) return index + 1
    if (depth > 100) return 0
  }
  return text.length
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const value = fc.oneof(
  fc.constantFrom(
    'a',
    '1',
    '-1',
    '01',
    '1.5',
    '1e3',
    '1E+3',
    '1.',
    '-',
    '--1',
    '.5',
    '1e',
    '1e999',
    '-0',
    '',
    ' []',
    'true',
    'false',
    'null',
    'nulls',
    'True',
    'a.b:c/d+e@f,g-h',
    '2026-01-05',
    '0x1f',
    'a=b',
    '"a"',
    '"a b"',
    '"a\\nb"',
    '"a\\u2028"',
    '"a',
    'a"b"',
    '"a"b',
    '""',
    '"é"',
    '"a\u2028b"',
    '["a", "b c"]',
    '{"a":{"b":[1]}}',
    '[',
    ']',
    '[1,]',
    '{"__proto__":1}',
    '[]x',
    '"\\q"',
    '\u2028',
    'a\tb',
    '1\t',
    '\t1',
    '\ttrue',
    '"a\tb"',
    'a\nb',
    '"a\nb"',
    'a\r',
    'é',
    '1é',
    '"\x7f"',
    '['.repeat(100) + ']'.repeat(100),
    '['.repeat(101) + ']'.repeat(101),
    '0'.repeat(64),
  ),
  fc.jsonValue().map((each) => JSON.stringify(each)),
  fc.string({ unit: fc.constantFrom(...'ab1-.:"[]{}\\ ,=eE+_\t') }),
)
const field = fc
  .tuple(
    often(' ', '', '  ', '\t'),
    often('a', 'b2', '_c', 'sha256', '__proto__', 'constructor', '2a', 'A', '', 'é'),
    often('=', ''),
    value,
  )
  .map((parts) => parts.join(''))
const line = fc
  .tuple(
    often('1. ', '42. ', '123456789. ', '', '1.', ' 1. ', '1234567890. ', 'x. ', '01. '),
    often('2026-11-20T09:54:00.000Z', '2026-11-20', '2026-11-20T09:54:00.000', 'now'),
    often(' ', '  ', ''),
    often('session_created', 'a', '_', 'A', 'a1', ''),
    fc.array(field, { maxLength: 2 }),
    often('', ' ', '\n', '\r', '\u2028'),
  )
  .map(([number, time, space, event, fields, end]) =>
    [number, time, space, event, ...fields, end].join(''),
  )

const trailLines = [...sampleFiles, ...writtenFiles].flatMap((text) =>
  text.split('\n').filter((each) => /^\d+\. \d{4}-/.test(each)),
)

t.test('a line of the trail is read as its grammar says', async (t) => {
  t.ok(trailLines.length > 300)
  let read = 0
  const runs = 1500
  fc.assert(
    fc.property(fc.oneof(line, mutated(trailLines, 120)), (text) => {
      const wanted = lineByGrammar(text)
      deepEqual(readTrailLine(text), wanted)
      if (wanted) read++
    }),
    { numRuns: runs, verbose: 1 },
  )
  t.ok(read > runs / 8, `${read} of ${runs} were lines`)
  for (const text of trailLines) t.strictSame(readTrailLine(text), lineByGrammar(text))
})

t.test('what stands in a trail out of its order is no line of it', async (t) => {
  const line = (number: number, event = 'tool_call') =>
    ({ number, event, time: '2026-11-23T00:00:00.000Z', fields: {} }) as TrailLine
  const first = line(1, 'session_created')
  const cases: [name: string, lines: TrailLine[], counted: number[]][] = [
    ['a gap is no harm', [first, line(2), line(9), line(10)], [1, 2, 9, 10]],
    ['a number that was there', [first, line(3), line(3), line(2), line(4)], [1, 3, 4]],
    ['a leap that no session makes', [first, line(20_000), line(2)], [1, 2]],
    ['behind the seal', [first, line(2, 'session_sealed'), line(3), line(4)], [1, 2]],
    ['a trail in the text of a section before it', [first, line(7), first, line(2)], [1, 2]],
  ]
  for (const [name, lines, counted] of cases) {
    t.strictSame(
      trueLines(lines).map(({ number }) => number),
      counted,
      name,
    )
  }
})
