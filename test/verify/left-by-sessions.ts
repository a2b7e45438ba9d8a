// A commit's files are compared with what its sessions left, not by their names alone.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { planned, step } from '../fixtures/session-client.ts'
import { openRepository, proved, provedWork } from '../fixtures/verify/claimed-work.ts'
import { age, commitWith, message, withHook } from '../fixtures/verify/hooked-commits.ts'

const LAST = { range: 'HEAD~1..', requireTrailer: true }
const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('')

t.test('a file that is other than its session left it names no session', async (t) => {
  const { service, repo } = await openRepository(t)
  age(repo)
  const work = await provedWork(service, 'price.js')
  withHook(repo)
  const file = join(repo.root, 'price.js')
  const left = readFileSync(file)
  appendFileSync(file, 'not approved\n')
  repo.git('add', 'price.js')
  commitWith(repo, 'true', '--message', 'Sneak it in')
  t.equal(message(repo), 'Sneak it in\n\n')
  t.match(await repo.verify(LAST), { ok: false, commits: [{ failures: [{ code: 'no_claim' }] }] })

  await t.test('also with a copied trailer', async (t) => {
    repo.git('commit', '--quiet', '--amend', '--message', `Sneak it in\n\n${work.trailer}`)
    const message = 'Not as session 1 left it: price.js.'
    const failures = [{ code: 'not_from_session', message }]
    t.match(await repo.verify(LAST), { ok: false, commits: [{ failures }] })
    t.match(await repo.verify({ range: LAST.range }), { ok: true, commits: [{ notes: [message] }] })
  })

  await t.test(
    'what the session left does, once, and the rest of the commit is named',
    async (t) => {
      repo.git('reset', '--quiet', '--hard', 'HEAD~1')
      writeFileSync(file, left)
      writeFileSync(join(repo.root, 'mine.js'), 'mine\n')
      repo.git('add', 'price.js', 'mine.js')
      commitWith(repo, 'true', '--message', 'Both')
      t.match(message(repo), work.trailer)
      const failures = [{ code: 'not_from_session', message: /changed mine\.js\.$/ }]
      t.match(await repo.verify(LAST), { ok: false, commits: [{ failures }] })

      appendFileSync(file, 'later\n')
      commitWith(repo, 'true', '--all', '--message', 'Later')
      writeFileSync(file, left)
      commitWith(repo, 'true', '--all', '--message', 'Back')
      t.equal(message(repo), 'Back\n\n', 'what it left is committed already')
    },
  )
})

t.test('deleted, renamed and staged files, and those of a folder, are compared too', async (t) => {
  const files = { sub: { 'gone.js': 'x\n', 'old.js': LINES, 'a.js': LINES, 'b.js': '1\n' } }
  const { service, repo } = await openRepository(t, files as unknown as Record<string, string>)
  age(repo)
  const script = [
    'rm gone.js',
    'mv old.js new.js',
    'echo 2 > b.js',
    `sed -i -e 's/line 3$/first/' -e 's/line 33$/second/' a.js`,
  ].join('\n')
  const test = step(`echo 'ok 1'; echo 1..1`, 'sh run id=test proof=tap')
  const ref = await planned(service, {
    runbook: `${step(script, 'sh run id=change')}\n${test}`,
    fields: { workdir: 'sub' },
  })
  const work = await proved(service, ref)
  withHook(repo)

  await t.test('of a file, a part that is staged is not what the session left', async (t) => {
    const whole = readFileSync(join(repo.root, 'sub/a.js'), 'utf8')
    writeFileSync(join(repo.root, 'sub/a.js'), whole.replace('second', 'line 33'))
    repo.git('add', 'sub/a.js')
    writeFileSync(join(repo.root, 'sub/a.js'), whole)
    commitWith(repo, 'true', '--message', 'A part')
    t.equal(message(repo), 'A part\n\n')
  })

  await t.test('the rest is', async (t) => {
    repo.git('add', '--all', '--', ':!memory')
    commitWith(repo, 'true', '--message', 'The rest')
    t.match(message(repo), work.trailer)
    t.match(await repo.verify(LAST), { ok: true, commits: [{ notes: [], failures: [] }] })
    rmSync(join(repo.root, 'sub/new.js'))
    commitWith(repo, 'true', '--all', '--message', 'Remove')
    t.equal(message(repo), 'Remove\n\n')
  })
})

t.test('a rebase keeps what a session changed in a file, not the whole file', async (t) => {
  const { service, repo } = await openRepository(t, { 'a.js': LINES })
  const script = `sed -i 's/line 3$/changed/' a.js`
  const test = step(`echo 'ok 1'; echo 1..1`, 'sh run id=test proof=tap')
  const ref = await planned(service, { runbook: `${step(script, 'sh run id=change')}\n${test}` })
  const { trailer } = await proved(service, ref)
  repo.git('add', 'a.js')
  repo.git('commit', '--quiet', '--message', `Change\n\n${trailer}`)
  repo.git('switch', '--quiet', '--create', 'other', 'HEAD~1')
  writeFileSync(join(repo.root, 'a.js'), LINES.replace('line 30', 'theirs'))
  repo.git('commit', '--quiet', '--all', '--message', 'Theirs')
  repo.git('switch', '--quiet', 'main')
  repo.git('rebase', '--quiet', 'other')
  t.match(await repo.verify(LAST), { ok: true })
  repo.edit(join(repo.root, 'a.js'), 'changed', 'changed more')
  repo.git('commit', '--quiet', '--all', '--amend', '--no-edit')
  t.match(await repo.verify(LAST), { commits: [{ failures: [{ code: 'not_from_session' }] }] })
})

t.test('line ends that git converts are no difference', async (t) => {
  const { service, repo } = await openRepository(t)
  repo.git('config', 'core.autocrlf', 'input')
  age(repo)
  const test = step(`echo 'ok 1'; echo 1..1`, 'sh run id=test proof=tap')
  const change = step(`printf 'a\\r\\nb\\r\\n' > dos.txt`, 'sh run id=change')
  const ref = await planned(service, { runbook: `${change}\n${test}` })
  const work = await proved(service, ref)
  withHook(repo)
  repo.git('add', 'dos.txt')
  t.equal(repo.git('cat-file', 'blob', ':dos.txt'), 'a\nb\n')
  commitWith(repo, 'true', '--message', 'DOS')
  t.match(message(repo), work.trailer)
  t.match(await repo.verify(LAST), { ok: true })
})
