import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { parse as parseYaml } from 'yaml'
import { defaultSubcommand } from '../src/cli/command.ts'
import { COMMANDS } from '../src/cli/commands.ts'
import { casefile } from '../src/cli/program.ts'
import { endpointsOf } from '../src/http/endpoints.ts'
import { openApiDocument } from '../src/http/openapi/document.ts'
import { readPlan } from '../src/markdown/plan-steps.ts'
import { readSettings } from '../src/markdown/settings-file.ts'
import { endpointsOn } from './fixtures/api-page.ts'
import { runBuilt, started } from './fixtures/built-service.ts'
import { readPage } from './fixtures/doc-code.ts'
import { isShown, type Typed, typedOf } from './fixtures/doc-console.ts'
import { anchorsOf, type Block, blocksOf, docPages, linksOf } from './fixtures/doc-pages.ts'
import { ADDRESS, type } from './fixtures/doc-typing.ts'
import { inLongLane } from './fixtures/full.ts'
import { pngOf } from './fixtures/pictures.ts'

const pages = docPages()
const root = fileURLToPath(new URL('..', import.meta.url))

t.test('every link leads to a file that is there, and to a heading of it', async (t) => {
  const anchors = new Map(pages.map((page) => [page, anchorsOf(readPage(page))]))
  for (const page of pages) {
    for (const { whole, path, anchor } of linksOf(page, readPage(page))) {
      t.ok(existsSync(`${root}/${path}`), `${page} ${whole}`)
      if (anchor !== '' && anchors.has(path)) {
        t.ok(anchors.get(path)!.has(anchor.slice(1)), `${page} ${whole}`)
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

t.test('the pages in docs/ have at most 20,000 words together', async (t) => {
  const files = readdirSync(`${root}/docs`, { recursive: true, encoding: 'utf8' })
  const texts = files.filter((name) => name.endsWith('.md')).map((name) => readPage(`docs/${name}`))
  const words = texts.flatMap((text) => text.match(/\S+/g) ?? [])
  t.ok(words.length <= 20_000, `${words.length}: cut what another page says too`)
})

/** One of the sample that has an ended session. */
const CASE = 'ce7b2a45-e46d-4e89-a0e7-e36f34e00761'
/** One of the sample whose plan waits. */
const WAITING = 'c12d54ae-1933-4631-a05f-aecf75428827'
const missing = ['bash', 'curl', 'jq'].filter((name) => spawnSync(name, ['--version']).status !== 0)
const options = missing.length === 0 ? inLongLane : { skip: `${missing} not installed` }

/** Pages whose commands other tests run, or nobody can here; those of all others are run below. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'test/readme.ts',
  'CONTRIBUTING.md': 'they are the tests',
  'docs/agents.md': 'they want an account: test/runners/real-agents.ts',
  'bench/README.md': 'they take a quarter of an hour',
  'docs/benchmarks.md': 'they take a quarter of an hour',
  'docs/cli.md': 'test/cli/docs.ts',
  'docs/git.md': 'below',
  'docs/hooks.md': 'they ask a person: test/cli/hooks.ts, test/cli/own-agents.ts',
  'docs/tutorial.md': 'test/tutorials.ts',
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
    writeFileSync(join(cwd, 'after.png'), pngOf(2, 2))
    const service = await started(['serve', '--root', '.', '--port', '0'], env, cwd)
    t.teardown(() => service.stop('SIGTERM'))
    for (const page of pages.filter((each) => !(each in ELSEWHERE))) {
      const typed = typedOn(page).flatMap(typedOf)
      if (typed.length > 0) await type(t, page, typed, { cwd, env, url: service.url, CASE })
    }
    const watching = blocksOf(readPage('docs/webhooks.md')).filter(isConsole).flatMap(typedOf)
    await watch(t, watching.find(({ command }) => command.includes('/events'))!, service.url)
  },
)

/** What is to be run of a page: all but the examples. */
function typedOn(page: string): Block[] {
  return blocksOf(readPage(page)).filter(
    ({ language, words }) => /^(sh|console)$/.test(language) && words === '',
  )
}

function isConsole({ language }: Block): boolean {
  return language === 'console'
}

/** A stream that does not end: what it shows comes once a case has changed. */
async function watch(t: Test, { command, shown }: Typed, url: string): Promise<void> {
  const child = spawn('sh', ['-c', `exec ${command.replaceAll(ADDRESS, url)}`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let came = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    const isFirst = came === ''
    came += text
    if (isFirst) {
      const answer = await fetch(`${url}/cases/${WAITING}/state`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: '{"state":"BLOCKED"}',
      })
      t.equal(answer.status, 200)
    }
    if (/^data: /m.test(came)) break
  }
  child.kill()
  const numbered = came.replace(/^id: e\d+-\d+$/m, 'id: e618-42')
  t.ok(isShown(shown, numbered.trim()), 'docs/webhooks.md shows what comes', { shown, came })
}

t.test('what docs/git.md has is typed in a fresh workspace each', options, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-docs-git-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const env = { XDG_STATE_HOME: join(folder, 'state') }
  t.match(await runBuilt(['sample', 'theirs'], env, folder), { code: 0 })
  for (const block of typedOn('docs/git.md')) {
    const typed = typedOf(block)
    const cwd = join(folder, `line-${block.line}`)
    const cloned = spawnSync('git', ['clone', '--quiet', join(folder, 'theirs'), cwd])
    t.equal(cloned.status, 0)
    await type(t, 'docs/git.md', typed, { cwd, env, CASE })
  }
})

/** What holds for the blocks of a language; null where all is well. */
const FORMS: Readonly<Record<string, (block: Block) => string | null>> = {
  json: ({ code }) => objection(() => JSON.parse(code)),
  yaml: ({ code }) => objection(() => parseYaml(code.replace(/^---\n|\n---[\s\S]*$/g, ''))),
  sh: shellObjection,
  bash: shellObjection,
  console: shellObjection,
  js: ({ code }) => said(['--input-type=module', '--check', '-'], process.execPath, code),
  ...Object.fromEntries(
    ['text', 'markdown', 'http', 'toml', 'ini', 'python', 'verbatim'].map(taken),
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

function shellObjection(block: Block): string | null {
  return said(['-n'], 'bash', scriptOf(block))
}

/** Of a console, what stands behind the prompts; where there is none, all of it. */
function scriptOf({ code, language }: Block): string {
  if (language !== 'console') return code
  const typed = code.match(/^\$ .*(?:\\\n.*)*$/gm)?.map((line) => line.slice(2))
  return typed?.join('\n') ?? code.replace(/[[\]<>]/g, '')
}

function said(args: string[], program: string, input: string): string | null {
  const { status, stderr } = spawnSync(program, args, { input, encoding: 'utf8' })
  return status === 0 ? null : stderr
}

t.test(
  'every command of casefile that is named is one, with the options that it has',
  async (t) => {
    const program = casefile({ version: '', sample: '', program: '' }, COMMANDS)
    const global = ['--help', '--version']
    for (const page of pages.filter((each) => each !== 'CHANGELOG.md')) {
      for (const [whole, words = ''] of commandsIn(readPage(page))) {
        const [name = '', second = '', ...rest] = words.trim().split(/\s+/)
        if (/^-|^$|^</.test(name)) continue
        const first = program.commands.find((each) => each.name() === name)
        const command =
          first?.commands.find((each) => each.name() === second) ??
          (first && defaultSubcommand(first)) ??
          first
        t.ok(command, `${page}: ${whole}`)
        const options = [second, ...rest].flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? [])
        for (const option of options.filter((each) => !global.includes(each))) {
          const { options = [] } = command ?? {}
          t.ok(
            options.some(({ long }) => long === option),
            `${page}: ${whole}: ${option}`,
          )
        }
      }
    }
  },
)

/** Commands in code: what stands behind `casefile`, up to a comment, a pipe or the end of the line. */
function commandsIn(page: string): RegExpMatchArray[] {
  const spans = [...page.matchAll(/(?<!`)`([^`\n]+)`(?!`)/g)].map(([, code = '']) => code)
  const typed = blocksOf(page)
    .filter(({ language }) => /^(sh|bash|console)$/.test(language))
    .map(({ code }) => code.replace(/\\\n/g, ''))
  const lines = [...spans, ...typed.flatMap((code) => code.split('\n'))]
  return lines.flatMap((line) => [
    ...line.matchAll(
      /(?:^|^\$ |-- |&& |[;|] )(?:npx )?(?:casefile|node dist\/cli\.js) ([^#|;&>]*)/g,
    ),
  ])
}

t.test('every npm run but those of the reader is a script of package.json', async (t) => {
  const { scripts } = JSON.parse(readPage('package.json'))
  const named = pages.flatMap((page) =>
    [...readPage(page).matchAll(/(?<!')\bnpm run (?:--?\w+ )*([\w:]+)/g)].map(([, name]) => [
      page,
      name,
    ]),
  )
  t.ok(named.length > 10)
  for (const [page, name = ''] of named) t.ok(scripts[name], `${page}: npm run ${name}`)
})

t.test('every curl asks for what docs/api.md has, by JSON that is some', async (t) => {
  const routes = endpointsOn(readPage('docs/api.md')).map((endpoint) => {
    const [, path = ''] = endpoint.split(' ')
    return new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`)
  })
  for (const page of pages) {
    for (const { language, code, line } of blocksOf(readPage(page))) {
      if (!/^(sh|bash|console)$/.test(language)) continue
      for (const [, path = ''] of code.matchAll(/(?:\$url|127\.0\.0\.1:7878)(\/[^\s'"?]*)/g)) {
        t.ok(
          routes.some((route) => route.test(path)),
          `${page}:${line}: ${path}`,
        )
      }
      for (const [, body = ''] of code.matchAll(/ -d '([^']*)'/g)) {
        t.equal(
          objection(() => JSON.parse(body)),
          null,
          `${page}:${line}: ${body}`,
        )
      }
    }
  }
})

t.test('settings, plans and answers on the pages are read as the program reads them', async (t) => {
  const blocks = pages.flatMap((page) =>
    blocksOf(readPage(page)).map((block) => ({ ...block, where: `${page}:${block.line}`, page })),
  )
  for (const { where, code } of blocks.filter(
    ({ language, words }) => language === 'yaml' && words !== 'example',
  )) {
    const text = code.startsWith('---') ? code : `---\n${code}---\n`
    const reading = readSettings(text)
    t.strictSame(reading.ok ? reading.settings.problems : reading.problem, [], where)
  }

  const plans = blocks.filter(({ code }) => /^```\w+ run\b/m.test(code))
  t.ok(plans.length > 2)
  for (const { where, code } of plans) t.strictSame((await readPlan(code)).errors, [], where)

  const build = { version: '1.0.0', commit: null }
  const known = keysOf(openApiDocument(endpointsOf({ dev: true }), { build }))
  const answers = /^docs\/(api|webhooks|settings)\.md$/
  for (const { where, code } of blocks.filter(
    ({ language, page }) => language === 'json' && answers.test(page),
  )) {
    const unknown = [...keysOf(JSON.parse(code))].filter((key) => !known.has(key))
    t.strictSame(unknown, [], where)
  }
})

/** The names of all members in it. */
function keysOf(value: unknown): Set<string> {
  const keys = new Set<string>()
  JSON.stringify(value, (key, inside) => {
    if (!/^\d*$/.test(key)) keys.add(key)
    return inside
  })
  return keys
}

t.test('docs/hooks.md has every client start casefile agent mcp', async (t) => {
  const blocks = blocksOf(readPage('docs/hooks.md'))
  const started = blocks.flatMap(({ language, code, line }) => {
    if (language === 'json') return [[line, ...serverIn(JSON.parse(code))]]
    const [, command, args] = /^command = (.*)\nargs = (.*)$/m.exec(code) ?? []
    return language === 'toml' ? [[line, JSON.parse(command!), ...JSON.parse(args!)]] : []
  })
  t.equal(started.length, 4)
  for (const [line, ...command] of started) {
    t.match(
      command.join(' '),
      /^casefile agent mcp( --root \$\{workspaceFolder\})?$/,
      `line ${line}`,
    )
  }
  const typed = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.trim().split('\n'))
  t.equal(typed.length, 4)
  for (const line of typed)
    t.match(
      line,
      /^(\w+ mcp add casefile (-- )?casefile agent mcp$|npx .*--cli casefile agent mcp --method tools\/)/,
    )
})

/** The words of the command below `mcpServers`, `servers` or `mcp`. */
function serverIn(
  settings: Record<string, { casefile: { command: string | string[]; args?: string[] } }>,
): string[] {
  const { command, args = [] } = Object.values(settings)[0]!.casefile
  return [command, args].flat()
}

t.test('every block says its language, and is written in it', async (t) => {
  const scripts: { block: Block; where: string }[] = []
  for (const page of pages) {
    for (const block of blocksOf(readPage(page))) {
      const { language, words, line } = block
      const form = FORMS[language]
      const where = `${page}:${line}`
      if (!form) t.fail(`${where}: ${language || 'no language'}: name one of the others`)
      // cli.md has dozens of examples, which test/cli/docs.ts looks at; plans have steps of their own
      else if (page === 'docs/cli.md' || /^run /.test(words)) continue
      else if (form === shellObjection) scripts.push({ block, where })
      else t.equal(form(block), null, where)
    }
  }
  // one shell for all; each by itself only to name the one that is wrong
  const all = scripts.map(({ block }) => `{ :\n${scriptOf(block)}\n}\n`).join('')
  if (said(['-n'], 'bash', all) === null) return
  for (const { block, where } of scripts) t.equal(shellObjection(block), null, where)
})
