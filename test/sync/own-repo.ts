import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { finished, git, must, newSession, reaches, step } from '../fixtures/session-client.ts'
import { copiesIn, makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

t.test('two clones share a record', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', {
    title: 'Login times out',
    description: 'One.\n\nTwo.',
  })
  const first = await a.sync()
  t.match(first, {
    state: 'in_sync',
    kind: 'own-repo',
    upstream: 'origin/main',
    received: { commits: 0 },
  })
  t.match(first.committed, { cases: [{ id, title: 'Login times out' }] })
  t.match(first.sent, { commits: 1, cases: [{ id }] })
  t.match(a.git('log', '-1', '--format=%s%n%b'), `Cases: Login times out\n${id} Login times out`)
  t.equal(a.git('config', 'branch.main.remote').trim(), 'origin')

  const b = await openSyncedClone(t, { dir, name: 'b' })
  t.equal((await must(b, 'GET', `/cases/${id}`)).title, 'Login times out')
  t.match(await b.sync(), { state: 'in_sync', committed: null, sent: { commits: 0 } })

  await must(a, 'PUT', `/cases/${id}`, { title: 'Login times out under load' })
  await must(a, 'PUT', `/cases/${id}/memory/notes.md`, '# Notes\n\nfrom a\n')
  await a.sync()
  await must(b, 'PUT', `/cases/${id}`, { type: 'feature', description: 'One.\n\nTwo, by b.' })
  const result = await b.sync()
  t.match(result, { state: 'in_sync', copies: [], received: { commits: 1 }, sent: { commits: 2 } })
  t.match(await must(b, 'GET', `/cases/${id}`), {
    title: 'Login times out under load',
    type: 'feature',
    description: 'One.\n\nTwo, by b.',
    problems: [],
  })
  t.match(await a.sync(), { state: 'in_sync', received: { commits: 2 } })
  t.equal(a.tree(), b.tree())
  t.match(await must(a, 'GET', `/cases/${id}`), { type: 'feature', problems: [] })
  const status = await must(a, 'GET', '/sync')
  t.match(status, { ahead: 0, behind: 0, uncommitted: 0, reason: null, last: { state: 'in_sync' } })
  t.strictSame(
    readdirSync(join(a.memory, '.git')).filter((name) => /casefile|lock/.test(name)),
    [],
  )
})

for (const outputs of ['ab', 'aa']) {
  t.test(`both run a session with the same number, and print ${outputs}`, async (t) => {
    const dir = makeOrigin(t)
    const a = await openSyncedClone(t, { dir, name: 'a' })
    const { id } = await must(a, 'POST', '/cases', { title: 'Both' })
    await a.sync()
    const b = await openSyncedClone(t, { dir, name: 'b' })
    for (const clone of [a, b]) {
      const plan = step(`echo ${outputs[clone === a ? 0 : 1]}`, 'sh run id=test proof=log')
      await must(clone, 'PUT', `/cases/${id}/memory/runbook.md`, plan)
      const ref = await newSession(clone, id)
      await reaches(clone, ref, 'plan_ready')
      await finished(clone, ref)
      if (clone === b)
        await must(clone, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'x' })
      rmSync(clone.path('cases', id, 'runbook.md'))
    }
    await a.sync()
    const result = await b.sync()
    t.match(result, { state: 'in_sync', renumbered: [{ case_id: id, from: 1, to: 2 }] })
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.tree(), b.tree())
    for (const clone of [a, b]) {
      const sessions = await must(clone, 'GET', `/cases/${id}/sessions`)
      t.strictSame(sessions.map(({ number }: { number: number }) => number).toSorted(), [1, 2])
      const found = await must(clone, 'GET', `/cases/${id}`)
      t.strictSame(found.problems, [])
      for (const session of sessions) t.strictSame(session.problems, [])
    }
    for (const [clone, number] of [
      [a, 1],
      [b, 2],
    ] as const) {
      const present = readdirSync(clone.path('cases', id, 'artifacts'))
      const sessions = await must(clone, 'GET', `/cases/${id}/sessions`)
      const own = sessions.find((each: { number: number }) => each.number === number)
      t.strictSame(present, [`${number}-test.log`])
      const names = own.candidates.map(({ artifact }: { artifact: string }) => artifact)
      t.strictSame(names, present, 'its candidates are its artifacts')
    }
  })
}

