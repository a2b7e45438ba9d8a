import t from 'tap'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { slotted } from '../../src/rendering/markdown/line-slots.ts'
import { renderEverything } from '../../src/rendering/markdown/markdown.ts'

t.teardown(useParser())

const PLAN = [
  'First.', // 1
  '', // 2
  '## Part', // 3
  '', // 4
  '- one', // 5
  '- two', // 6
  '  - inner', // 7
  '- three', // 8
  '', // 9
  '```js', // 10
  'a()', // 11
  'b()', // 12
  '```', // 13
  '', // 14
  '| a | b |', // 15
  '| - | - |', // 16
  '| 1 | 2 |', // 17
  '', // 18
  'Last <!--slot:x--> line.', // 19
].join('\n')

const rendered = async (lines: number[]) => {
  const slots = lines.map((line) => ({ line, name: `at-${line}` }))
  return (await renderEverything(PLAN, { lines: true, slots }))!
}

/** The end of the HTML before each slot. */
async function before(lines: number[]) {
  const pieces = slotted((await rendered(lines)).html)
  const ends = new Map<string, string>()
  for (let at = 1; at < pieces.length; at += 2)
    ends.set(pieces[at]!, pieces.slice(0, at).join('').trimEnd())
  return ends
}

t.test('blocks and list items say which lines of the source they are', async (t) => {
  const { html, headings } = await rendered([])
  t.match(html, '<p data-lines="1-1">First.</p>')
  t.match(html, /<ul data-lines="5-8">\s*<li data-lines="5-5">one<\/li>\s*<li data-lines="6-7">/)
  t.match(html, /<pre [^>]*data-lines="10-13"/)
  t.match(html, /<tr data-lines="17-17">/)
  t.match(headings, [{ text: 'Part', level: 2, line: 3, id: /part$/ }])
})

t.test('a slot comes after the block, or in the list item, that has its line', async (t) => {
  const ends = await before([1, 2, 3, 5, 6, 7, 9, 11, 17, 19, 99])
  t.equal(ends.size, 11, 'each is there once')
  t.match(ends.get('at-1'), /First\.<\/p>$/)
  t.match(ends.get('at-2'), /First\.<\/p>at-1$/, 'a blank line belongs to the block before it')
  t.match(ends.get('at-3'), /Part<\/h2>$/)
  t.match(ends.get('at-5'), /one$/, 'within the item')
  t.match(ends.get('at-7'), /inner$/)
  t.match(ends.get('at-6'), /<\/ul>$/, 'at the end of its item, after the inner list')
  t.match(ends.get('at-9'), /<\/ul>$/, 'after the whole list')
  t.match(ends.get('at-11'), /<\/pre>$/)
  t.match(ends.get('at-17'), /<\/table><\/div>$/)
  t.match(ends.get('at-99'), /at-19$/, 'beyond the end')
})

t.test('a text cannot bring a slot', async (t) => {
  t.equal(slotted((await rendered([])).html).length, 1)
})
