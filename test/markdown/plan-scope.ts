import t from 'tap'
import { readPlan } from '../../src/markdown/plan-steps.ts'

t.teardown(async () => (await import('../../src/markdown/parser-pool.ts')).useParser())

const STEP = '```sh run id=a\ntrue\n```\n'
const NONE = { paths: null, commands: null }

t.test('a plan names its scope in its frontmatter or in a list', async (t) => {
  const cases: [name: string, plan: string, scope: object][] = [
    ['none', 'Do it.\n', NONE],
    [
      'frontmatter with lists',
      '---\npaths: [src/**, "test/*.ts"]\ncommands:\n  - npm test\n  - git diff\n---\nDo it.\n',
      { paths: ['src/**', 'test/*.ts'], commands: ['npm test', 'git diff'] },
    ],
    [
      'frontmatter with texts',
      '---\npaths: src/**, {a,b}/*.ts\n---\n',
      { paths: ['src/**', '{a,b}/*.ts'] },
    ],
    ['frontmatter with CRLF', '---\r\npaths: src/**\r\n---\r\n', { paths: ['src/**'] }],
    ['frontmatter below blank lines', '\n\n---\npaths: 404\n---\n', NONE],
    ['an empty list', '---\npaths: []\n---\n', { paths: [], commands: null }],
    ['other frontmatter', '---\ntitle: x\n---\n', NONE],
    ['thematic breaks', '---\n\nDo it.\n\n---\n', NONE],
    [
      'a list',
      '# Fix\n\n## Scope\n\n- paths: src/**, `test/*.ts`\n- commands: npm test, git diff\n\n## Steps\n\n- paths: no\n',
      { paths: ['src/**', 'test/*.ts'], commands: ['npm test', 'git diff'] },
    ],
    [
      'nested lists',
      '## Scope\n\n- **Paths:**\n  - src/**\n  - `a, b.ts`\n- commands:\n  1. git commit -m "a, b"\n',
      { paths: ['src/**', 'a, b.ts'], commands: ['git commit -m "a, b"'] },
    ],
    [
      'one list in each place',
      '---\npaths: src/**\n---\n## Scope:\n\n* commands: npm test\n',
      { paths: ['src/**'], commands: ['npm test'] },
    ],
    [
      'an intent, whose agent may run the proof too',
      '---\npaths: src/**\ncommands: npm test\nproof: test -e a\n---\nDo it.\n',
      { paths: ['src/**'], commands: ['npm test', 'test -e a'] },
    ],
    ['prose', '## Scope\n\nOnly the login.\n\n- not the logout\n', NONE],
    ['a list elsewhere', '## Files\n\n- paths: src/**\n', NONE],
    ['a list in a fence', '```\n## Scope\n\n- paths: src/**\n```\n', NONE],
  ]
  for (const [name, plan, scope] of cases) {
    const read = await readPlan(plan)
    if (name === 'frontmatter below blank lines') {
      t.match(read.scopeErrors, [{ line: 4 }], 'a number is no list of texts')
      continue
    }
    t.match(read.scope, scope, name)
    t.strictSame(read.errors, [], name)
  }
})

t.test('a scope changes nothing in the steps', async (t) => {
  const cases: [name: string, plan: string, isRunbook: boolean, line: number][] = [
    ['frontmatter', `---\npaths:\n  - src/**\n---\n\n${STEP}`, true, 6],
    ['a list', `## Scope\n\n- paths: src/**\n- only this\n\n## Steps\n\n${STEP}`, true, 8],
    ['a fence in a quote', `> ~~~\n> x\n> ~~~\n\n${STEP}`, true, 5],
    ['another fence', `~~~\nx\n~~~\n\n${STEP}`, false, 5],
    ['a list in prose', `## Scope\n\n- only this\n\n${STEP}`, false, 5],
    ['another list', `## Scope\n\n- paths: src/**\n\n## Steps\n\n- more\n\n${STEP}`, false, 9],
    [
      'a fence in the frontmatter',
      `---\npaths: a\nx: |\n  ${STEP.replaceAll('\n', '\n  ')}\n---\n${STEP}`,
      true,
      9,
    ],
  ]
  for (const [name, plan, isRunbook, line] of cases) {
    const read = await readPlan(plan)
    t.match(read, { isRunbook, steps: [{ id: 'a', script: 'true', line }], errors: [] }, name)
    t.equal(read.steps.length, 1, name)
  }
})

t.test('what cannot be read is an error with its line', async (t) => {
  const list = (entries: string) => `Do it.\n\n## Scope\n\n- paths: ${entries}\n`
  const cases: [plan: string, line: number, message: RegExp][] = [
    ['---\npaths: [**/*.ts]\n---\n', 2, /cannot be read: .*\*.* needs quotes/],
    ['---\npaths: src/**\n\nDo it.\n', 1, /no closing ---/],
    ['---\npath: src\n---\n', 2, /"path" is not known: write "paths"/],
    ['---\ncommands:\n---\n', 2, /^commands: expected a list of texts, such as commands: \['npm/],
    ['---\npaths: { a: b }\n---\n', 2, /expected a list of texts/],
    ['---\npaths: a\n---\n## Scope\n\n- paths: b\n', 6, /twice/],
    ['## Scope\n\npaths: src\n', 3, /as a list/],
    ['## Scope\n\n- paths:\n', 3, /expected a list, such as - paths: src/],
    ['## Scope\n\n- command: npm test\n', 3, /write "commands"/],
    [list('/etc/**'), 5, /"\/etc\/\*\*": expected a path inside the working folder/],
    [list('~/x'), 5, /inside the working folder/],
    [list('src/../../x'), 5, /inside the working folder/],
    [list('`docs/{.,x}./**`'), 5, /"docs\/\{\.,x\}\.\/\*\*": .*inside the working folder/],
    [list('{,/etc}/**'), 5, /inside the working folder/],
    [list('{/etc,x}'), 5, /inside the working folder/],
    [list('{~,x}/a'), 5, /inside the working folder/],
    [list('docs/.{git,x}/**'), 5, /\.git, which belongs to git/],
    [list('.GIT/hooks'), 5, /\.git, which belongs to git/],
    [list('src\u202e/**'), 5, /"src\\u\{202e\}\/\*\*": characters that are hidden/],
    ['## Scope\n\n- commands: npm te\u200bst\n', 3, /characters that are hidden/],
    [list('!src/**'), 5, /! has no meaning/],
    [list('src/[ab'), 5, /\[ is not closed/],
    [list('src/{a'), 5, /\{ is not closed/],
    [list('{1..9}'), 5, /no ranges/],
    [list('{a}{b}{c}{d}'), 5, /at most 3 lists in braces/],
    [list('*a*a*a'), 5, /at most 2 wildcards/],
    [list('a\\b'), 5, /backslash/],
    [list('x'.repeat(301)), 5, /at most 300 characters/],
    [list(Array(101).fill('a').join(', ')), 5, /at most 100 entries/],
    ['## Scope\n\n- commands: npm test && rm x\n', 3, /expected one command, without ;/],
    ['## Scope\n\n- commands: npm run *\n', 3, /without wildcards/],
    ['## Scope\n\n- commands: git commit -m "x\n', 3, /quote is not closed/],
  ]
  for (const [plan, line, message] of cases) {
    const { scopeErrors, errors } = await readPlan(plan)
    t.match(scopeErrors, [{ line, message }], JSON.stringify(plan.slice(0, 60)))
    t.strictSame(errors, scopeErrors)
  }
})
