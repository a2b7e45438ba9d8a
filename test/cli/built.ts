import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { t } from 'tap'
import { startBuilt } from '../fixtures/built-service.ts'
import { cliHere } from '../fixtures/cli-here.ts'
import { inLongLane } from '../fixtures/full.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

t.test(
  'a package that is not in the bundle is loaded: casefile open has a browser show the case',
  inLongLane,
  async (t) => {
    const cli = cliHere(t)
    const { url } = await cli.serve()
    const { id } = (await cli.run('new', 'Door', '--json')).json
    const shown = join(cli.root, 'shown')
    const browser = join(cli.root, 'browser')
    writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > '${shown}'\n`, { mode: 0o755 })
    await run('mkfifo', [shown])
    const [text, { code }] = await Promise.all([
      readFile(shown, 'utf8'),
      cli.apart.runWith({ env: { BROWSER: browser } }, 'open', id),
    ])
    t.equal(code, 0)
    t.equal(text, `${url}/case/${id}`)
  },
)

t.test('a command whose work never ends says so by its exit code', async (t) => {
  const folder = t.testdir({
    'before.cjs': `const files = require('node:fs/promises')
      for (const [name, call] of Object.entries(files)) {
        if (typeof call !== 'function') continue
        // Node loads the program by them too
        files[name] = (path, ...rest) =>
          String(path).includes('/dist/') ? call(path, ...rest) : new Promise(() => {})
      }
      require('node:module').syncBuiltinESMExports()`,
  })
  const where = ['--root', join(ROOT, 'sample-workspace'), '--state-dir', join(folder, 'state')]
  const args = ['--require', join(folder, 'before.cjs'), join(ROOT, 'dist/cli.js'), 'list']
  const ended = run(process.execPath, [...args, ...where])
  await t.rejects(ended, { code: 13, stderr: /ended before its work was done/ })
})

t.test(
  'a program that is replaced while its service runs says to restart it, and stops as ever',
  inLongLane,
  async (t) => {
    const program = mkdtempSync(join(tmpdir(), 'casefile-replaced-'))
    t.teardown(() => rmSync(program, { recursive: true }))
    for (const part of ['node_modules', 'sample-workspace', 'package.json'])
      symlinkSync(join(ROOT, part), join(program, part))
    const dist = join(program, 'dist')
    const paths = ['/health', '/'] as const
    for (const [at, path] of paths.entries()) {
      cpSync(join(ROOT, 'dist'), dist, { recursive: true })
      const stateDir = join(program, `state-${at}`)
      const service = await startBuilt(t, {
        root: t.testdir(),
        stateDir,
        cli: join(dist, 'cli.js'),
      })
      for (const before of paths.slice(0, at)) t.ok((await fetch(`${service.url}${before}`)).ok)
      rmSync(dist, { recursive: true })
      const answer = await fetch(`${service.url}${path}`, { headers: { accept: 'text/html' } })
      t.equal(answer.status, 500, path)
      t.match(await answer.json(), { code: 'internal', detail: /Restart the service/ })
      t.match(await service.stop(), { code: 0, stderr: /ERR_MODULE_NOT_FOUND/ })
    }
  },
)
