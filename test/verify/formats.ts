import { XMLParser, XMLValidator } from 'fast-xml-parser'
import remarkGfm from 'remark-gfm'
import remarkParse from 'remark-parse'
import t from 'tap'
import { unified } from 'unified'
import { readJunit } from '../../src/runners/reports/junit.ts'
import { verificationJunit } from '../../src/verify/junit.ts'
import { verificationMarkdown } from '../../src/verify/markdown.ts'
import {
  type Claim,
  FAILURE_CODES,
  type Verification,
  type VerifiedCommit,
} from '../../src/verify/result.ts'
import { verificationStatements } from '../../src/verify/statement.ts'
import { verificationText } from '../../src/verify/text.ts'
import { readPage } from '../fixtures/doc-code.ts'

const HOSTILE = [
  'a | b || c',
  '| --- | --- |',
  '</td></tr></table><script>alert(1)</script><img src=x onerror=alert(1)>',
  '[here](javascript:alert(1)) ![](https://evil.example/x.png) <https://evil.example>',
  'https://evil.example/path WWW.evil.example mail@evil.example',
  '@everyone @org/team #1 GH-1 org/repo#2',
  `fix in ${'0123456789'.repeat(4)} and org/repo@abcdef0 and abcdef0123, gh-2 and GL-3 !4 ~bug %5 &6 $7`,
  '$x^2$ $$x$$ $`x`$ \\(x\\)',
  '```sh run` ~~gone~~ **bold** _it_ $x$ \\',
  '&lt;b&gt; &#64;everyone &amp;',
  ']]> <!-- --> <![CDATA[ " \'',
  'two\n\nlines\r\n# heading\n- item\u2028> quote',
  'nul \0 bell \x07 esc \x1b[31m bidi \u202e half \ud800 end',
]

const session: NonNullable<Claim['session']> = {
  case_title: 'A case',
  session_id: '11111111-1111-4111-8111-111111111111',
  number: 2,
  file: 'memory/cases/x/sessions/2.md',
  file_sha256: '0'.repeat(64),
  provider: 'runbook',
  state: 'complete',
  plan_sha256: '1'.repeat(64),
  approved_at: '2026-11-20T10:00:00.000Z',
  approved_by: 'Ada',
  approved_via: 'console',
  completed_at: '2026-11-20T10:05:00.000Z',
  tests: { run: 3, passed: 3, failed: 0 },
  tests_before: null,
  signature: null,
}

function claim(title: string, message?: string): Claim {
  return {
    text: title,
    trailer: null,
    session: { ...session, case_title: title },
    proofs: [],
    failures: message === undefined ? [] : [{ code: 'plan_changed', message }],
    notes: message === undefined ? [title] : [],
  }
}

function commit(subject: string, claims: Claim[]): VerifiedCommit {
  return {
    commit: 'abcdef0123456789abcdef0123456789abcdef01',
    subject,
    author: subject,
    authored_at: '2026-11-20T11:00:00.000Z',
    result: claims.some(({ failures }) => failures.length > 0) ? 'failed' : 'passed',
    claims,
    failures: [],
    notes: [subject],
  }
}

function verification(commits: VerifiedCommit[]): Verification {
  const ok = commits.every(({ result }) => result !== 'failed')
  return { range: 'main..HEAD', commits, notes: [], ok }
}

const nothing = { ...commit('Nothing', []), result: 'no_claim' as const }
const unnamed = {
  ...commit('No trailer', []),
  result: 'failed' as const,
  failures: [{ code: 'no_claim' as const, message: 'The commit names no session.' }],
}
const mixed = verification([
  nothing,
  unnamed,
  commit('Two', [claim('One'), claim('Other', 'The plan is another.')]),
])
const hostile = verification(
  HOSTILE.map((text) =>
    commit(text, [claim(text, text), claim(text), { ...claim(text), session: null }]),
  ),
)

t.test('--junit', async (t) => {
  t.test('counts as our own reader does', async (t) => {
    t.match(readJunit(verificationJunit(mixed)), { run: 3, passed: 1, failed: 2, skipped: 0 })
    const { length } = HOSTILE
    const read = readJunit(verificationJunit(hostile))
    t.match(read, { run: 3 * length, passed: 2 * length, failed: length })
    t.match(readJunit(verificationJunit(verification([]))), { run: 0, failed: 0, ok: true })
  })
  t.test('is XML, and any text comes back', async (t) => {
    const xml = verificationJunit(hostile)
    t.equal(XMLValidator.validate(xml), true)
    const parsed = new XMLParser({ ignoreAttributes: false, htmlEntities: true }).parse(xml)
    const suites = parsed.testsuites.testsuite
    for (const [index, text] of HOSTILE.entries()) {
      const written = text.replace(/[\0\x07\x1b\ud800]/g, '\ufffd')
      const { testcase, ...suite } = suites[index]
      t.match(suite, { '@_tests': '3', '@_failures': '1' })
      t.ok(suite['@_name'] === `abcdef0123 ${written}`, `name ${index}`)
      t.equal(testcase[0].failure['@_type'], 'plan_changed')
      t.ok(testcase[2]['@_name'] === written, `session ${index}`)
    }
  })
})

