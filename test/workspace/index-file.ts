import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import t, { type Test } from 'tap'
import { INDEX_MARKER } from '../../src/markdown/case-index.ts'
import type { Case } from '../../src/model/case.ts'
import type { CaseFolder } from '../../src/model/case-folder.ts'
import { caseJson } from '../../src/model/case-json.ts'
import type { Problem } from '../../src/model/problem.ts'
import { triageRow } from '../../src/model/triage-row.ts'
import type { TriageItem } from '../../src/state/case-lists.ts'
import { createIndexFile, type IndexFile } from '../../src/workspace/index-file.ts'
import { CASE } from '../fixtures/records.ts'

const idOf = (n: number) => `9d1e3b52-6a0f-4a53-9b57-${String(n).padStart(12, '0')}`
const problem: Problem = { code: 'bad_name', file: 'case.md', line: null, message: 'a name' }

interface Opened {
  index: IndexFile
  memory: string
  path: string
  cases: Map<string, CaseFolder>
  said: string[]
  /** How often the whole table was made. */
  made: () => number
  put(n: number, fields?: Partial<Case>, problems?: number): void
  text(): string
}

function itemOf(folder: CaseFolder): TriageItem {
  const row = triageRow(folder, caseJson(folder, 0))
  return { id: row.id, created_at: row.created_at, summary: JSON.stringify(row) }
}

function newestFirst({ case: a }: CaseFolder, { case: b }: CaseFolder): number {
  if (a.created_at !== b.created_at) return a.created_at > b.created_at ? -1 : 1
  return a.id < b.id ? -1 : 1
}

function openIndex(t: Test, memory = t.testdir(), everyMs?: number, now?: () => number): Opened {
  const cases = new Map<string, CaseFolder>()
  const said: string[] = []
  let made = 0
  let sorted: CaseFolder[] = []
  const path = join(memory, 'index.md')
  const index = createIndexFile({
    layout: { memoryRoot: memory },
    rows(after, limit) {
      if (!after) {
        made++
        sorted = [...cases.values()].sort(newestFirst)
      }
      const from = after ? sorted.findIndex((each) => each.case.id === after.id) + 1 : 0
      return sorted.slice(from, from + limit).map(itemOf)
    },
    log: (line) => said.push(line),
    ...(everyMs === undefined ? {} : { everyMs }),
    ...(now === undefined ? {} : { now }),
  })
  t.teardown(() => index.close())
  return {
    index,
    memory,
    path,
    cases,
    said,
    made: () => made,
    put(n, fields = {}, problems = 0) {
      const value = { ...CASE, id: idOf(n), title: `Case ${n}`, ...fields }
      const none = { sessions: [], proofs: [], ignored: [] }
      cases.set(idOf(n), { case: value, ...none, problems: Array(problems).fill(problem) })
      index.changed()
    },
    text: () => readFileSync(path, 'utf8'),
  }
}

t.test('the index lists the cases by state, the newest first', async (t) => {
  const { index, put, text } = openIndex(t)
  put(1, { created_at: '2026-11-20T09:00:00.000Z' })
  put(3, { state: 'WONT_FIX', outcome: 'WontFix', type: 'feature' })
  put(2, { created_at: '2026-11-20T10:00:00.000Z', title: 'Newer' }, 2)
  put(4, {
    state: 'RESOLVED',
    checklist: [{ description: 'x', type: 'test-log', required: true, checked: false }],
  })
  await index.flush()
  t.equal(
    text(),
    `<!-- derived by casefile: edits are lost -->

# Cases

4 cases, 2 need you, 1 with problems.

## OPEN (2)

| Case | Type | Outcome | Needs you | Problems |
| --- | --- | --- | --- | ---: |
| [Newer](cases/${idOf(2)}/case.md) | bug |  | 2 problems, the first: case.md: a name | 2 |
| [Case 1](cases/${idOf(1)}/case.md) | bug |  |  |  |

## VERIFYING (1)

| Case | Type | Outcome | Needs you | Problems |
| --- | --- | --- | --- | ---: |
| [Case 4](cases/${idOf(4)}/case.md) | bug |  | "x" needs a verified test-log |  |

## WONT_FIX (1)

| Case | Type | Outcome | Needs you | Problems |
| --- | --- | --- | --- | ---: |
| [Case 3](cases/${idOf(3)}/case.md) | feature | WontFix |  |  |
`,
    'case 4 stands where it is shown: its gate is shut',
  )
})

