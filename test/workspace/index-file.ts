import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { mock } from 'node:test'
import fc from 'fast-check'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import t, { type Test } from 'tap'
import { INDEX_MARKER, indexLine, indexTableTop, indexTop } from '../../src/markdown/case-index.ts'
import type { TriageRow } from '../../src/model/triage-row.ts'
import { createIndexFile } from '../../src/workspace/index-file.ts'
import { isLong } from '../fixtures/full.ts'
import { openTestService } from '../fixtures/workspace.ts'

const idOf = (n: number) => `9d1e3b52-6a0f-4a53-9b57-${String(n).padStart(12, '0')}`
const caseMd = (title: string, minute: number, more = '', rest = '') =>
  `---\ntitle: ${title}\ncreated_at: 2026-11-20T09:${minute}:00.000Z\n${more}---\n${rest}`

t.test('the index lists the cases by state, the newest first', async (t) => {
  const checklist = '\n## Proof checklist\n\n- [ ] x (test-log, required)\n'
  const cases = {
    [idOf(1)]: { 'case.md': caseMd('Case 1', 10) },
    [idOf(2)]: {
      'case.md': caseMd('Newer', 20),
      'a name.md': '',
      'x.md': '<<<<<<< a\n=======\n>>>>>>> b\n',
    },
    [idOf(3)]: {
      'case.md': caseMd('Case 3', 30, 'state: WONT_FIX\noutcome: WontFix\ntype: feature\n'),
    },
    [idOf(4)]: { 'case.md': caseMd('Case 4', 40, 'state: RESOLVED\n', checklist) },
    [idOf(5)]: { 'case.md': caseMd('Last', 10) },
  }
  const app = await openTestService(t, { files: { memory: { cases: cases as never } } })
  await app.service.start.begun
  await app.close()
  const path = join(app.memory, 'index.md')
  const text = readFileSync(path, 'utf8')
  const rows = text.split('\n').filter((line) => line.startsWith('| ['))
  t.match(
    text,
    /^<!-- derived by casefile: edits are lost -->\n\n# Cases\n\n5 cases, \d need you, 2 with problems\.\n/,
  )
  t.strictSame(text.match(/^## .*/gm), ['## OPEN (3)', '## VERIFYING (1)', '## WONT_FIX (1)'])
  t.strictSame(
    rows.map((row) =>
      /^\| \[(.*?)\]\(cases\/(.*?)\/case\.md\) \| (\w+) \| (\w*) \|/.exec(row)?.slice(1),
    ),
    [
      ['Newer', idOf(2), 'bug', ''],
      ['Case 1', idOf(1), 'bug', ''],
      ['Last', idOf(5), 'bug', ''],
      ['Case 4', idOf(4), 'bug', ''],
      ['Case 3', idOf(3), 'feature', 'WontFix'],
    ],
    'case 4 stands where it is shown: its gate is shut',
  )
  t.match(rows[0], /\| x\.md: git left conflict markers .* \| 1 \|$/)
  t.match(rows[1], /\| {2}\| {2}\|$/)
  t.match(rows[3], /a verified proof of type test-log for "x" \| 1 \|$/)
  await app.restart()
  await app.newCase({ title: 'A new one' })
  await app.request('DELETE', `/cases/${idOf(1)}`)
  await app.close()
  t.match(readFileSync(path, 'utf8'), /\n5 cases[\s\S]*A new one/)
  t.notMatch(readFileSync(path, 'utf8'), 'Case 1')
})

type Row = Parameters<typeof indexLine>[0]
const row = (n: number, fields: Partial<Row>): Row => ({
  id: idOf(n),
  title: `Case ${n}`,
  type: 'bug',
  outcome: null,
  needs: null,
  problems: 0,
  ...fields,
})
const tableOf = (rows: Row[]) =>
  indexTop(rows.length, 0, 0) + indexTableTop('OPEN', rows.length) + rows.map(indexLine).join('')

t.test('no title can break the table', async (t) => {
  /** Title, and what is shown of it where that is something else. */
  const titles: [string, string?][] = [
    ['a | b || c'],
    ['back\\slash \\| and \\'],
    ['ends with \\\\'],
    ['](http://evil.example) [x'],
    ['[link](http://evil.example) ![image](x) <http://evil.example>'],
    ['[ref][1] [^1] [x]'],
    ['[1]: http://evil.example'],
    ['see https://evil.example/x?y=1#z, www.evil.example and WWW.evil.example now'],
    ['mail me@evil.example or mailto:me@evil.example'],
    ['<script>alert(1)</script> <b>x</b> <!-- x --> <br/>'],
    ['&lt;b&gt; &amp; &#124; &copy;'],
    ['`code | code` ``x` ` '.trim()],
    ['**bold** *em* __b__ _e_ ~~gone~~ ~x~ snake_case_name 2*3*4'],
    ['# heading'],
    ['- item'],
    ['1. item'],
    ['> quote'],
    ['--- | ---'],
    ['$math$ {x} :smile:'],
    ['two\nlines\r\nand | more\u2028and\u2029more', 'two lines and | more and more'],
    ['\n\n## OPEN\n\n| x | y |', '## OPEN | x | y |'],
    ['tab\there \x1b[31mred\x1b[0m \x00\x07\x85end', 'tab here [31mred [0m end'],
    ['turned \u202eover\u202c \u2066x\u2069', 'turned over x'],
    ['lone \ud800 surrogate', 'lone \ufffd surrogate'],
    ['é 漢字 😀 👩‍👩‍👧'],
    ['   spaces   inside   ', 'spaces inside'],
    ['x'.repeat(500), `${'x'.repeat(199)}…`],
    ['😀|'.repeat(200), `${'😀|'.repeat(99)}😀…`],
    ['\\'.repeat(500), `${'\\'.repeat(199)}…`],
    ['"quotes" \'single\' (parens) {braces} ! ? + = ^ % ; , . /'],
    [' \n\x00 ', idOf(31)],
  ]
  const shown = (n: number, text: string) => ({
    url: `cases/${idOf(n)}/case.md`,
    cells: [text, 'bug', '', '', ''],
    kinds: ['link', 'text'],
  })
  const rows = rowsOf(tableOf(titles.map(([title], n) => row(n + 1, { title }))))
  t.same(
    rows,
    titles.map(([title, text = title], n) => shown(n + 1, text)),
  )
  const text = 'blocked: *a* | [x](y)'
  const needs = { kind: 'blocked' as const, session_id: null, session: null, text }
  const odd = { type: 'a|b', outcome: '[x](y)', needs, problems: 12 }
  const [other] = rowsOf(tableOf([row(99, odd)]))
  t.same(other?.cells, ['Case 99', 'a|b', '[x](y)', text, '12'])

  const pieces =
    '\\ | [ ] ( ) ! < > ` * _ ~ & # : @ . http:// www. a b.c \n amp; ^ - " $ é <!-- -->'.split(' ')
  const piece = fc.constantFrom(...pieces, ' ')
  const many = fc.array(fc.array(piece, { maxLength: 12 }), { minLength: 40, maxLength: 40 })
  fc.assert(
    fc.property(many, (made) => {
      const wanted = made.map((pieces) => pieces.join(''))
      const found = rowsOf(tableOf(wanted.map((title, n) => row(n + 1, { title }))))
      for (const [n, title] of wanted.entries()) {
        const text = title.replace(/\s+/g, ' ').trim() || idOf(n + 1)
        if (JSON.stringify(found[n]) !== JSON.stringify(shown(n + 1, text)))
          throw new Error(`${JSON.stringify(title)} became ${JSON.stringify(found[n])}`)
      }
    }),
    { numRuns: isLong ? 8 : 2 },
  )
})

interface Node {
  type: string
  value?: string
  url?: string
  children?: Node[]
}

/** The rows of all tables, as remark sees them: where each leads, what it shows, what it is made of. */
function rowsOf(markdown: string): { url: string | undefined; cells: string[]; kinds: string[] }[] {
  const root = remark().use(remarkGfm).parse(markdown) as Node
  const blocks = new Set(root.children!.map(({ type }) => type))
  for (const kind of blocks) {
    if (!['html', 'heading', 'paragraph', 'table'].includes(kind)) throw new Error(`a ${kind}`)
  }
  const tables = root.children!.filter(({ type }) => type === 'table')
  return tables.flatMap(({ children = [] }) =>
    children.slice(1).map((row) => {
      const cells = row.children!
      const inside = cells.flatMap(descendants)
      return {
        url: inside.find(({ type }) => type === 'link')?.url,
        cells: cells.map((cell) =>
          descendants(cell)
            .map(({ value = '' }) => value)
            .join(''),
        ),
        kinds: [...new Set(inside.map(({ type }) => type))],
      }
    }),
  )
}

function descendants(node: Node): Node[] {
  return (node.children ?? []).flatMap((child) => [child, ...descendants(child)])
}

/** An index of so many cases. */
function openIndex(t: Test, { memory = t.testdir({}), indexFile = 60_000 } = {}) {
  const ownership = new AbortController()
  let count = 0
  let made = 0
  const said: string[] = []
  const item = { ...row(1, {}), state: 'OPEN' } as TriageRow
  const index = createIndexFile({
    layout: { memoryRoot: memory },
    lists: {
      newest() {
        made++
        return Array(count).fill(item)
      },
    },
    ownership: { lost: ownership.signal },
    limits: { indexFile },
    log: (line) => said.push(line),
  })
  t.teardown(() => index.close())
  const path = join(memory, 'index.md')
  return {
    index,
    memory,
    path,
    said,
    ownership,
    made: () => made,
    add() {
      count++
      index.writeSoon()
    },
    text: () => readFileSync(path, 'utf8'),
  }
}

t.test('it is written once nothing has changed for a while, and at last', async (t) => {
  const { index, add, made, path, text } = openIndex(t, { indexFile: 30_000 })
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  for (let n = 0; n < 100; n++) add()
  mock.timers.tick(29_999)
  add()
  mock.timers.tick(29_999)
  t.equal(made(), 0)
  mock.timers.tick(1)
  await index.close()
  t.match(text(), '101 cases')
  t.equal(made(), 1)
  const before = statSync(path)
  await index.write()
  t.equal(statSync(path).ino, before.ino, 'the same bytes are not written again')
})

t.test('what waits is written at the end, and later changes are not', async (t) => {
  const { index, add, made, text } = openIndex(t)
  add()
  await index.close()
  t.match(text(), '1 case')
  add()
  await index.close()
  t.equal(made(), 1)
})

t.test('it is not written once another machine owns the files', async (t) => {
  const { index, add, path, said, ownership } = openIndex(t)
  ownership.abort(new Error('lost'))
  add()
  await index.write()
  await index.write()
  t.notOk(existsSync(path))
  t.same(said, ['index.md is not written: lost'])
})

t.test("only the service's own file is replaced", async (t) => {
  const theirs: [string, (path: string) => unknown][] = [
    ['a file of a person', (path) => writeFileSync(path, '# My index\n')],
    ['an empty file', (path) => writeFileSync(path, '')],
    ['the mark in another place', (path) => writeFileSync(path, `x\n${INDEX_MARKER}\n`)],
    ['more than the mark', (path) => writeFileSync(path, `${INDEX_MARKER} mine\n`)],
    ['a folder', (path) => mkdirSync(path)],
    ['a link', (path) => symlinkSync('elsewhere.md', path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
  ]
  for (const [name, make] of theirs) {
    const { index, add, memory, path, said, text } = openIndex(t)
    rmSync(path, { recursive: true, force: true })
    make(path)
    const before = statSync(path, { throwIfNoEntry: false })
    for (let n = 0; n < 2; n++) {
      add()
      await index.write()
    }
    t.match(said, [/index\.md is not written/], `${name}: said once`)
    t.same(readdirSync(memory), ['index.md'])
    const after = statSync(path, { throwIfNoEntry: false })
    t.same([after?.ino, after?.mtimeMs], [before?.ino, before?.mtimeMs])
    rmSync(path, { recursive: true })
    add()
    await index.write()
    t.match(text(), '3 cases', 'and is written once there is room')
    await index.close()
    rmSync(path)
  }
})

t.test('one with other line ends is its own', async (t) => {
  const { index, add, path, text } = openIndex(t)
  writeFileSync(path, `${INDEX_MARKER}\r\nold\r\n`)
  add()
  await index.write()
  t.match(text(), '1 case')
})

t.test('it makes no folder, and survives one that comes and goes', async (t) => {
  const dir = t.testdir()
  const memory = join(dir, 'memory')
  const { index, add, text, said } = openIndex(t, { memory })
  add()
  await index.write()
  t.same(readdirSync(dir), [])
  mkdirSync(memory)
  add()
  await index.write()
  t.match(text(), '2 cases')
  rmSync(memory, { recursive: true })
  add()
  await index.write()
  t.same([readdirSync(dir), said], [[], []])
})
