// A write changes the bytes that it means to change, and no others, whatever stands around them (RELIABILITY.md FD-5).
import { randomUUID } from 'node:crypto'
import { chmodSync, readFileSync, statSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import { isFull, isLong } from '../fixtures/full.ts'
import { hostileText } from '../fixtures/markdown-text.ts'
import { openTestService } from '../fixtures/workspace.ts'

const EDITS = isFull ? 1008 : isLong ? 96 : 24
const MODES = [0o600, 0o644, 0o755]
const BODY =
  'Text with  two blanks,\ta tab, and blanks behind it  \n\n\n* a list\n* of two\n\n<b>HTML</b>'
const SECTIONS =
  '## Mine\n\nWhat the service does not know.\n\n## Proof checklist\n\n- [ ] Passes (log)\n* [x] Another   (trace, required)'

/** A case.md with every key, in a person's layout. */
function layoutOf(
  id: string,
  { bom, eol, end }: { bom: string; eol: string; end: string },
): string {
  const front = [
    `id: ${id}`,
    '# what it is about',
    "title:   'Old'   # why",
    'created_at: 2026-01-01T00:00:00.000Z',
    'mine: {a: [1, 2],   b: "x"}',
    'state: OPEN # by hand',
    'type: bug',
    '',
    'outcome:   # not known',
    'tags: [ a,  b ]',
    'theirs:',
    '    - x',
    '    -   y # z',
  ].join('\n')
  const text = `---\n${front}\n---\n\n${BODY}\n\n${SECTIONS}${end}`
  return bom + text.replaceAll('\n', eol)
}

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}$/)
const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 })
const title = line.filter(
  (text) =>
    text.isWellFormed() &&
    !/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(text) &&
    text.trim() === text &&
    text !== '',
)
const edit = fc.oneof(
  title.map((title) => ({ title })),
  fc.uniqueArray(word, { maxLength: 4 }).map((tags) => ({ tags })),
  word.map((type) => ({ type })),
  fc.constantFrom('ConfirmedCodeBug', 'Duplicate', null).map((outcome) => ({ outcome })),
  hostileText.filter((text) => text.isWellFormed()).map((description) => ({ description })),
)

/** The text without the value of one key: its line up to the colon stays. */
function without(text: string, key: string): string {
  return text.replace(new RegExp(`^(\ufeff?${key}:)[^\r\n]*`, 'm'), '$1')
}

t.test('random edits by request of files in every layout', async (t) => {
  const layouts = MODES.flatMap((mode) =>
    ['', '\ufeff'].flatMap((bom) =>
      ['\n', '\r\n'].flatMap((eol) => ['', '\n'].map((end) => ({ mode, bom, eol, end }))),
    ),
  )
  const ids = layouts.map(() => randomUUID())
  const files = ids.map((id, index) => [id, { 'case.md': layoutOf(id, layouts[index]!) }])
  const app = await openTestService(t, { files: { memory: { cases: Object.fromEntries(files) } } })
  for (const [index, layout] of layouts.entries()) {
    const { mode, eol, bom, end } = layout
    const name = `${mode.toString(8)} ${JSON.stringify(bom + eol + end)}`
    await t.test(name, async (t) => {
      const id = ids[index]!
      const path = app.file(id, 'case.md')
      chmodSync(path, mode)
      const wrong: string[] = []
      for (const change of fc.sample(edit, { numRuns: EDITS / layouts.length, seed: index })) {
        const [key, value] = Object.entries(change)[0]!
        const before = readFileSync(path, 'utf8')
        const answer = await app.request('PUT', `/cases/${id}`, change)
        const after = readFileSync(path, 'utf8')
        const say = (what: string) =>
          wrong.push(`${what}: ${JSON.stringify({ change, before, after })}`)
        if (answer.status !== 200) say(answer.text)
        if ((statSync(path).mode & 0o777) !== mode) say('the mode')
        if (JSON.stringify(answer.json[key]) !== JSON.stringify(value)) say('the value')
        if (key !== 'description') {
          if (without(after, key) !== without(before, key)) say('other bytes')
          continue
        }
        const body = before.indexOf(`${eol}---${eol}`) + eol.length + 3 + eol.length
        if (after.slice(0, body) !== before.slice(0, body)) say('the frontmatter')
        const tail = `${SECTIONS.slice(SECTIONS.indexOf('## Proof')).replaceAll('\n', eol)}${end.replaceAll('\n', eol)}`
        if (!after.endsWith(tail)) say('what stands below')
      }
      t.strictSame(wrong, [])
    })
  }
})