t.test('no title can break the table', async (t) => {
  const { index, put, cases, text } = openIndex(t)
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
  ]
  for (const [n, [title]] of titles.entries()) put(n + 1, { title })
  put(99, {
    title: ' \n\x00 ',
    type: 'a|b',
    outcome: '[x](y)',
    state: 'BLOCKED',
    reason: '*a* | [x](y)',
  })
  await index.flush()
  const rows = rowsOf(text())
  t.equal(rows.length, titles.length + 1)
  for (const [n, [title, shown = title]] of titles.entries()) {
    const url = `cases/${idOf(n + 1)}/case.md`
    const found = rows.find((row) => row.url === url)
    t.same(found, { url, cells: [shown, 'bug', '', '', ''], kinds: ['link', 'text'] }, shown)
  }
  const needs = 'blocked: *a* | [x](y)'
  const cells = [idOf(99), 'a|b', '[x](y)', needs, '']
  t.same(
    rows.find((row) => row.cells[0] === idOf(99))?.cells,
    cells,
    'a link needs something to click',
  )

  t.test('nor can any made of these pieces', async (t) => {
    const piece = fc.constantFrom(
      '\\',
      '|',
      '[',
      ']',
      '(',
      ')',
      '!',
      '<',
      '>',
      '`',
      '*',
      '_',
      '~',
      '&',
      '#',
      ':',
      '@',
      '.',
      'http://',
      'www.',
      'a',
      'b.c',
      ' ',
      '\n',
      'amp;',
      '^',
      '-',
      '"',
      '$',
      'é',
      '<!--',
      '-->',
    )
    const many = fc.array(fc.array(piece, { maxLength: 12 }), { minLength: 40, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(many, async (made) => {
        cases.clear()
        const wanted = made.map((pieces) => pieces.join(''))
        for (const [n, title] of wanted.entries()) put(n + 1, { title })
        await index.flush()
        const rows = rowsOf(text())
        t.equal(rows.length, wanted.length)
        for (const [n, title] of wanted.entries()) {
          const url = `cases/${idOf(n + 1)}/case.md`
          const shown = title.replace(/\s+/g, ' ').trim() || idOf(n + 1)
          const row = rows.find((each) => each.url === url)
          const expected = { url, cells: [shown, 'bug', '', '', ''], kinds: ['link', 'text'] }
          if (JSON.stringify(row) !== JSON.stringify(expected)) {
            throw new Error(`${JSON.stringify(title)} became ${JSON.stringify(row)}`)
          }
        }
      }),
      { numRuns: 25 },
    )
  })
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
            .map(({ value }) => value ?? '')
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

t.test('it is written at most once in a while, and always at last', async (t) => {
  const { index, put, path, made, text } = openIndex(t, undefined, 50)
  const start = performance.now()
  for (let n = 1; performance.now() - start < 400; n++) {
    put(n % 50)
    await setImmediate()
  }
  const most = (performance.now() - start) / 50 + 1
  t.ok(made() >= 1 && made() <= most, `${made()} times in ${Math.round(most * 50)} ms`)
  put(51, { title: 'The last' })
  const alive = setInterval(() => {}, 1000) // the timer of the index keeps no process from ending
  while (!existsSync(path) || !text().includes('The last')) await setImmediate()
  clearInterval(alive)

  t.test('and not at all when nothing is new', async (t) => {
    const before = statSync(path)
    put(51, { title: 'The last', description: 'other' })
    await index.flush()
    t.same([statSync(path).ino, statSync(path).mtimeMs], [before.ino, before.mtimeMs])
    const times = made()
    await index.flush()
    t.equal(made(), times)
  })

  t.test('of many cases it waits for a pause between changes, but not for ever', async (t) => {
    const { index, put, made } = openIndex(t, undefined, 50)
    for (let n = 1; n <= 1000; n++) put(n)
    /** Changes a case every 5 ms; gives the longest time between two changes. */
    const changing = async (ms: number) => {
      const end = performance.now() + ms
      let last = performance.now()
      let longest = 0
      for (let n = 1; last < end; n++) {
        put(n)
        await delay(5)
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }
      return longest
    }
    let before = 0
    // a process that was held up for half the pause of 50 ms is no proof
    for (let longest = 50; longest > 25; ) {
      await index.flush() // it has 300 ms from now on, and as long to wait for a pause
      before = made()
      await delay(320)
      longest = await changing(150)
    }
    t.equal(made(), before, 'not while changes come')
    while (made() === before) await delay(5)
    await changing(1500)
    t.ok(made() > before + 1, 'but after a while')
    await index.close() // before tap removes the folder
  })

  t.test('close writes what waits, and then it is over', async (t) => {
    put(51, { title: 'Closing' })
    await index.close()
    t.match(text(), 'Closing')
    put(51, { title: 'Too late' })
    await index.flush()
    t.notMatch(text(), 'Too late')
  })
})

t.test('the same cases give the same bytes in whatever order they were read', async (t) => {
  const one = openIndex(t, t.testdir({ a: {}, b: {} }))
  const other = openIndex(t, join(one.memory, 'b'))
  for (const n of [1, 2, 3, 4]) one.put(n, { state: n % 2 ? 'OPEN' : 'BLOCKED' })
  for (const n of [3, 1, 4, 2]) other.put(n, { state: n % 2 ? 'OPEN' : 'BLOCKED' })
  await one.index.flush()
  await other.index.flush()
  t.equal(one.text(), other.text())
})

t.test("only the service's own file is replaced", async (t) => {
  const theirs = [
    ['a file of a person', (path: string) => writeFileSync(path, '# My index\n')],
    ['an empty file', (path: string) => writeFileSync(path, '')],
    ['the mark in another place', (path: string) => writeFileSync(path, `x\n${INDEX_MARKER}\n`)],
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link', (path: string) => symlinkSync('elsewhere.md', path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ] as const
  for (const [name, make] of theirs) {
    t.test(name, async (t) => {
      const { index, put, memory, path, said } = openIndex(t)
      make(path)
      const before = statSync(path, { throwIfNoEntry: false })
      for (const n of [1, 2]) {
        put(n)
        await index.flush()
      }
      t.match(said, [/index\.md is not written/], 'said once')
      t.same(readdirSync(memory), ['index.md'])
      const after = statSync(path, { throwIfNoEntry: false })
      t.same([after?.ino, after?.mtimeMs], [before?.ino, before?.mtimeMs])
      rmSync(path, { recursive: true })
      put(3)
      await index.flush()
      t.match(readFileSync(path, 'utf8'), '3 cases', 'and is written once there is room')
    })
  }

  t.test('one with other line ends is its own', async (t) => {
    const { index, put, path, text } = openIndex(t)
    writeFileSync(path, `\ufeff`)
    writeFileSync(path, `${INDEX_MARKER}\r\nold\r\n`)
    utimesSync(path, 1, 1)
    put(1)
    await index.flush()
    t.match(text(), 'Case 1')
  })

  t.test('one that a person saved just now has to wait', async (t) => {
    let time = Date.now()
    const { index, put, path, text } = openIndex(t, undefined, 1, () => time)
    put(1)
    await index.flush()
    put(2)
    await index.flush()
    t.match(text(), '2 cases', 'its own write is no reason to wait')
    writeFileSync(path, `${text()}mine`)
    time = statSync(path).mtimeMs + 1999
    put(3)
    await index.flush()
    t.match(text(), /mine$/)
    time += 2
    const alive = setInterval(() => {}, 1000)
    while (!text().includes('3 cases')) await setImmediate()
    clearInterval(alive)
  })
})

t.test('it makes no folder, and survives one that comes and goes', async (t) => {
  const dir = t.testdir()
  const memory = join(dir, 'memory')
  const { index, put, text, said } = openIndex(t, memory)
  put(1)
  await index.flush()
  t.same(readdirSync(dir), [])
  mkdirSync(memory)
  put(2)
  await index.flush()
  t.match(text(), '2 cases')
  rmSync(memory, { recursive: true })
  put(3)
  await index.flush()
  t.same([readdirSync(dir), said], [[], []])
})

t.test('10,000 cases do not hold up the event loop', async (t) => {
  const { index, put, text } = openIndex(t)
  for (let n = 1; n <= 10_000; n++) {
    const title = `Case ${n}: *login* times out | under load in [region] ${n % 97}`
    put(n, { title, state: n % 3 ? 'OPEN' : 'RESOLVED' }, n % 2)
  }
  let longest = 0
  let last = process.cpuUsage()
  let isDone = false
  const written = index.flush().then(() => {
    isDone = true
  })
  while (!isDone) {
    await setImmediate()
    const { user, system } = process.cpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.cpuUsage()
  }
  await written
  t.equal(text().match(/^\| \[/gm)?.length, 10_000)
  t.comment(`blocked for at most ${longest.toFixed(1)} ms of work`)
  t.ok(longest < 500, `${longest} ms`)
})
