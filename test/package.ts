import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { transformSync } from 'esbuild'
import t, { type Test } from 'tap'
import { fencesOf, readPage } from './fixtures/doc-code.ts'
import { docPages, linksOf } from './fixtures/doc-pages.ts'
import { isFull } from './fixtures/full.ts'

/*
 * The package as a stranger gets it: what is in it, that it runs where nothing else is, and that programs and their
 * compilers can use it. What needs the registry is for the full run.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url))
const run = promisify(execFile)
const npm = (args: string[], cwd = ROOT, env = process.env) =>
  run('npm', [...args, '--ignore-scripts', '--loglevel=error'], { cwd, env })

const page = fencesOf(readPage('docs/install.md'))
const codesIn = (language: string) =>
  page.filter((fence) => fence.language === language).map(({ code }) => code)
const [inProgram = ''] = codesIn('js')

/** What a program of a stranger does with it. */
const CONSUMER = `import { type CreateServiceOptions, createService, type RunningService } from 'casefile'

const options: CreateServiceOptions = { root: 'work', stateDir: 'state', log: () => {} }
const service: RunningService = await createService(options)
const answer = await fetch(service.url + '/health')
console.log(((await answer.json()) as { status: string }).status)
const second = await createService(options).catch((error: Error & { code?: string }) => error.code)
console.log(second)
await Promise.all([service.close(), service.close()])
console.log('closed')
`

t.test('the package holds what runs, what is read beside it, and nothing else', async (t) => {
  const { stdout } = await npm(['pack', '--dry-run', '--json'])
  const [{ files, unpackedSize }] = JSON.parse(stdout)
  const paths: string[] = files.map(({ path }: { path: string }) => path)
  const others = paths.filter((path) => !/^(dist|docs|sample-workspace)\//.test(path))
  t.strictSame(others.sort(), [
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'package.json',
  ])
  for (const name of paths.filter((path) => path.endsWith('.md') && docPages().includes(path))) {
    for (const { whole, path } of linksOf(name, readPage(name))) {
      t.ok(paths.includes(path), `${name} ${whole} is in the package`)
    }
  }
  for (const path of ['dist/cli.js', 'dist/index.js', 'dist/index.d.ts', 'dist/NOTICES']) {
    t.ok(paths.includes(path), path)
  }
  t.notOk(paths.some((path) => /\.(map|ts|tsx|tsbuildinfo)$/.test(path) && !path.endsWith('.d.ts')))
  t.ok(unpackedSize < 10_000_000, `${unpackedSize} bytes`)
  const scripts = paths.filter((path) => path.startsWith('dist/'))
  const built = scripts.filter((path) => readFileSync(join(ROOT, path)).includes(ROOT))
  t.strictSame(built, [], 'where it was built is said nowhere')
})

t.test('a program has services inside, and ends by itself once they are closed', async (t) => {
  const project = consumer(t)
  mkdirSync(join(project, 'my-project'))
  const files = {
    'main.mjs': `${javaScriptOf(CONSUMER)}await import('./docs.mjs')\nawait import('./wrong.cjs')\n`,
    'docs.mjs': inProgram,
    'wrong.cjs': `const { createService } = require('casefile')
const wrong = [undefined, {}, { root: 'gone' }, { root: 'work', port: 70000 }]
const typos = [{ statedir: '/tmp' }, { stateDir: '' }, { trust: 'false' }, { log: true }]
for (const options of [...wrong, ...typos.map((typo) => ({ root: 'work', ...typo }))]) {
  createService(options).catch(({ code, message }) => console.log(code, message))
}`,
  }
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text)
  const env = { ...process.env, XDG_STATE_HOME: join(project, 'states') }
  const { stdout, stderr } = await run(process.execPath, ['main.mjs'], { cwd: project, env })
  const lines = stdout.split('\n')
  t.strictSame(lines.slice(0, 3), ['ok', 'already_active', 'closed'])
  t.equal(lines[3], '[]', 'what docs/install.md has')
  const missing = /^undefined createService needs { root }/
  const port = /^undefined port is 70000: expected a whole number/
  t.match(lines.slice(4), [
    missing,
    missing,
    port,
    /no option "statedir": the options are root, port, memoryRoot, stateDir, trust, mount, dev, log$/,
    / stateDir is '': expected a string/,
    / trust is 'false': expected a boolean/,
    / log is true: expected a function/,
    /^bad_request The workspace .*gone/,
    '',
  ])
  t.equal(stderr, '')
})

t.test('the pages name the file that npm pack makes', async (t) => {
  const { version } = JSON.parse(readPage('package.json'))
  const names = docPages().flatMap((name) => readPage(name).match(/casefile-[\d.]+\.tgz/g) ?? [])
  t.ok(names.length > 0)
  for (const name of names) t.equal(name, `casefile-${version}.tgz`)
})

