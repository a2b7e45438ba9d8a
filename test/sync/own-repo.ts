import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { must } from '../fixtures/session-client.ts'
import { copiesIn, makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

const wordsOf = (html: string) => html.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')

t.test('two clones share a record', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const fields = { description: 'One.\n\nTwo.' }
  const { id } = await must(a, 'POST', '/cases', { title: 'Login times out', ...fields })

  t.match(await a.sync({ dry_run: true }), {
    state: 'in_sync',
    dry_run: true,
    sent: { commits: 1, cases: [{ id }] },
  })
  t.throws(() => a.git('rev-parse', '--verify', 'HEAD'), 'a dry run commits nothing')
  t.match(a.git('status', '--porcelain'), /^\?\? /m, 'and stages nothing')
  t.match(await must(a, 'GET', '/sync/compared'), { last: null, upstream: 'origin/main' })
  t.match(wordsOf((await a.request('GET', '/')).text), /\d changed files? to send · no sync yet/)

  const first = await a.sync()
  t.match(first, {
    state: 'in_sync',
    kind: 'own-repo',
    branch: 'main',
    upstream: 'origin/main',
    code: null,
    received: { commits: 0 },
    committed: { cases: [{ id, title: 'Login times out' }] },
    sent: { commits: 1, cases: [{ id }] },
  })
  t.equal(first.committed!.commit, a.git('rev-parse', 'origin/main').trim())
  t.match(a.git('log', '-1', '--format=%s%n%b'), `Cases: Login times out\n${id} Login times out`)
  t.match(a.git('log', '-1', '--format=%an'), 'a')
  const config = ['remote', 'merge'].map((key) => a.git('config', `branch.main.${key}`).trim())
  t.strictSame(config, ['origin', 'refs/heads/main'])

  const titles = ['Titled', 'Same', 'Gone', 'Kept by b', 'Kept by a', 'Notes']
  const ids: string[] = []
  for (const title of titles) ids.push((await must(a, 'POST', '/cases', { title })).id)
  const [titled, same, gone, keptByB, keptByA, noted] = ids as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  a.write('#!/bin/sh\n', 'cases', id, 'run.sh')
  chmodSync(a.path('cases', id, 'run.sh'), 0o755)
  a.write('old\n', 'cases', id, 'old.md')
  a.write('# Notes\n\nfirst\n', 'cases', noted, 'notes.md')
  t.match(await a.sync(), { committed: { files: Number } })
  t.match(a.git('log', '-1', '--format=%s'), /^Cases: .* and 6 more cases$/m)

  const b = await openSyncedClone(t, { dir, name: 'b' })
  t.equal((await must(b, 'GET', `/cases/${id}`)).title, 'Login times out')
  t.match(await b.sync(), { state: 'in_sync', committed: null, sent: { commits: 0 } })

  for (const clone of [a, b]) {
    const name = clone.root.at(-1)!
    await must(clone, 'PUT', `/cases/${titled}`, { title: `By ${name}` })
    clone.write('# Same\n', 'cases', same, 'notes.md')
    await must(clone, 'DELETE', `/cases/${gone}`)
    clone.write(`# Notes\n\nfirst\n${name}\n`, 'cases', noted, 'notes.md')
    clone.write(`# Ideas\n\n- ${name}\n`, 'cases', noted, 'ideas.md')
    clone.write(`{"by": "${name}"}\n`, 'cases', noted, 'by.json')
  }
  await must(a, 'PUT', `/cases/${id}`, { title: 'Login times out under load' })
  rmSync(a.path('cases', id, 'old.md'))
  chmodSync(a.path('cases', id, 'run.sh'), 0o644)
  a.write('x\n', 'cases', id, 'other.sh')
  chmodSync(a.path('cases', id, 'other.sh'), 0o755)
  await must(b, 'PUT', `/cases/${id}`, { type: 'feature', description: 'One.\n\nTwo, by b.' })
  await must(a, 'DELETE', `/cases/${keptByB}`)
  await must(b, 'PUT', `/cases/${keptByB}`, { title: 'Changed by b' })
  await must(b, 'DELETE', `/cases/${keptByA}`)
  await must(a, 'PUT', `/cases/${keptByA}`, { title: 'Changed by a' })
  t.match(await a.sync(), { state: 'in_sync', restored: [], copies: [], sent: { commits: 1 } })

  const before = b.git('rev-parse', 'HEAD')
  const conflicts = {
    state: 'conflicts',
    restored: [{ case_id: String }, { case_id: String }],
    received: { commits: 1 },
    sent: { commits: 2 },
  }
  t.match(await b.sync({ dry_run: true }), { ...conflicts, dry_run: true })
  t.equal(b.git('rev-parse', 'HEAD'), before)
  t.match(b.git('status', '--porcelain'), `M cases/${id}/case.md`)
  t.strictSame(copiesIn(b), [])

  const umask = process.umask(0o027)
  t.teardown(() => process.umask(umask))
  const result = await b.sync()
  t.match(result, conflicts)
  await must(b, 'GET', '/sync/compared')
  const list = wordsOf((await b.request('GET', '/')).text)
  for (const part of [
    'Nothing to send · last sync ',
    'In sync with origin/main, but something needs you.',
    'by.json could not be merged. Yours stays; the other version is by.conflict-',
    'stays: it was deleted in one clone and changed in another.',
    'Sent 2 commits: ',
    'Received 1 commit: ',
  ])
    t.match(list, part)
  const copies = result.copies.toSorted((x, y) => (x.file < y.file ? -1 : 1))
  t.match(
    copies,
    [
      { case_id: noted, file: `cases/${noted}/by.json` },
      { case_id: titled, file: `cases/${titled}/case.md` },
    ].toSorted((x, y) => (x.file < y.file ? -1 : 1)),
    'data is not joined, and one title stays',
  )
  t.strictSame(copies.map(({ copy }) => copy).sort(), copiesIn(b).sort())
  t.strictSame(new Set(result.restored.map((each) => each.case_id)), new Set([keptByA, keptByB]))
  t.strictSame(
    new Set(result.received.cases.map((each) => each.title)),
    new Set(['Login times out under load', 'By a', 'Same', '(deleted)', 'Changed by a', 'Notes']),
  )
  const message = b.git('log', '-1', '--format=%B')
  t.match(message, /^Merge the cases of origin\/main\n\n/)
  for (const { copy } of copies) t.match(message, `conflict copy: ${copy}\n`)
  t.match(message, `${keptByB}: deleted on one side and changed on the other, so it stays\n`)
  t.match(await must(b, 'GET', `/cases/${id}`), {
    title: 'Login times out under load',
    type: 'feature',
    description: 'One.\n\nTwo, by b.',
    problems: [],
  })
  const modes = ['run.sh', 'other.sh'].map((name) => statSync(b.path('cases', id, name)).mode)
  t.strictSame(
    modes.map((mode) => mode & 0o777),
    [0o640, 0o750],
    'as git would give them',
  )
  t.notOk(existsSync(b.path('cases', id, 'old.md')))
  t.notOk(existsSync(b.path('cases', gone)), 'and no empty folder')
  t.equal(b.read('cases', noted, 'notes.md'), '# Notes\n\nfirst\na\nb\n', 'in order of the pushes')
  t.equal(b.read('cases', noted, 'ideas.md'), '# Ideas\n\n- a\n- b\n')
  const [copy] = copiesIn(b).filter((each) => each.includes(titled))
  t.match(b.read(copy!), 'title: By a')
  t.match((await must(b, 'GET', `/cases/${titled}`)).problems, [{ code: 'conflict_copy' }])

  t.match(await must(a, 'GET', '/sync/compared'), {
    ahead: 0,
    behind: 0,
    uncommitted: 0,
    reason: null,
  })
  a.git('fetch', '-q')
  a.write('a\n', 'cases', id, 'a.md')
  t.match(await must(a, 'GET', '/sync/compared'), {
    behind: 2,
    uncommitted: 1,
    last: { at: String },
  })
  t.match(await a.sync(), {
    state: 'in_sync',
    received: { commits: 2 },
    restored: [{ case_id: keptByB }],
    copies: [],
  })
  t.equal((await must(a, 'GET', `/cases/${keptByB}`)).title, 'Changed by b', 'is back, and known')
  for (const each of copiesIn(b)) rmSync(b.path(each))
  t.match(await b.sync(), { state: 'in_sync', copies: [] })
  t.match(await a.sync(), { state: 'in_sync' })
  t.strictSame(copiesIn(a), [], 'a copy that was deleted is gone for all')
  t.equal((await must(a, 'GET', `/cases/${titled}`)).title, 'By b')
  t.equal(a.tree(), b.tree())
  a.write('again\n', 'cases', id, 'a.md')
  const both = await Promise.all([a.sync(), a.sync()])
  t.match(both, [
    { state: 'in_sync', sent: { commits: 1 } },
    { state: 'in_sync', committed: null },
  ])
  const left = readdirSync(join(a.memory, '.git')).filter((name) => /casefile|lock/.test(name))
  t.strictSame(left, [])
})