t.test('--markdown', async (t) => {
  t.test('takes every text as text', async (t) => {
    for (const [index, text] of HOSTILE.entries()) {
      const one = verification([commit(text, [claim(text, text), claim(text)])])
      const markdown = verificationMarkdown({ ...one, notes: [text], range: text })
      const { tables, kinds, texts } = parse(markdown)
      t.strictSame(tables, [[5, 5, 5]], `text ${index}: one table of 3 rows with 5 cells`)
      t.strictSame(
        kinds.filter((kind) => /link|image|html|code$|footnote|delete|emphasis/i.test(kind)),
        ['inlineCode', 'inlineCode', 'inlineCode'],
        'the ids of the commit',
      )
      t.equal(kinds.filter((kind) => kind === 'heading').length, 1)
      t.equal(kinds.filter((kind) => kind === 'listItem').length, 1)
      t.notMatch(
        texts,
        /[@!~%&]\w|#\d|GH-\d|\b[0-9a-f]{7}|:\/\/|www\.|\$/i,
        'nothing that a site makes a link, a mention or a formula of',
      )
      t.notMatch(markdown, /[\0\x07\x1b\u202e]/)
    }
  })
  t.test('fits a comment, failures first', async (t) => {
    const many = Array.from({ length: 700 }, (_, index) =>
      commit(`中文 🎉 ${index}`, [claim('長い題')]),
    )
    const bad = commit('The last', [claim('Bad', 'It is false.')])
    const markdown = verificationMarkdown(verification([...many, bad]))
    const bytes = Buffer.byteLength(markdown)
    t.ok(bytes > 50_000 && bytes < 61_000, `${bytes}`)
    t.match(markdown, /plan_changed\*\*: It is false\./)
    t.match(markdown, /the rest is left out/)
    t.notMatch(markdown, '\ufffd')
    const long = commit('x'.repeat(200_000), [claim('A', 'y'.repeat(200_000))])
    t.ok(Buffer.byteLength(verificationMarkdown(verification([long]))) < 2000)
  })
  t.test('says what is verified', async (t) => {
    t.match(verificationMarkdown(mixed), /^### ❌ [\s\S]*3 commits in main\.\.HEAD/)
    t.match(verificationMarkdown(verification([nothing])), /^### ✅ /)
    t.match(verificationMarkdown(verification([])), /^### ⚠️ .*nothing was checked/)
    t.match(verificationText(verification([])), /^no commits in main\.\.HEAD: nothing was checked/)
  })
})

/** What GitHub would read: the number of cells in each row of each table, all kinds of nodes, and the shown text. */
function parse(markdown: string) {
  interface Node {
    type: string
    value?: string
    children?: Node[]
  }
  const tree: Node = unified().use(remarkParse).use(remarkGfm).parse(markdown)
  const nodes: Node[] = []
  const visit = (node: Node) => {
    nodes.push(node)
    node.children?.forEach(visit)
  }
  visit(tree)
  const tables = nodes.filter(({ type }) => type === 'table')
  return {
    tables: tables.map(({ children = [] }) => children.map((row) => row.children?.length)),
    kinds: nodes.map(({ type }) => type),
    texts: nodes.map(({ type, value = '' }) => (type === 'text' ? value : '')).join('\n'),
  }
}

t.test('docs/verify.md lists every code', async (t) => {
  const [, section = ''] = /## What is checked\n([\s\S]*?)\n## /.exec(readPage('docs/verify.md'))!
  const cells = section.match(/^`[^|]+\|/gm)!
  const codes = cells.flatMap((cell) => cell.match(/[a-z_]{3,}/g)!)
  t.strictSame(codes.sort(), [...FAILURE_CODES].sort())
})

t.test('for a person: a line for each commit, and below it what it claims', async (t) => {
  const whole = { ...session, signature: { state: 'valid', signer: 'ada@example.com' } }
  const before = { ...session, approved_at: null, approved_by: null, tests: null }
  const claims = [
    { ...claim('One'), session: whole as Claim['session'] },
    { ...claim('Other', 'The plan is another.'), session: before },
    { ...claim('no \u202esession'), session: null },
  ]
  const exempt = { ...commit('Record', []), result: 'exempt' as const, notes: [] }
  const all = verification([nothing, unnamed, commit('Two', claims), exempt])
  t.strictSame(verificationText({ ...all, notes: ['It is shallow.'] }).split('\n'), [
    'no session  abcdef0123  Nothing',
    '    note: Nothing',
    'FAILED      abcdef0123  No trailer',
    '    no_claim: The commit names no session.',
    '    note: No trailer',
    'FAILED      abcdef0123  Two',
    '    session 2 of "A case": approved by Ada, 2026-11-20 10:00 UTC, signed by ada@example.com, 3 of 3 tests passed',
    '    note: One',
    '    session 2 of "A case": not approved',
    '    plan_changed: The plan is another.',
    '    no \\u{202e}session',
    '    note: no \\u{202e}session',
    '    note: Two',
    '-           abcdef0123  Record',
    'note: It is shallow.',
    '4 commits in main..HEAD: 2 failed, 1 without a session, 1 with nothing to verify',
    'Not everything that these commits claim is true.',
    '',
  ])
  const [, row] = /\n(\| `abcdef0123` Two \| A case.*)\n/.exec(verificationMarkdown(all))!
  t.equal(
    row,
    '| `abcdef0123` Two | A case, session 2 | by Ada, 2026-11-20 10:00, signed by ada@\u200bexample.com | 3 of 3 | ✅ |',
  )
  t.strictSame(
    verificationStatements(all).map(({ predicate }) => [predicate.result, predicate.failedTests]),
    [
      ['WARNED', []],
      ['FAILED', ['plan']],
      ['WARNED', []],
    ],
  )
  const [first, second] = verificationStatements(all)
  t.ok(first!.predicate.passedTests.includes('signature'))
  t.notOk(
    second!.predicate.passedTests.includes('signature'),
    'what is not signed has no signature',
  )
  t.match(first!.predicate.configuration, [
    { annotations: { session: 2, completed_at: session.completed_at, tests_passed: 3 } },
    { annotations: { approved_by: 'Ada', signature: 'valid', signer: 'ada@example.com' } },
  ])
})
