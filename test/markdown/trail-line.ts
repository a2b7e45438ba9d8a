import t from 'tap'
import { readTrailLine } from '../../src/markdown/trail.ts'
import { type TrailLine, trueLines } from '../../src/model/trail.ts'
import { NOW } from '../fixtures/records.ts'

const [deep, tooDeep] = [100, 101].map((depth) => '['.repeat(depth) + ']'.repeat(depth))

t.test('the fields of a line, and their values', async (t) => {
  const rows: [fields: string, read: Record<string, unknown> | null][] = [
    ['', {}],
    [' a=b c=1', { a: 'b', c: 1 }],
    [' a=01', { a: '01' }],
    [' a=-1.5e3 b=1.2.3 c=-', { a: -1500, b: '1.2.3', c: '-' }],
    [' a=true b=null c=nulls d=True', { a: true, b: null, c: 'nulls', d: 'True' }],
    [' a=2026-01-05 b=a.b:c/d+e@f,g-h', { a: '2026-01-05', b: 'a.b:c/d+e@f,g-h' }],
    [' a="b c" d="\\u2028" e=""', { a: 'b c', d: '\u2028', e: '' }],
    [' a=["x", "y z"] b={"c":[1]}', { a: ['x', 'y z'], b: { c: [1] } }],
    [` a=${deep}`, { a: JSON.parse(deep!) }],
    [` a=${tooDeep}`, null],
    [' constructor=1', { constructor: 1 }],
    [' __proto__=1', null],
    [' a', null],
    [' a=', null],
    [' 2a=b', null],
    [' A=b', null],
    ['  a=b', null],
    [' a=b ', null],
    [' a=é', null],
    [' a="b', null],
    [' a="b"c', null],
    [' a=b"c"', null],
    [' a=[1,]', null],
    [' a=b\tc', null],
    [' a="\\q"', null],
  ]
  for (const [fields, read] of rows) {
    const line = readTrailLine(`12. ${NOW} tool_call${fields}`)
    t.strictSame(line?.fields ?? null, read, JSON.stringify(fields))
    if (line) t.match(line, { number: 12, time: NOW, event: 'tool_call' })
  }
  for (const start of [
    `12.${NOW}`,
    ` 1. ${NOW}`,
    `1234567890. ${NOW}`,
    '1. 2026-11-20',
    `x. ${NOW}`,
  ])
    t.equal(readTrailLine(`${start} tool_call`), null, start)
  t.equal(readTrailLine(`1. ${NOW} a b="c"\u2028`), null)
  for (const event of ['Tool', 'tool-call', 'tool1', ''])
    t.equal(readTrailLine(`1. ${NOW} ${event} a=b`), null, event)
  for (const end of ['\n', '\r', '\u2028']) t.equal(readTrailLine(`1. ${NOW} a${end}`), null)
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
