import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { t } from 'tap'
import { runBuilt, startBuilt } from '../fixtures/built-service.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)

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