t.test('what cannot be merged is a conflict copy, and a problem until it is deleted', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await must(a, 'PUT', `/cases/${id}`, { title: 'By a' })
  await must(b, 'PUT', `/cases/${id}`, { title: 'By b' })
  await a.sync()
  const result = await b.sync()
  t.equal(result.state, 'conflicts')
  const [copy] = copiesIn(b)
  t.strictSame(result.copies, [{ case_id: id, file: `cases/${id}/case.md`, copy }])
  t.match(b.read(copy!), 'title: By a')
  t.match((await must(b, 'GET', `/cases/${id}`)).problems, [{ code: 'conflict_copy' }])
  t.equal((await b.sync()).state, 'in_sync', 'the next sync has no conflict')
  rmSync(b.path(copy!))
  await b.sync()
  await a.sync()
  t.strictSame(copiesIn(a), [])
  t.equal((await must(a, 'GET', `/cases/${id}`)).title, 'By b')
})

t.test('both made the same change', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Both' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await must(b, 'GET', `/cases/${id}`)
  for (const clone of [a, b]) clone.write('# Notes\n', 'cases', id, 'notes.md')
  await a.sync()
  t.match(await b.sync(), { state: 'in_sync', copies: [], sent: { commits: 2 } })
  for (const clone of [a, b]) await must(clone, 'DELETE', `/cases/${id}`)
  await b.sync()
  t.match(await a.sync(), { state: 'in_sync', copies: [] })
  t.match(await b.sync(), { state: 'in_sync' })
  t.equal(a.tree(), b.tree())
})

t.test('a case that one deleted and the other changed stays, and both are informed', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  for (const [index, [deletes, edits]] of [
    [a, b],
    [b, a],
  ].entries()) {
    await must(deletes!, 'DELETE', `/cases/${id}`)
    await must(edits!, 'PUT', `/cases/${id}`, { title: `Title ${index}` })
    const restored = [{ case_id: id }]
    t.match((await a.sync()).restored, [])
    t.match(await b.sync(), { state: 'in_sync', restored })
    const again = await a.sync()
    t.strictSame(again.restored, deletes === a ? restored : [])
    t.equal((await must(a, 'GET', `/cases/${id}`)).title, `Title ${index}`)
    t.equal(a.tree(), b.tree())
  }
})

t.test('a dry run says what would be done, and does nothing', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  t.match(await a.sync({ dry_run: true }), {
    state: 'in_sync',
    sent: { commits: 1, cases: [{ id }] },
  })
  t.throws(() => a.git('rev-parse', '--verify', 'HEAD'), 'nothing is committed')
  t.match(a.git('status', '--porcelain'), /^\?\? /m)
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  await must(b, 'PUT', `/cases/${id}`, { title: 'By b' })
  await b.sync()
  await must(a, 'PUT', `/cases/${id}`, { title: 'By a' })
  const before = a.git('rev-parse', 'HEAD')
  t.match(await a.sync({ dry_run: true }), { state: 'conflicts', copies: [{ case_id: id }] })
  t.equal(a.git('rev-parse', 'HEAD'), before)
  t.match(a.git('status', '--porcelain'), `M cases/${id}/case.md`)
})

