import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { git, must } from '../fixtures/session-client.ts'
import { copiesIn, makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

/** Two clones of code with a record in `memory/`, which has one case. */
async function twoClones(t: Test) {
  const dir = makeOrigin(t)
  const first = join(dir, 'first')
  git(dir, 'clone', '--quiet', 'origin.git', first)
  mkdirSync(join(first, 'src'))
  writeFileSync(join(first, 'src/index.js'), 'one\n')
  git(first, 'add', '.')
  git(first, '-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-qm', 'code')
  git(first, 'push', '-q', 'origin', 'HEAD:main')
  const a = await openSyncedClone(t, { dir, name: 'a', memory: '.' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  t.match(await a.sync(), { state: 'in_sync', kind: 'with-code' })
  const b = await openSyncedClone(t, { dir, name: 'b', memory: '.' })
  return { a, b, id }
}

t.test('the record travels, code never does', async (t) => {
  const { a, b, id } = await twoClones(t)
  writeFileSync(join(a.root, 'src/index.js'), 'two\n')
  writeFileSync(join(a.root, 'staged.js'), 'staged\n')
  a.git('add', 'staged.js')
  await must(a, 'PUT', `/cases/${id}`, { title: 'By a' })
  t.match(await a.sync(), { state: 'in_sync', sent: { commits: 1 } })
  t.equal(a.git('status', '--porcelain'), ' M src/index.js\nA  staged.js\n', 'code stays as it was')
  await must(b, 'PUT', `/cases/${id}`, { type: 'feature' })
  t.match(await b.sync(), { state: 'in_sync', copies: [] })
  t.match(await must(b, 'GET', `/cases/${id}`), { title: 'By a', type: 'feature' })
  t.match(await a.sync(), { state: 'in_sync', received: { commits: 2 } })
  t.equal(a.git('status', '--porcelain'), ' M src/index.js\nA  staged.js\n')
  t.equal(a.git('rev-parse', 'HEAD'), b.git('rev-parse', 'HEAD'))

  a.git('commit', '-qam', 'code')
  await must(a, 'PUT', `/cases/${id}`, { title: 'Again' })
  t.match(await a.sync(), { code: 'code_to_push', reason: /git push/ })
  a.git('push', '-q', 'origin', 'HEAD:main')
  t.match(await a.sync(), { state: 'in_sync' })
  await must(b, 'PUT', `/cases/${id}`, { description: 'By b' })
  t.match(await b.sync(), { code: 'code_changed', reason: /src\/index\.js.*git pull/s })
})

t.test('a script in the memory folder is code', async (t) => {
  const { a, b, id } = await twoClones(t)
  a.write('echo 1\n', 'run.sh')
  a.write('echo 2\n', 'cases', id, 'run.sh')
  a.write('note\n', 'cases', id, 'notes.md')
  a.write('0123456789ab none\n', '.not-secrets')
  const left = [`memory/cases/${id}/run.sh`, 'memory/run.sh']
  t.match(await a.sync(), { state: 'in_sync', committed: { files: 2 }, left })
  t.equal(a.git('status', '--porcelain', '-uall'), left.map((file) => `?? ${file}\n`).join(''))
  t.match(await must(a, 'GET', '/sync'), { uncommitted: 0 })
  rmSync(a.path('cases', id, 'notes.md'))
  t.match(await a.sync(), { state: 'in_sync', committed: { files: 1 } }, 'also what is deleted')

  a.git('add', '.')
  a.git('commit', '-qm', 'by hand')
  t.match(await a.sync(), { code: 'code_to_push', reason: /A commit with memory\/.*run\.sh would/ })
  a.git('push', '-q', 'origin', 'HEAD:main')
  t.match(await b.sync(), { code: 'code_changed', reason: /run\.sh.*git pull/s })
  b.git('pull', '-q', '--no-rebase', 'origin', 'main')
  t.match(await b.sync(), { state: 'in_sync', left: [] })
})

t.test('a pull that stopped at the record is resolved, and what is left is named', async (t) => {
  const { a, b, id } = await twoClones(t)
  for (const clone of [a, b]) {
    const name = clone === a ? 'a' : 'b'
    const item = { description: `By ${name}`, type: 'log', required: false }
    await must(clone, 'POST', `/cases/${id}/proof/checklist`, item)
    await must(clone, 'PUT', `/cases/${id}`, {
      type: clone === a ? 'feature' : 'bug',
      outcome: clone === a ? 'Duplicate' : 'WontFix',
    })
    writeFileSync(join(clone.root, 'src/index.js'), `${name}\n`)
    clone.git('add', '.')
    clone.git('commit', '-qm', name)
  }
  a.git('push', '-q', 'origin', 'HEAD:main')
  t.throws(() => b.git('pull', '-q', '--no-rebase', 'origin', 'main'))
  const result = await b.sync()
  t.match(result, { code: 'unfinished_merge', copies: [{ case_id: id }] })
  t.match(
    result.reason,
    /1 file of the record.*Still in conflict: src\/index\.js\. Then run: git commit/s,
  )
  const text = b.read('cases', id, 'case.md')
  t.match(text, '- [ ] By a (log)')
  t.match(text, '- [ ] By b (log)')
  t.match(text, '\noutcome: WontFix\n')
  t.match(text, '\ntype: feature\n')
  t.equal(copiesIn(b).length, 1)
  t.match(
    readFileSync(join(b.root, 'src/index.js'), 'utf8'),
    '<<<<<<<',
    'code is left to the person',
  )
  t.match(b.git('status', '--porcelain'), /^UU src\/index\.js$/m)
  t.notMatch(b.git('status', '--porcelain'), /^UU memory/m)
  writeFileSync(join(b.root, 'src/index.js'), 'both\n')
  rmSync(b.path(copiesIn(b)[0]!))
  b.git('add', '.')
  b.git('commit', '-qm', 'merged')
  t.match(await b.sync(), { code: 'code_to_push' })
})

t.test('a file that a person has begun to resolve stays', async (t) => {
  const { a, b, id } = await twoClones(t)
  for (const clone of [a, b]) {
    await must(clone, 'PUT', `/cases/${id}`, { outcome: clone === a ? 'Duplicate' : 'WontFix' })
    clone.git('add', '.')
    clone.git('commit', '-qm', 'x')
  }
  a.git('push', '-q', 'origin', 'HEAD:main')
  t.throws(() => b.git('pull', '-q', '--no-rebase', 'origin', 'main'))
  const mine = `${b.read('cases', id, 'case.md')}\nmine\n`
  b.write(mine, 'cases', id, 'case.md')
  t.match((await b.sync()).reason, `You have begun to resolve memory/cases/${id}/case.md`)
  t.equal(b.read('cases', id, 'case.md'), mine)
})

t.test('a new branch pushes only what no branch of the remote has', async (t) => {
  const { a, id } = await twoClones(t)
  a.git('checkout', '-q', '-b', 'topic')
  await must(a, 'PUT', `/cases/${id}`, { title: 'On topic' })
  t.match(await must(a, 'GET', '/sync'), { upstream: 'origin/topic', ahead: 0 })
  t.match(await a.sync(), { state: 'in_sync', sent: { commits: 1, cases: [{ id }] } })
  t.match(a.git('rev-parse', '--abbrev-ref', 'topic@{upstream}'), 'origin/topic')
  a.git('checkout', '-q', '-b', 'more')
  writeFileSync(join(a.root, 'src/index.js'), 'two\n')
  a.git('commit', '-qam', 'code')
  await must(a, 'PUT', `/cases/${id}`, { title: 'On more' })
  const result = await a.sync()
  t.match(result, { code: 'code_to_push', reason: /^1 commit .*git push -u origin more$/ })
})

t.test('in a rebase that stopped, the version of the person stays', async (t) => {
  const { a, b, id } = await twoClones(t)
  for (const clone of [a, b]) {
    const outcome = clone === a ? 'Duplicate' : 'WontFix'
    await must(clone, 'PUT', `/cases/${id}`, { outcome })
    writeFileSync(join(clone.root, 'src/index.js'), `${outcome}\n`)
    clone.git('add', '.')
    clone.git('commit', '-qm', outcome)
  }
  a.git('push', '-q', 'origin', 'HEAD:main')
  t.throws(() => b.git('pull', '-q', '--rebase', 'origin', 'main'))
  const { reason } = await b.sync()
  t.match(reason, /1 file of the record is resolved.*git rebase --continue/s)
  t.match(b.read('cases', id, 'case.md'), 'outcome: WontFix')
  const [copy] = copiesIn(b)
  t.match(b.read(copy!), 'outcome: Duplicate')
  writeFileSync(join(b.root, 'src/index.js'), 'both\n')
  b.git('add', '.')
  t.match((await b.sync()).reason, /is not finished in \S+\. Run: git rebase --continue, and/)
  b.git('-c', 'core.editor=true', 'rebase', '--continue')

  b.git('checkout', '-q', '-b', 'patch', 'HEAD~1')
  await must(b, 'PUT', `/cases/${id}`, { outcome: 'CannotReproduce' })
  b.git('add', '.')
  b.git('commit', '-qm', 'own')
  const patch = b.git('format-patch', '-1', '--stdout', 'main')
  writeFileSync(join(b.root, '.git', 'patch'), patch)
  t.throws(() => b.git('am', '-q', '-3', '.git/patch'))
  t.match((await b.sync()).reason, 'git am --continue')
  t.match(b.read('cases', id, 'case.md'), 'outcome: CannotReproduce', 'a patch is not the person’s')
})
