import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { t } from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

t.test(
  'a package that is not in the bundle is loaded: casefile open has a browser show the case',
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
