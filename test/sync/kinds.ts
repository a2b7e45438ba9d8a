import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Cli, commandsOn } from '../fixtures/cli.ts'
import { git, must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

t.test('a repository with SHA-256', async (t) => {
  const dir = makeOrigin(t, '--object-format=sha256')
  git(dir, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', 'first')
  const [user, email] = ['user.name=first', 'user.email=first@example.com']
  const commit = ['commit', '--quiet', '--allow-empty', '--message=Begin']
  git(join(dir, 'first'), '-c', user, '-c', email, ...commit)
  git(join(dir, 'first'), 'push', '--quiet', '../origin.git', 'main') // a clone of an empty one is SHA-1 with git 2.39
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  const { id: gone } = await must(a, 'POST', '/cases', { title: 'Two' })
  t.match(await a.sync(), { state: 'in_sync' })
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await must(a, 'PUT', `/cases/${id}`, { title: 'One, by a' })
  await must(b, 'PUT', `/cases/${id}`, { type: 'bug' })
  await must(b, 'DELETE', `/cases/${gone}`)
  t.match(await a.sync(), { state: 'in_sync' })
  t.match(await b.sync(), { state: 'in_sync', received: { commits: 1 } })
  t.match(await a.sync(), { state: 'in_sync', received: { commits: 2 } })
  t.match(await must(a, 'GET', `/cases/${id}`), { title: 'One, by a', type: 'bug', problems: [] })
  t.notOk(existsSync(a.path('cases', gone)))
  t.equal(a.tree(), b.tree())
  t.equal(a.tree().length, 64)
})

t.test('a filter of git stores something else than the file has', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const b = await openSyncedClone(t, { dir, name: 'b' })
  for (const clone of [a, b]) {
    clone.git('config', 'filter.turned.clean', 'tr a-z n-za-m')
    clone.git('config', 'filter.turned.smudge', 'tr a-z n-za-m')
  }
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  a.write('*.log filter=turned\n', 'cases', '.gitattributes')
  a.write('hello\n', 'cases', id, 'run.log')
  t.match(await a.sync(), { state: 'in_sync' })
  t.equal(a.git('cat-file', 'blob', `HEAD:cases/${id}/run.log`), 'uryyb\n')
  t.match(await b.sync(), { state: 'in_sync' })
  t.equal(b.read('cases', id, 'run.log'), 'hello\n')
  b.write('good bye\n', 'cases', id, 'run.log')
  await b.sync()
  t.match(await a.sync(), { state: 'in_sync' })
  t.equal(a.read('cases', id, 'run.log'), 'good bye\n')
  t.equal(a.tree(), b.tree())
})

t.test('files get the mode that git would give them', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  a.write('#!/bin/sh\n', 'cases', id, 'run.sh')
  chmodSync(a.path('cases', id, 'run.sh'), 0o755)
  a.write('#!/bin/sh\n', 'cases', id, 'other.sh')
  await a.sync()
  await b.sync()
  const before = process.umask(0o027)
  t.teardown(() => process.umask(before))
  const modeOf = (name: string) => statSync(b.path('cases', id, name)).mode & 0o777
  t.strictSame(['case.md', 'run.sh', 'other.sh'].map(modeOf), [
    0o666 & ~before,
    0o777 & ~before,
    0o666 & ~before,
  ])
  a.write('x\n', 'cases', id, 'notes.md')
  chmodSync(a.path('cases', id, 'run.sh'), 0o644)
  chmodSync(a.path('cases', id, 'other.sh'), 0o755)
  await a.sync()
  t.match(await b.sync(), { state: 'in_sync' })
  t.strictSame(['notes.md', 'run.sh', 'other.sh'].map(modeOf), [0o640, 0o640, 0o750])
  t.equal(a.tree(), b.tree())
})

t.test('a branch of the code’s repository', async (t) => {
  const dir = makeOrigin(t)
  const [a, b] = [codeClone(t, dir, 'a'), codeClone(t, dir, 'b')]
  const code = () => git(dir, '-C', 'origin.git', 'rev-parse', 'main')
  const before = code()

  // both begin before one has pushed
  for (const cli of [a, b])
    t.match(await cli.run('init', '--yes', '--memory', 'orphan-worktree'), { code: 0 })
  await a.run('new', 'By a')
  await b.run('new', 'By b')
  writeFileSync(join(a.root, 'price.js'), 'export const price = 2\n')
  t.match(await a.run('sync'), { code: 0, stdout: /Sent \d commits: By a/ })
  t.match(await b.run('sync'), { code: 0, stdout: /Received \d commits: By a/ })
  t.match(await a.run('sync'), { code: 0, stdout: /Received \d commits: By b/ })
  for (const cli of [a, b])
    t.match((await cli.run('list')).stdout, /By a[\s\S]*By b|By b[\s\S]*By a/)
  const tip = ({ root }: Cli) => git(join(root, 'memory'), 'rev-parse', 'HEAD')
  t.equal(tip(a), tip(b))
  t.equal(git(dir, '-C', 'origin.git', 'rev-parse', 'casefile'), tip(a))

  t.equal(code(), before, 'no commit of the code')
  t.match(git(a.root, 'status', '--porcelain'), / M price\.js/, 'the code stays as it is')
  t.equal(git(a.root, 'stash', 'list'), '')
  t.equal(readFileSync(join(a.root, 'price.js'), 'utf8'), 'export const price = 2\n')

  const later = codeClone(t, dir, 'later')
  t.match(await later.run('init', '--yes', '--memory', 'orphan-worktree'), { code: 0 })
  t.match((await later.run('list')).stdout, /By a[\s\S]*By b|By b[\s\S]*By a/)
  await later.run('new', 'Later')
  t.match(await later.run('sync'), { code: 0, stdout: /Sent 1 commit: Later/ })
})

/** A clone of a repository with code, as a person has it. */
function codeClone(t: Test, dir: string, name: string): Cli {
  const root = join(dir, name)
  git(dir, 'clone', '--quiet', 'origin.git', name)
  git(root, 'config', 'user.name', name)
  git(root, 'config', 'user.email', `${name}@example.com`)
  if (!existsSync(join(root, 'price.js'))) {
    writeFileSync(join(root, 'price.js'), 'export const price = 1\n')
    git(root, 'add', '--all')
    git(root, 'commit', '--quiet', '--message=Code')
    git(root, 'push', '--quiet', 'origin', 'HEAD:main')
  }
  const stateDir = join(dir, `${name}-state`)
  mkdirSync(stateDir)
  return commandsOn(t, { root, env: { CASEFILE_STATE_DIR: stateDir } })
}
