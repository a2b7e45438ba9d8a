import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { parse as parseYaml } from 'yaml'
import { runBuilt, started } from './fixtures/built-service.ts'
import { readPage } from './fixtures/doc-code.ts'
import { anchorsOf, type Block, blocksOf, docPages, proseOf } from './fixtures/doc-pages.ts'

const pages = docPages()
const root = fileURLToPath(new URL('..', import.meta.url))

t.test('every link leads to a file that is there, and to a heading of it', async (t) => {
  const anchors = new Map(pages.map((page) => [page, anchorsOf(readPage(page))]))
  for (const page of pages) {
    const links = proseOf(readPage(page)).matchAll(
      /\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)/g,
    )
    for (const [whole, path = '', anchor] of links) {
      const target = path === '' ? page : posix.join(dirname(page), path)
      t.ok(existsSync(`${root}/${target}`), `${page} ${whole}`)
      if (anchor && anchors.has(target)) {
        t.ok(anchors.get(target)!.has(anchor.slice(1)), `${page} ${whole}`)
      }
    }
  }
})

t.test('docs/README.md leads to every page, and README.md to it', async (t) => {
  t.match(readPage('README.md'), '](docs/README.md)')
  const index = readPage('docs/README.md')
  for (const page of pages.filter((each) => /^docs\/(?!README)[^/]*\.md$/.test(each))) {
    t.match(index, `](${posix.basename(page)})`)
  }
})

const ADDRESS = 'http://127.0.0.1:7878'
const PROGRAM = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
/** One of the sample that has an ended session. */
const CASE = 'ce7b2a45-e46d-4e89-a0e7-e36f34e00761'
/** What pages take as given; and an answer over 399 ends the script, which says where it was. */
const PRELUDE = `
trap 'code=$?; [ $code = 0 ] || echo "the block at line $at ended with $code" >&2' EXIT
curl() { command curl --fail-with-body "$@" || { code=$?; echo "$*" >&2; return $code; }; }
casefile() { "$NODE" "$PROGRAM" "$@"; }
case=$CASE
session=$(sed -n 's/^id: //p' memory/cases/$CASE/sessions/1.md)
`
const options =
  spawnSync('curl', ['--version']).status === 0 ? {} : { skip: 'curl is not installed' }

/** Pages whose commands other tests run, or nobody can here; those of all others are run below. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'test/readme.ts',
  'CONTRIBUTING.md': 'they are the tests',
  'docs/agents.md': 'they want an account: test/runners/real-agents.ts',
  'docs/benchmarks.md': 'they take twenty minutes',
  'docs/cli.md': 'test/cli/docs.ts',
  'docs/mcp.md': 'they want an agent',
  'docs/webhooks.md': 'test/webhooks/docs.ts',
}

t.test(
  'what is to be typed works, page after page, on the sample workspace',
  options,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'casefile-docs-'))
    t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
    const env = { XDG_STATE_HOME: join(folder, 'state') }
    const cwd = join(folder, 'workspace')
    t.match(await runBuilt(['sample', 'workspace'], env, folder), { code: 0 })
    mkdirSync(join(cwd, 'memory/cases', CASE, 'artifacts'), { recursive: true })
    writeFileSync(join(cwd, 'memory/cases', CASE, 'artifacts/1-test.log'), 'ok\n')
    writeFileSync(join(cwd, 'notes.md'), '# Notes\n')
    const service = await started(['serve', '--root', '.', '--port', '0'], env, cwd)
    t.teardown(() => service.stop('SIGTERM'))
    for (const page of pages.filter((each) => !(each in ELSEWHERE))) {
      const typed = blocksOf(readPage(page)).filter(
        ({ language, words }) => language === 'sh' && words === '',
      )
      if (typed.length === 0) continue
      const script = typed.map(({ line, code }) => `at=${line}\n${code}`).join('\n')
      const child = spawn('sh', ['-euc', PRELUDE + script.replaceAll(ADDRESS, service.url)], {
        ...{ cwd, env: { ...process.env, ...env, NODE: process.execPath, PROGRAM, CASE } },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      let said = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
      const [code] = await once(child, 'close')
      t.equal(code, 0, `${page}: ${typed.length} blocks`, { said })
    }
  },
)

/** What holds for the blocks of a language; null where all is well. */
const FORMS: Readonly<Record<string, (block: Block) => string | null>> = {
  json: ({ code }) => objection(() => JSON.parse(code)),
  yaml: ({ code }) => objection(() => parseYaml(code.replace(/^---\n|\n---[\s\S]*$/g, ''))),
  sh: shellObjection,
  bash: shellObjection,
  console: shellObjection,
  js: ({ code }) => said(['--input-type=module', '--check', '-'], process.execPath, code),
  ...Object.fromEntries(
    ['text', 'markdown', 'http', 'toml', 'ini', 'xml', 'python', 'verbatim'].map(taken),
  ),
}

function taken(language: string): [string, () => null] {
  return [language, () => null] // to be read, or held to what it shows by the test of its page
}

function objection(read: () => unknown): string | null {
  try {
    read()
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/** Of a console, what stands behind the prompts; where there is none, all of it. */
function shellObjection({ code, language }: Block): string | null {
  const typed = code.match(/^\$ .*(?:\\\n.*)*$/gm)?.map((line) => line.slice(2))
  const script = language === 'console' ? (typed?.join('\n') ?? code.replace(/[[\]<>]/g, '')) : code
  return said(['-n'], 'bash', script)
}

function said(args: string[], program: string, input: string): string | null {
  const { status, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  return status === 0 ? null : stderr
}

t.test('every block says its language, and is written in it', async (t) => {
  for (const page of pages) {
    for (const block of blocksOf(readPage(page))) {
      const { language, words, line } = block
      const form = FORMS[language]
      if (!form) t.fail(`${page}:${line}: ${language || 'no language'}: name one of the others`)
      // cli.md has dozens of examples, which test/cli/docs.ts looks at; plans have steps of their own
      else if (page !== 'docs/cli.md' && !/^run /.test(words))
        t.equal(form(block), null, `${page}:${line}`)
    }
  }
})