for (const [module, moduleResolution] of [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
]) {
  t.test(
    `the compiler finds its types with ${moduleResolution}, and they are strict`,
    async (t) => {
      const project = consumer(t)
      const files = {
        'right.mts': CONSUMER,
        'wrong.mts': CONSUMER.replace("root: 'work'", 'root: 7'),
        // in place of those of Node, which take a second to read
        'globals.d.ts': `declare function fetch(url: string): Promise<{ json(): Promise<unknown> }>
declare const console: { log(text: unknown): void }`,
        'tsconfig.json': JSON.stringify({
          compilerOptions: {
            strict: true,
            noEmit: true,
            target: 'es2022',
            lib: ['es2022'],
            types: [],
            module,
            moduleResolution,
          },
        }),
      }
      for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text)
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc')
      const { stdout } = await run(process.execPath, [compiler], { cwd: project }).catch(
        (error) => error,
      )
      const errors = stdout.split('\n').filter((line: string) => /error TS/.test(line))
      t.match(errors, [/^wrong\.mts\(.*not assignable to type 'string'/])
      t.equal(errors.length, 1)
    },
  )
}

t.test('the systemd unit of docs/install.md is one', async (t) => {
  const dir = t.testdir({ 'casefile.service': codesIn('ini')[0]! })
  const env = { ...process.env, XDG_RUNTIME_DIR: dir }
  const args = ['verify', '--user', join(dir, 'casefile.service')]
  // it looks at other units of this machine too, and is not on every machine
  const { stderr = '' } = await run('systemd-analyze', args, { env }).catch((error) => error)
  t.notMatch(stderr, /casefile\.service/)
})

/** In full, as npm and npx do it, on each Node that is promised. */
const skip = !isFull && 'in full only: it needs the registry'
const NODES = ['20', '22', '24']

t.test('npx runs the packed file in an empty folder', { skip, timeout: 600_000 }, async (t) => {
  const home = elsewhere(t)
  const packed = await npm(['pack', '--json', '--pack-destination', home])
  const [{ filename }] = JSON.parse(packed.stdout)
  for (const node of NODES) {
    t.test(`on Node ${node}`, async (t) => {
      const nodes = join(home, `node-${node}`)
      mkdirSync(nodes)
      writeFileSync(join(nodes, 'package.json'), '{}')
      const binary = `node-${process.platform}-${process.arch}` // what the package `node` gets by a script
      await npm(['install', '--no-save', '--no-package-lock', `${binary}@${node}`], nodes)
      const bin = join(nodes, 'node_modules', binary, 'bin')
      const empty = join(home, `empty-${node}`)
      mkdirSync(empty)
      cpSync(join(home, filename), join(empty, filename))
      const env = {
        ...process.env,

        PATH: `${bin}${delimiter}${process.env.PATH}`,
        XDG_STATE_HOME: join(home, 'state'),
      }
      const { stdout: version } = await run('node', ['--version'], { env })
      t.match(version, new RegExp(`^v${node}\\.`))
      const args = ['--yes', `./${filename}`, 'serve', '--port', '0', '--json']
      const child = spawn('npx', args, { cwd: empty, env, stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
      const { url, pid } = JSON.parse(line)
      const { node: running } = (await (await fetch(`${url}/version`)).json()) as { node: string }
      t.equal(running, version.trim())
      const ended = once(child, 'close')
      process.kill(pid, 'SIGTERM')
      await ended
      const mine = consumer(t, `consumer-${node}`)
      writeFileSync(join(mine, 'main.mjs'), javaScriptOf(CONSUMER))
      const { stdout } = await run('node', ['main.mjs'], { cwd: mine, env })
      t.match(stdout, /^ok\nalready_active\nclosed\n$/)
    })
  }
})

t.test('publint and attw have nothing to say', { skip, timeout: 600_000 }, async (t) => {
  const home = elsewhere(t)
  const packed = await npm(['pack', '--json', '--pack-destination', home])
  const [{ filename }] = JSON.parse(packed.stdout)
  for (const [tool, args] of [
    ['publint@0.3.25', ['--strict', filename]],
    ['@arethetypeswrong/cli@0.18.5', ['--profile', 'esm-only', filename]],
  ] as const) {
    await t.resolves(run('npx', ['--yes', tool, ...args], { cwd: home }), tool)
  }
})

/** In no package: npm would take that of the folders above for the one that it works on. */
function elsewhere(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'casefile-package-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  return folder
}

/** A folder that has the package, as packed, and its dependencies installed. */
function consumer(t: Test, name = 'project'): string {
  const project = join(t.testdir({ [name]: { work: {} } }), name)
  const modules = join(project, 'node_modules')
  mkdirSync(join(modules, 'casefile'), { recursive: true })
  for (const part of ['dist', 'package.json']) {
    cpSync(join(ROOT, part), join(modules, 'casefile', part), { recursive: true })
  }
  for (const each of readdirSync(join(ROOT, 'node_modules'))) {
    if (!each.startsWith('.')) symlinkSync(join(ROOT, 'node_modules', each), join(modules, each))
  }
  return project
}

function javaScriptOf(text: string): string {
  return transformSync(text, { loader: 'ts', target: 'es2022' }).code
}
