import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { AppError } from '../../src/model/app-error.ts'
import { stopFor } from '../../src/sync/sync-stop.ts'
import { commandsOn } from '../fixtures/cli.ts'
import { git, must } from '../fixtures/session-client.ts'
import { copiesIn, makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

t.test('a filter of git on markdown stops it', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  for (const clone of [a, b]) {
    clone.git('config', 'filter.turned.clean', 'tr a-z n-za-m')
    clone.git('config', 'filter.turned.smudge', 'tr a-z n-za-m')
  }
  const before = a.git('rev-parse', 'HEAD')
  const plain = a.read('.gitattributes')
  a.write(`${plain}*.md filter=turned\n`, '.gitattributes')
  a.write('hello\n', 'cases', id, 'notes.md')
  const refused = {
    state: 'stopped',
    code: 'filtered_file',
    reason: /\.md has .*filter=turned/,
  }
  t.match(await a.sync(), refused)
  t.equal(a.git('rev-parse', 'HEAD'), before, 'nothing is committed')

  a.git('add', '.')
  a.git('commit', '-qm', 'by hand')
  a.git('push', '-q')
  t.match(await b.sync(), refused, 'what others pushed is not merged')
  t.notOk(existsSync(b.path('cases', id, 'notes.md')))
  t.equal(b.git('rev-parse', 'HEAD'), before)
  b.git('pull', '-q')
  t.equal(b.read('cases', id, 'notes.md'), 'hello\n')
  t.match(await b.sync(), { state: 'in_sync' }, 'what git merged stays')

  a.write(`${plain}*.md ident\n`, '.gitattributes')
  a.write('hello $Id$\n', 'cases', id, 'notes.md')
  t.match(await a.sync(), { code: 'filtered_file', reason: /attribute ident:/ })
  a.write(plain, '.gitattributes')
  a.git('add', '--renormalize', '.')
  t.match(await a.sync(), { state: 'in_sync' })
  t.equal(a.git('cat-file', 'blob', `HEAD:cases/${id}/notes.md`), 'hello $Id$\n')
  t.match(await b.sync(), { code: 'filtered_file' }, 'this clone still has the filter')
  b.git('pull', '-q')
  t.match(await b.sync(), { state: 'in_sync' })
  t.equal(a.tree(), b.tree())
})

t.test(
  'a git repository in the record stops it, and one that others have committed does no harm',
  async (t) => {
    const dir = makeOrigin(t)
    const a = await openSyncedClone(t, { dir, name: 'a' })
    const { id } = await must(a, 'POST', '/cases', { title: 'One' })
    await a.sync()
    const b = await openSyncedClone(t, { dir, name: 'b' })
    const sub = a.path('cases', id, 'sub')
    const commit = (folder: string) => {
      const [user, email] = ['user.name=x', 'user.email=x@example.com']
      git(folder, '-c', user, '-c', email, 'commit', '-q', '--allow-empty', '-m', 'x')
    }
    git(dir, 'init', '-q', sub)
    commit(sub)
    const before = a.git('rev-parse', 'HEAD')
    const refused = { code: 'nested_repository', reason: `cases/${id}/sub is a git repository` }
    t.match(await a.sync(), refused)
    t.equal(a.git('rev-parse', 'HEAD'), before)

    a.git('add', '.')
    a.git('commit', '-qm', 'by hand')
    a.git('push', '-q')
    t.match(await b.sync(), { state: 'in_sync' })
    t.strictSame(readdirSync(b.path('cases', id, 'sub')), [], 'an empty folder, as with git')
    t.match(await b.sync(), { state: 'in_sync', committed: null })

    // both changed the case
    commit(sub)
    t.match(await a.sync(), refused)
    a.git('commit', '-qam', 'by hand')
    a.write('a\n', 'cases', id, 'a.md')
    b.write('b\n', 'cases', id, 'b.md')
    t.match(await a.sync(), { state: 'in_sync' })
    t.match(await b.sync(), { state: 'in_sync' })
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.tree(), b.tree())

    // removed there: it stays here, and is refused
    rmSync(b.path('cases', id, 'sub'), { recursive: true })
    t.match(await b.sync(), { state: 'in_sync' })
    t.match(await a.sync(), { state: 'in_sync', received: { commits: 1 } })
    t.ok(existsSync(sub))
    t.match(await a.sync(), refused)
    renameSync(sub, `${dir}/sub`)
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.tree(), b.tree())

    // a file in its place in the other clone
    renameSync(`${dir}/sub`, sub)
    a.git('add', '.')
    a.git('commit', '-qm', 'by hand')
    a.git('push', '-q')
    b.write('b\n', 'cases', id, 'sub')
    t.match(await b.sync(), { state: 'conflicts', copies: [{ file: `cases/${id}/sub` }] })
    t.match(b.read(copiesIn(b)[0]!), /^Subproject commit/)
    t.equal(b.read('cases', id, 'sub'), 'b\n')
    t.match(await a.sync(), { code: 'nested_repository' })
    t.ok(existsSync(`${sub}/.git`))
    t.equal(a.git('status', '--porcelain'), '')
    renameSync(sub, `${dir}/sub`)
    await a.sync()
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.tree(), b.tree())
  },
)

t.test('git or the disk fails: nothing was pushed, and it says so once', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await b.close()
  a.write('x\n', 'cases', id, 'notes.md')
  await a.sync()
  const { root, stateDir } = b
  const cli = commandsOn(t, { root, env: { CASEFILE_STATE_DIR: stateDir } })
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  const fake = `#!/bin/sh
case "$*" in *update-index*) echo 'fatal: unable to write the new index' >&2; exit 128 ;; esac
PATH='${process.env.PATH}' exec git "$@"
`
  writeFileSync(join(bin, 'git'), fake, { mode: 0o755 })
  const failed = await cli.runWith({ env: { PATH: bin } }, 'sync')
  t.equal(failed.code, 2)
  const said =
    'Nothing was pushed. git update-index failed (exit 128): fatal: unable to write the new index.'
  t.match(failed.stdout.replace(/\s+/g, ' '), said)
  t.equal(failed.stderr, '')
  rmSync(join(bin, 'git'))
  const missing = await cli.runWith({ env: { PATH: bin } }, 'sync')
  t.equal(missing.code, 2)
  t.match(
    missing.stdout.replace(/\s+/g, ' '),
    /Nothing was pushed. Git cannot be started \(git was not found on the PATH\)/,
  )
  t.equal(missing.stderr, '')
  t.equal((await cli.runWith({ cwd: dir }, 'sync')).code, 2, 'no workspace')
  mkdirSync(join(b.memory, '.git', 'casefile-sync-target'))
  const barred = await cli.run('sync')
  t.match(barred, { code: 2, stdout: /Nothing was pushed/, stderr: '' })
  rmSync(join(b.memory, '.git', 'casefile-sync-target'), { recursive: true })
  rmSync(join(stateDir, 'sync.json'))
  mkdirSync(join(stateDir, 'sync.json'))
  t.match(await cli.run('sync'), { code: 0, stdout: /In sync/, stderr: /was not noted/ })
  t.equal(b.read('cases', id, 'notes.md'), 'x\n')
})

t.test('which errors are reasons to stop', async (t) => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'write',
  })
  t.match(stopFor(full), { code: 'disk_failed', message: /ENOSPC.*Free space/ })
  t.match(stopFor(new AppError('storage_full', 'Full.')), { code: 'disk_failed', message: 'Full.' })
  t.match(stopFor(new Error('git cat-file was ended by SIGKILL')), { code: 'git_failed' })
  t.equal(stopFor(new TypeError('x is not a function')), null)
})