t.test('it stops before it shares a broken file or a secret', async (t) => {
  const dir = makeOrigin(t)
  process.env.SYNC_TEST_TOKEN = 'aB3-very-secret-value'
  t.teardown(() => {
    delete process.env.SYNC_TEST_TOKEN
  })
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  await a.sync()
  const before = a.git('rev-parse', 'HEAD')
  const good = a.read('cases', id, 'case.md')
  a.write(`<<<<<<< ours\n${good}=======\n${good}>>>>>>> theirs\n`, 'cases', id, 'case.md')
  t.match(await a.sync(), { state: 'stopped', code: 'broken_file', reason: `cases/${id}/case.md` })
  a.write(good, 'cases', id, 'case.md')
  a.write('one\ntoken: aB3-very-secret-value\n', 'cases', id, 'notes.md')
  const found = await a.sync()
  t.match(found, { state: 'stopped', code: 'secret_found' })
  t.match(found.reason, `cases/${id}/notes.md:2 contains the value of SYNC_TEST_TOKEN`)
  t.equal(a.git('rev-parse', 'HEAD'), before)
  a.git('add', '.')
  a.git('commit', '-qm', 'by hand')
  a.write('one\n', 'cases', id, 'notes.md')
  t.match(
    await a.sync(),
    { code: 'secret_found', reason: /reset --soft origin\/main/ },
    'an older commit too',
  )
})

t.test('why it cannot be shared', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  await must(a, 'POST', '/cases', { title: 'Title' })
  await a.sync()
  a.git('checkout', '-q', '--detach')
  t.match(await a.sync(), { code: 'detached_head' })
  a.git('checkout', '-q', 'main')
  writeFileSync(join(a.memory, '.git', 'index.lock'), '')
  await must(a, 'GET', '/sync')
  t.match(await a.sync(), { state: 'in_sync' }, 'nothing to write')
  rmSync(join(a.memory, '.git', 'index.lock'))
  writeFileSync(
    join(dir, 'origin.git', 'hooks', 'pre-receive'),
    '#!/bin/sh\necho you may not >&2\nexit 1\n',
    { mode: 0o755 },
  )
  const more = await must(a, 'POST', '/cases', { title: 'More' })
  a.git('config', 'commit.gpgSign', 'true')
  a.git('config', 'gpg.program', 'no-such-program')
  t.match(await a.sync(), { code: 'commit_failed', reason: /commit.gpgSign.*no-such-program/ })
  a.git('config', '--unset', 'commit.gpgSign')
  git(a.path('cases', more.id), 'init', '--quiet', 'sub')
  t.match(await a.sync(), { code: 'commit_failed', reason: /does not have a commit checked out/ })
  rmSync(a.path('cases', more.id, 'sub'), { recursive: true })
  t.match(await a.sync(), {
    code: 'push_failed',
    reason: /pre-receive hook declined\)?: you may not\. .*stay here/s,
  })
  t.match(await must(a, 'GET', '/sync'), { ahead: 1, uncommitted: 0 })
  rmSync(join(dir, 'origin.git', 'hooks', 'pre-receive'))
  t.match(await a.sync(), { state: 'in_sync', committed: null, sent: { commits: 1 } })
  a.git('branch', '-q', 'local')
  a.git('branch', '-q', '-u', 'local')
  t.match(await a.sync(), { code: 'no_remote', reason: /upstream of the branch main is local/ })
  a.git('branch', '-q', '-u', 'origin/main')
  a.git('remote', 'set-url', 'origin', join(dir, 'nowhere.git'))
  t.match(await a.sync(), { code: 'fetch_failed' })
  a.git('remote', 'remove', 'origin')
  t.match(await a.sync(), { code: 'no_remote', reason: /remote add origin/ })
})