t.test('clones that both began a record, and push while the other does', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const one = await must(a, 'POST', '/cases', { title: 'By a' })
  const two = await must(b, 'POST', '/cases', { title: 'By b' })
  await a.sync()
  t.match(await b.sync(), { state: 'in_sync', copies: [], received: { commits: 1 } })
  await a.sync()
  t.equal(a.tree(), b.tree())
  for (const { id } of [one, two]) t.match((await must(a, 'GET', `/cases/${id}`)).title, /^By /)

  await must(a, 'PUT', `/cases/${one.id}`, { title: 'First' })
  a.git('commit', '-qam', 'by hand')
  a.git('push', '-q', 'origin', 'HEAD:refs/heads/waits')
  const hook = join(dir, 'origin.git', 'hooks', 'pre-receive')
  const overtake = `#!/bin/sh
rm "$0"
read old new ref
unset GIT_QUARANTINE_PATH
git update-ref "$ref" refs/heads/waits
`
  writeFileSync(hook, overtake, { mode: 0o755 })
  await must(b, 'PUT', `/cases/${one.id}`, { type: 'epic' })
  t.match(await b.sync(), { state: 'in_sync', received: { commits: 1 }, sent: { commits: 2 } })
  t.notOk(existsSync(hook), 'another commit came first')
  t.match(await must(b, 'GET', `/cases/${one.id}`), { title: 'First', type: 'epic' })

  b.git('checkout', '-q', '--orphan', 'code')
  b.git('rm', '-rfq', '--cached', '.')
  writeFileSync(join(b.memory, 'index.js'), 'code')
  b.git('add', 'index.js')
  b.git('commit', '-qm', 'code')
  b.git('push', '-qf', 'origin', 'code:main')
  t.match(await a.sync(), { code: 'unrelated_histories' }, 'a remote that is something else')
})
