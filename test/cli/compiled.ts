import { execFile } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Test, t } from 'tap'
import { runBuilt, startBuilt } from '../fixtures/built-service.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

/** What V8 made of the scripts at the build, as the program may find it. */
const FOUND: Record<string, (file: string) => void> = {
  missing: (file) => rmSync(file),
  empty: (file) => truncateSync(file),
  'cut short': (file) => truncateSync(file, 500),
  'something else': (file) => writeFileSync(file, 'x'.repeat(5000)),
  'as long as it was, with other bytes': (file) => {
    const bytes = readFileSync(file)
    for (let at = 64; at < bytes.length; at += 97) bytes[at]! ^= 0x55
    writeFileSync(file, bytes)
  },
}

for (const [name, damage] of Object.entries(FOUND)) {
  t.test(`what was compiled at the build is ${name}: a command does the same`, async (t) => {
    const program = copyOf(t)
    const files = compiledIn(program)
    t.ok(files.length > 10)
    for (const file of files) damage(file)
    t.match(await listed(program), /Signed out again/)
  })
}

t.test('another Node than that of the build compiles anew: it has other flags here', async (t) => {
  t.match(await listed(copyOf(t), '--no-lazy-feedback-allocation'), /Signed out again/)
})

t.test('what was compiled at the build is taken by the Node that built it', async (t) => {
  const program = copyOf(t)
  const { stderr } = await versionWith(
    program,
    `const vm = require('node:vm')
    vm.Script = class extends vm.Script {
      constructor(text, options) {
        super(text, options)
        process.stderr.write(this.cachedDataRejected + ' ')
      }
    }`,
  )
  t.match(stderr, /^(false )+$/)
})

t.test(
  'a package that is not in the bundle is loaded: casefile open has a browser show the case',
  async (t) => {
    t.teardown(() => {}) // or tap removes the testdir before the service has ended
    const dir = t.testdir({ state: {} })
    const root = join(dir, 'workspace')
    await runBuilt(['sample', root])
    const { url } = await startBuilt(t, { root, stateDir: join(dir, 'state') })
    const shown = join(dir, 'shown')
    await run('mkfifo', [shown])
    const browser = join(dir, 'browser')
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > '${shown}'\n`, { mode: 0o755 })
    const [text, { code }] = await Promise.all([
      readFile(shown, 'utf8'),
      runBuilt(['open', 'c12d54ae', '--root', root, '--state-dir', join(dir, 'state')], {
        BROWSER: browser,
      }),
    ])
    t.equal(code, 0)
    t.equal(text, `${url}/case/c12d54ae-1933-4631-a05f-aecf75428827`)
  },
)

t.test('a command whose work never ends says so by its exit code', async (t) => {
  const ended = versionWith(
    copyOf(t),
    `require('node:fs/promises').readFile = () => new Promise(() => {})`,
  )
  await t.rejects(ended, { code: 13, stderr: /ended before its work was done/ })
})

/** What the program does where this was run before it. */
function versionWith(program: string, before: string) {
  const file = join(program, 'before.cjs')
  writeFileSync(file, before)
  return run(process.execPath, ['--require', file, join(program, 'dist/cli.js'), '--version'])
}

/** The built program in a place of its own. */
function copyOf(t: Test): string {
  const folder = t.testdir()
  for (const name of ['dist', 'package.json', 'sample-workspace']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  return folder
}

function compiledIn(program: string): string[] {
  const dist = join(program, 'dist')
  return readdirSync(dist)
    .filter((name) => name.endsWith('.compiled'))
    .map((name) => join(dist, name))
}

async function listed(program: string, ...flags: string[]): Promise<string> {
  const cli = join(program, 'dist/cli.js')
  const root = join(program, 'sample-workspace')
  const where = ['--root', root, '--state-dir', join(program, 'state')]
  const { stdout } = await run(process.execPath, [...flags, cli, 'list', '--all', ...where])
  return stdout
}
