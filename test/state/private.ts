import { chmodSync, chownSync, statSync } from 'node:fs'
import t from 'tap'
import { cliHere } from '../fixtures/cli-here.ts'
import { filesBelow } from '../fixtures/paths-below.ts'
import { git, must, ran, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('a state folder in which others can write is not used', async (t) => {
  const cli = cliHere(t)
  const stateDir = cli.env.CASEFILE_STATE_DIR
  const NOBODY = 65534
  const folders: [said: RegExp, prepare: () => void][] = [
    [
      /Other users can write .* \(mode 777\).* run: chmod 700 \S+state\./,
      () => chmodSync(stateDir, 0o777),
    ],
  ]
  if (process.getuid?.() === 0) {
    folders.push([
      /belongs to another user \(uid 65534\).*--state-dir/,
      () => {
        chmodSync(stateDir, 0o700)
        chownSync(stateDir, NOBODY, NOBODY)
      },
    ])
  }
  for (const [said, prepare] of folders) {
    prepare()
    const before = statSync(stateDir)
    for (const command of [['serve'], ['doctor', '--trust']]) {
      const { code, stderr } = await cli.run(...command)
      t.equal(code, 1, command.join(' '))
      t.match(stderr.replace(/\s+/g, ' '), said, command.join(' '))
    }
    const { mode, uid } = statSync(stateDir)
    t.strictSame({ mode, uid }, { mode: before.mode, uid: before.uid }, 'it stays as it was')
  }
})

t.test('no file in the state folder is open to others', async (t) => {
  const app = await openTestService(t, { dev: true })
  const umask = process.umask(0)
  t.teardown(() => void process.umask(umask))
  await must(app, 'POST', '/webhooks', { url: 'http://127.0.0.1:1024/' })
  git(app.root, 'init', '--quiet')
  const { ref } = await ran(app, step('echo done'), { fields: { title: 'Runs' } })
  await must(app, 'PUT', `/cases/${ref.case_id}/memory/notes.md`, 'one\n')
  await must(app, 'PUT', `/cases/${ref.case_id}/memory/notes.md`, 'two\n')
  await must(app, 'POST', '/sync', {})
  const open = [...filesBelow(app.stateDir)].filter(({ path }) => statSync(path).mode & 0o077)
  t.strictSame(
    open.map(({ path }) => path.slice(app.stateDir.length)),
    [],
  )
})
