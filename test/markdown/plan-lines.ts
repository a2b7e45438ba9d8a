import t from 'tap'
import {
  linesWith,
  nearest,
  planLines,
  presentLine,
  stepLines,
} from '../../src/markdown/plan-lines.ts'

t.test('where a line of an earlier plan is now', async (t) => {
  const earlier = planLines('a\nb\nc\nd\n')
  const rows: [
    name: string,
    present: string,
    line: number,
    end: number | null,
    found: number | null,
  ][] = [
    ['the same plan', 'a\nb\nc\nd\n', 2, null, 2],
    ['lines above it', 'x\ny\na\nb\nc\nd\n', 2, null, 4],
    ['a line less above it', 'b\nc\nd\n', 2, null, 1],
    ['the line right above it is another', 'x\nb\nc\nd\n', 2, null, 2],
    ['the line itself', 'a\nx\nc\nd\n', 2, null, null],
    ['the line below it', 'a\nb\nx\nd\n', 2, null, 2],
    ['the last line of a range', 'a\nb\nx\nd\n', 2, 3, null],
    ['below a range', 'a\nb\nc\nx\n', 2, 3, 2],
    ['a line more within a range', 'a\nb\nx\nc\nd\n', 2, 3, null],
    ['a line more right above it', 'a\nx\nb\nc\nd\n', 2, null, 3],
    ['a line more right below it', 'a\nb\nx\nc\nd\n', 2, null, 2],
  ]
  for (const [name, present, line, end_line, found] of rows)
    t.equal(presentLine(planLines(present), earlier, { line, end_line, quote: '' }), found, name)
})

t.test('without the earlier plan its words are looked for', async (t) => {
  const present = planLines('a\nb\nx\na\nb\na\n')
  t.strictSame(linesWith(present, 'a\nb'), [1, 4])
  t.strictSame(linesWith(present, 'b\nb'), [])
  t.strictSame(linesWith(present, ''), [])
  t.equal(nearest([1, 4], 3), 4)
  t.equal(nearest([1, 5], 3), 1, 'the first of two')
  t.equal(nearest([], 3), null)
  t.equal(presentLine(present, null, { line: 5, end_line: 6, quote: 'a\nb' }), 4)
  t.equal(presentLine(present, null, { line: 5, end_line: null, quote: 'z' }), null)
})

t.test('the lines of a step have both of its fences', async (t) => {
  const plan = planLines(
    'Do.\n\n````sh run\n```\nls\n```\n````\n\n> ~~~js run\n> 1\n> ~~~\n\n```sh run\nend',
  )
  const step = (id: string, line: number) => ({ id, line }) as never
  t.strictSame(stepLines(plan, [step('a', 3), step('b', 9), step('c', 13)]), [
    { id: 'a', from: 3, to: 7 },
    { id: 'b', from: 9, to: 11 },
    { id: 'c', from: 13, to: 14 },
  ])
})
