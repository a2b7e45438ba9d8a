import t from 'tap'
import {
  parseRequirement,
  parseRequirements,
  USUAL_REQUIREMENTS,
} from '../../src/markdown/requirement-line.ts'

t.test('a line becomes a checklist item', async (t) => {
  const read = (line: string) => {
    const item = parseRequirement(line)
    return item && [item.description, item.type, item.required]
  }
  t.strictSame(read('All tests pass'), ['All tests pass', 'test-log', true])
  t.strictSame(read('- [ ] Looks right (screenshot)'), ['Looks right', 'screenshot', true])
  t.strictSame(read('Faster (benchmark, optional)'), ['Faster', 'benchmark', false])
  t.strictSame(read('Nice (optional)'), ['Nice', 'operator-note', false])
  t.strictSame(read('Ada has read it'), ['Ada has read it', 'operator-note', true])
  t.strictSame(read('   '), null)
  for (const line of USUAL_REQUIREMENTS)
    t.match(line, `${read(line)![0]} (${read(line)![1]}, required)`)
})

t.test('the same line twice is one item', async (t) => {
  t.equal(parseRequirements('All tests pass\n\nAll tests pass (test-log)\r\nLooks right').length, 2)
})
