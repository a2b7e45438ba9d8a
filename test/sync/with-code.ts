import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { inLongLane } from '../fixtures/full.ts'
import { git, must } from '../fixtures/session-client.ts'
import {
  copiesIn,
  makeOrigin,
  openSyncedClone,
  type SyncedClone,
} from '../fixtures/synced-clones.ts'

/** Two clones of code with a record in `memory/`, which has one case. */
async function twoClones(t: Test) {
  const dir = makeOrigin(t)
  const first = join(dir, 'first')
  git(dir, 'clone', '--quiet', 'origin.git', first)
  mkdirSync(join(first, 'src'))
  writeFileSync(join(first, 'src/index.js'), 'one\n')
  git(first, 'add', '.')
  git(first, 'commit', '-qm', 'code')
  git(first, 'push', '-q', 'origin', 'HEAD:main')
  const a = await openSyncedClone(t, { dir, name: 'a', memory: '.' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  const { id: other } = await must(a, 'POST', '/cases', { title: 'Other' })
  t.match(await a.sync(), { state: 'in_sync', kind: 'with-code', left: [] })
  const b = await openSyncedClone(t, { dir, name: 'b', memory: '.' })
  return { a, b, id, other }
}

const push = (clone: SyncedClone) => clone.git('push', '-q', 'origin', 'HEAD:main')

function commitAll(clone: SyncedClone): void {
  clone.git('add', '.')
  clone.git('commit', '-qm', 'by hand')
}

t.test('the record travels, and code never does', inLongLane, async (t) => {
  const { a, b, id } = await twoClones(t)
  writeFileSync(join(a.root, 'src/index.js'), 'two\n')
  writeFileSync(join(a.root, 'staged.js'), 'staged\n')
  writeFileSync(join(a.root, 'memory.js'), 'code beside it\n')
  a.git('add', 'staged.js')
  await must(a, 'PUT', `/cases/${id}`, { title: 'By a' })
  t.match(await a.sync(), { state: 'in_sync', sent: { commits: 1, cases: [{ id }] } })
  const code = ' M src/index.js\nA  staged.js\n?? memory.js\n'
  t.equal(a.git('status', '--porcelain'), code, 'code stays as it was')
  await must(b, 'PUT', `/cases/${id}`, { type: 'feature' })
  t.match(await b.sync(), { state: 'in_sync', copies: [] })
  t.match(await must(b, 'GET', `/cases/${id}`), { title: 'By a', type: 'feature' })
  t.match(await a.sync(), { state: 'in_sync', received: { commits: 2 } })
  t.equal(a.git('status', '--porcelain'), code)
  t.equal(a.git('rev-parse', 'HEAD'), b.git('rev-parse', 'HEAD'))

  await t.test('also code in the memory folder', async (t) => {
    a.write('echo 1\n', 'run.sh')
    a.write('echo 2\n', 'cases', id, 'run.sh')
    a.write('note\n', 'cases', id, 'notes.md')
    a.write('0123456789ab none\n', '.not-secrets')
    const left = [`memory/cases/${id}/run.sh`, 'memory/run.sh']
    t.match(await a.sync(), { state: 'in_sync', committed: { files: 2 }, left })
    t.match(await must(a, 'GET', '/sync/compared'), { uncommitted: 0 })
    rmSync(a.path('cases', id, 'notes.md'))
    t.match(await a.sync(), { state: 'in_sync', committed: { files: 1 } }, 'also what is deleted')
  })

  await t.test('a commit with code is for its author to push and to pull', async (t) => {
    a.git('add', 'memory')
    a.git('stash', '-q', '--', 'src', 'staged.js')
    a.git('commit', '-qm', 'by hand')
    t.match(await a.sync(), {
      code: 'code_to_push',
      reason: /A commit with memory\/.*run\.sh would/,
    })
    push(a)
    t.match(await a.sync(), { state: 'in_sync' })
    writeFileSync(join(a.root, 'src/index.js'), 'two\n')
    a.git('commit', '-qam', 'code')
    await must(a, 'PUT', `/cases/${id}`, { title: 'Again' })
    t.match(await a.sync(), { code: 'code_to_push', reason: /^1 commit with code .* git push$/ })
    t.match(a.git('log', '-1', '--format=%s'), /^Cases: Again$/m, 'the record is committed')
    await must(b, 'PUT', `/cases/${id}`, { description: 'By b' })
    push(a)
    const { reason, ...stopped } = await b.sync()
    t.match(stopped, { code: 'code_changed', committed: { cases: [{ id }] } })
    t.match(reason, /run\.sh.*git pull/s)
    b.git('pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main')
    t.match(await b.sync(), { state: 'in_sync', left: [] })
  })

  await t.test('a new branch pushes only what no branch of the remote has', async (t) => {
    t.match(await a.sync(), { state: 'in_sync' })
    a.git('checkout', '-q', '-b', 'topic')
    await must(a, 'PUT', `/cases/${id}`, { title: 'On topic' })
    t.match(await must(a, 'GET', '/sync/compared'), { upstream: 'origin/topic', ahead: 0 })
    t.match(await a.sync(), { state: 'in_sync', sent: { commits: 1, cases: [{ id }] } })
    t.match(a.git('rev-parse', '--abbrev-ref', 'topic@{upstream}'), 'origin/topic')
    a.git('checkout', '-q', '-b', 'more')
    writeFileSync(join(a.root, 'src/index.js'), 'three\n')
    a.git('commit', '-qam', 'code')
    const result = await a.sync()
    t.match(result, { code: 'code_to_push', reason: /^1 commit .*git push -u origin more$/ })
  })
})

t.test('what a person has begun in git is resolved as far as it is the record', async (t) => {
  const { a, b, id, other } = await twoClones(t)
  const outcome = (clone: SyncedClone) => (clone === a ? 'Duplicate' : 'WontFix')
  for (const clone of [a, b]) {
    const name = clone === a ? 'a' : 'b'
    const item = { description: `By ${name}`, type: 'log', required: false }
    await must(clone, 'POST', `/cases/${id}/proof/checklist`, item)
    const type = clone === a ? 'feature' : 'bug'
    await must(clone, 'PUT', `/cases/${id}`, { type, outcome: outcome(clone) })
    await must(clone, 'PUT', `/cases/${other}`, { outcome: outcome(clone) })
    writeFileSync(join(clone.root, 'src/index.js'), `${name}\n`)
    commitAll(clone)
  }
  push(a)

  await t.test('a pull that stopped; what is left is named', async (t) => {
    t.throws(() => b.git('pull', '-q', '--no-rebase', 'origin', 'main'))
    const mine = `${b.read('cases', other, 'case.md')}\nmine\n`
    b.write(mine, 'cases', other, 'case.md')
    const dry = await b.sync({ dry_run: true })
    t.match(dry, { code: 'unfinished_merge', copies: [{ case_id: id }] })
    t.match(b.read('cases', id, 'case.md'), '<<<<<<<', 'a dry run changes nothing')

    const result = await b.sync()
    t.match(result, { code: 'unfinished_merge', copies: [{ case_id: id }] })
    t.match(result.reason, /1 file of the record is resolved and staged\. You have begun to/)
    t.match(result.reason, `begun to resolve memory/cases/${other}/case.md: finish it`)
    t.match(result.reason, /Still in conflict: src\/index\.js\. Then run: git commit, and sync/)
    const text = b.read('cases', id, 'case.md')
    for (const line of [
      '- [ ] By a (log)',
      '- [ ] By b (log)',
      'outcome: WontFix',
      'type: feature',
    ])
      t.match(text, `\n${line}\n`)
    t.equal(copiesIn(b).length, 1)
    t.equal(b.read('cases', other, 'case.md'), mine, 'what a person began to resolve stays')
    const code = readFileSync(join(b.root, 'src/index.js'), 'utf8')
    t.match(code, '<<<<<<<', 'code is left to the person')
    const status = b.git('status', '--porcelain')
    t.match(status, /^UU src\/index\.js$/m)
    t.strictSame(status.match(/^UU memory.*$/gm), [`UU memory/cases/${other}/case.md`])
    t.match((await must(b, 'GET', `/cases/${id}`)).type, 'feature')
    writeFileSync(join(b.root, 'src/index.js'), 'both\n')
    rmSync(b.path(copiesIn(b)[0]!))
    b.git('checkout', '-q', '--ours', 'memory')
    commitAll(b)
    t.match(await b.sync(), { code: 'code_to_push' })
    push(b)
  })

  await t.test('a rebase: the version of the person stays', async (t) => {
    a.git('pull', '-q', '--no-rebase', 'origin', 'main')
    for (const clone of [a, b]) {
      await must(clone, 'PUT', `/cases/${id}`, { outcome: `${outcome(clone)}Again` })
      writeFileSync(join(clone.root, 'src/index.js'), `${outcome(clone)}\n`)
      commitAll(clone)
    }
    push(a)
    t.throws(() => b.git('pull', '-q', '--rebase', 'origin', 'main'))
    t.match((await b.sync()).reason, /1 file of the record is resolved.*git rebase --continue/s)
    t.match(b.read('cases', id, 'case.md'), 'outcome: WontFixAgain')
    t.match(
      copiesIn(b)
        .map((copy) => b.read(copy))
        .join(),
      'outcome: DuplicateAgain',
    )
    writeFileSync(join(b.root, 'src/index.js'), 'both\n')
    b.git('add', '.')
    t.match((await b.sync()).reason, /is not finished in \S+\. Run: git rebase --continue, and/)
    b.git('-c', 'core.editor=true', 'rebase', '--continue')
  })

  await t.test('a patch is not the person’s', async (t) => {
    b.git('checkout', '-q', '-b', 'patch', 'HEAD~1')
    await must(b, 'PUT', `/cases/${id}`, { outcome: 'CannotReproduce' })
    commitAll(b)
    const patch = b.git('format-patch', '-1', '--stdout', 'main')
    writeFileSync(join(b.root, '.git', 'patch'), patch)
    t.throws(() => b.git('am', '-q', '-3', '.git/patch'))
    t.match((await b.sync()).reason, 'git am --continue')
    t.match(b.read('cases', id, 'case.md'), 'outcome: CannotReproduce')
  })
})
