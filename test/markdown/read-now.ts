import t from 'tap'
import { readCase, readCaseNow } from '../../src/markdown/case-file.ts'
import { useParser } from '../../src/markdown/parser-pool.ts'
import { CASE_ID, NOW } from '../fixtures/records.ts'

t.teardown(useParser())

const ORIGIN = { id: CASE_ID, created_at: NOW }
const HEAD = `---\nid: ${CASE_ID}\ntitle: Fix it\n---\n\n`

t.test('a case is read at once, unless its body needs the parser', async (t) => {
  const bodies: [string, string, boolean][] = [
    ['prose', 'Some words.\n\n## How\n\n1. this\n', true],
    ['a checklist', 'Words.\n\n## Proof checklist\n\n- [ ] It passes (test-log, required)\n', true],
    ['a fence', '```sh\n## Proof checklist\n```\n', true],
    ['HTML above a heading', '<div>\n## Proof checklist\n</div>\n', false],
    ['a wrapped item', '## Proof checklist\n\n- [ ] It\n  passes (log)\n', false],
  ]
  for (const [name, body, now] of bodies) {
    const read = readCaseNow(HEAD + body, ORIGIN)
    t.equal(read !== null, now, name)
    if (read) t.strictSame(read, await readCase(HEAD + body, ORIGIN), name)
  }
  const broken = '---\ntitle: [\n---\n'
  t.strictSame(readCaseNow(broken, ORIGIN), await readCase(broken, ORIGIN), 'what does not parse')
})
