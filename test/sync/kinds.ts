import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandsHere } from '../fixtures/cli-here.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { git, must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

t.test('a repository with SHA-256', inLongLane, async (t) => {
  const dir = makeOrigin(t, '--object-format=sha256')
  git(dir, 'init', '--quiet', '--object-format=sha256', '--initial-branch=main', 'first')
  git(join(dir, 'first'), 'commit', '--quiet', '--allow-empty', '--message=Begin')
  git(join(dir, 'first'), 'push', '--quiet', '../origin.git', 'main') // a clone of an empty one is SHA-1 with git 2.39
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  const { id: gone } = await must(a, 'POST', '/cases', { title: 'Two' })
  await a.sync()
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

t.test('a branch of the code’s repository', inLongLane, async (t) => {
  const dir = makeOrigin(t)
  const first = join(dir, 'first')
  git(dir, 'clone', '--quiet', 'origin.git', first)
  writeFileSync(join(first, 'price.js'), 'export const price = 1\n')
  git(first, 'add', '--all')
  git(first, 'commit', '--quiet', '--message=Code')
  git(first, 'push', '--quiet', 'origin', 'HEAD:main')
  /** A clone with the code, as a person has it. */
  async function cloned(name: string) {
    const root = join(dir, name)
    git(dir, 'clone', '--quiet', 'origin.git', name)
    git(root, 'config', 'user.name', name)
    git(root, 'config', 'user.email', `${name}@example.com`)
    const stateDir = join(dir, `${name}-state`)
    mkdirSync(stateDir)
    const cli = commandsHere(t, { root, env: { CASEFILE_STATE_DIR: stateDir } })
    t.match(await cli.run('init', '--yes', '--memory', 'orphan-worktree'), { code: 0 })
    return openSyncedClone(t, { dir, name, memory: '.' })
  }
  const code = () => git(dir, '-C', 'origin.git', 'rev-parse', 'main')
  const before = code()

  // both begin before one has pushed
  const [a, b] = [await cloned('a'), await cloned('b')]
  await must(a, 'POST', '/cases', { title: 'By a' })
  await must(b, 'POST', '/cases', { title: 'By b' })
  writeFileSync(join(a.root, 'price.js'), 'export const price = 2\n')
  const own = { state: 'in_sync', kind: 'orphan-worktree', branch: 'casefile' }
  t.match(await a.sync(), { ...own, sent: { cases: [{ title: 'By a' }] } })
  t.match(await b.sync(), { ...own, received: { cases: [{ title: 'By a' }] } })
  t.match(await a.sync(), { ...own, received: { cases: [{ title: 'By b' }] }, left: [] })
  const tip = (folder: string) => git(folder, 'rev-parse', 'HEAD')
  t.equal(tip(a.memory), tip(b.memory))
  t.equal(git(dir, '-C', 'origin.git', 'rev-parse', 'casefile'), tip(a.memory))

  t.equal(code(), before, 'no commit of the code')
  t.match(git(a.root, 'status', '--porcelain'), / M price\.js/, 'the code stays as it is')
  t.equal(git(a.root, 'stash', 'list'), '')
  t.equal(readFileSync(join(a.root, 'price.js'), 'utf8'), 'export const price = 2\n')

  if (!isLong) return
  const later = await cloned('later')
  const titles = (await must(later, 'GET', '/cases')).map(({ title }: { title: string }) => title)
  t.strictSame(titles.sort(), ['By a', 'By b'])
})