t.test('two clones that both began a record, and a remote that is something else', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const one = await must(a, 'POST', '/cases', { title: 'By a' })
  const two = await must(b, 'POST', '/cases', { title: 'By b' })
  await a.sync()
  t.match(await b.sync(), { state: 'in_sync', copies: [] })
  await a.sync()
  t.equal(a.tree(), b.tree())
  for (const { id } of [one, two]) t.match((await must(a, 'GET', `/cases/${id}`)).title, /^By /)
  b.git('checkout', '-q', '--orphan', 'code')
  b.git('rm', '-rfq', '--cached', '.')
  writeFileSync(join(b.memory, 'index.js'), 'code')
  b.git('add', 'index.js')
  b.git('commit', '-qm', 'code')
  b.git('push', '-qf', 'origin', 'code:main')
  t.match(await a.sync(), { code: 'unrelated_histories' })
})

t.test('what two people save meanwhile is not lost', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  await must(a, 'PUT', `/cases/${id}/memory/notes.md`, '# Notes\n')
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const words: string[] = []
  for (let round = 0; round < 4; round++) {
    const syncs = [a.sync(), b.sync()]
    for (const [index, clone] of [a, b].entries()) {
      const word = `${'ab'[index]}${round}`
      words.push(word)
      const item = { description: word, type: 'log', required: false }
      await must(clone, 'POST', `/cases/${id}/proof/checklist`, item)
    }
    for (const result of await Promise.all(syncs)) t.not(result.state, 'conflicts')
  }
  await a.sync()
  await b.sync()
  await a.sync()
  t.equal(a.tree(), b.tree())
  for (const word of words) t.match(a.read('cases', id, 'case.md'), `- [ ] ${word} (log)`)
  t.strictSame(copiesIn(a), [])
})

t.test('notes that several people append or begin are in the order of the pushes', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Notes' })
  a.write('# Notes\n\nfirst\n', 'cases', id, 'notes.md')
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const c = await openSyncedClone(t, { dir, name: 'c' })
  const hook = join(dir, 'origin.git', 'hooks', 'pre-receive')
  for (const [name, clone] of Object.entries({ a, b, c })) {
    clone.write(`# Notes\n\nfirst\n${name}\n`, 'cases', id, 'notes.md')
    clone.write(`# Ideas\n\n- ${name}\n`, 'cases', id, 'ideas.md')
    clone.write(`{"by": "${name}"}\n`, 'cases', id, 'by.json')
  }
  t.match(await a.sync(), { state: 'in_sync' })
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o755 })
  t.match(await b.sync(), { code: 'push_failed' }, 'it has merged, but not pushed')
  rmSync(hook)
  const copies = [{ file: `cases/${id}/by.json` }]
  t.match(await c.sync(), { state: 'conflicts', copies }, 'data is not joined')
  const result = await b.sync()
  t.strictSame(new Set(result.copies.map(({ file }) => file)), new Set([copies[0]!.file]))
  await a.sync()
  await c.sync()
  for (const clone of [a, b, c]) {
    t.equal(clone.read('cases', id, 'notes.md'), '# Notes\n\nfirst\na\nc\nb\n')
    t.equal(clone.read('cases', id, 'ideas.md'), '# Ideas\n\n- a\n- c\n- b\n')
  }
})

t.test('it waits for a session that runs here and would get another number', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Both' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const waiting = await newSession(a, id)
  await reaches(a, waiting, 'plan_ready')
  await a.sync()
  await must(b, 'PUT', `/cases/${id}/memory/runbook.md`, step('sleep 60', 'sh run id=long'))
  const ref = await newSession(b, id)
  await reaches(b, ref, 'plan_ready')
  await must(b, 'POST', `${ref.path}/approve`, {})
  await reaches(b, ref, 'executing')
  const result = await b.sync()
  t.match(result, { code: 'session_running', reason: `Session 1 of case ${id} runs here` })
  await must(b, 'POST', `${ref.path}/abandon`, {})
  await reaches(b, ref, 'abandoned')
  t.match(await b.sync(), {
    state: 'in_sync',
    renumbered: [{ session_id: ref.id, from: 1, to: 2 }],
  })
  t.equal((await must(b, 'GET', ref.path)).number, 2)
})
