// A commit's files are compared with what its sessions left, not by their names alone.
import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isOfOthers } from '../../src/verify/commit-message.ts'
import { isResult } from '../../src/verify/same-file.ts'
import { trailer } from '../../src/verify/trailer-command.ts'
import { git, repository } from '../fixtures/git-repository.ts'
import { planned, step } from '../fixtures/session-client.ts'
import {
  type ClaimedRepository,
  openRepository,
  proved,
  provedWork,
  repeatWork,
} from '../fixtures/verify/claimed-work.ts'
import { age } from '../fixtures/verify/hooked-commits.ts'

const LAST = { range: 'HEAD~1..', requireTrailer: true }
const LINES = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('')

/** What `casefile trailer` prints and warns of. */
async function trailers({ root }: ClaimedRepository, message?: string) {
  const said = { printed: [] as string[], warned: [] as string[] }
  const code = await trailer(
    { root, memoryRoot: undefined, message },
    {},
    {
      print: (text) => said.printed.push(text.trim()),
      warn: (line) => said.warned.push(line),
    },
  )
  return { ...said, code }
}

t.test('what is staged names the sessions that left it so', async (t) => {
  const { service, repo } = await openRepository(t)
  age(repo)
  const price = await provedWork(service, 'price.js')
  await service.close()
  const tax = await repeatWork(repo, price, ['price.js', 'tax.js'])
  const none = { printed: [], warned: [], code: 0 }
  t.strictSame(await trailers(repo), none, 'nothing is staged')
  repo.git('add', 'memory')
  t.strictSame(await trailers(repo), none, 'the record alone names nothing')

  repo.git('add', 'price.js')
  t.strictSame(await trailers(repo), { ...none, printed: [price.trailer] }, 'of two, the one')
  repo.git('add', 'tax.js')
  writeFileSync(join(repo.root, 'mine.js'), 'mine\n')
  repo.git('add', 'mine.js')
  const both = await trailers(repo)
  t.strictSame(both.printed.sort(), [price.trailer, tax.trailer].sort())
  t.strictSame(both.warned, ['not from a session: mine.js'])
  appendFileSync(join(repo.root, 'price.js'), 'more\n')
  repo.git('add', 'price.js')
  const changed = await trailers(repo)
  t.strictSame(changed.printed, [tax.trailer])
  t.match(changed.warned, [
    'price.js is not as session 1 of "Change price.js" left it',
    'not from a session: mine.js',
  ])

  const copy = repo.copy('copied')
  copy.git('commit', '--quiet', '--message', `Sneak it in\n\n${price.trailer}\n${tax.trailer}`)
  const message = 'Not as session 1 left it: price.js. No session of this commit changed mine.js.'
  const failures = [{ code: 'not_from_session', message }]
  t.match(await copy.verify(LAST), { ok: false, commits: [{ failures }] })
  t.match(await copy.verify({ range: LAST.range }), { ok: true, commits: [{ notes: [message] }] })

  const file = join(repo.root, '.git/message')
  writeFileSync(file, 'Tax\n\nIt is due.\n# a comment\n')
  t.match(await trailers(repo, file), {
    printed: [],
    warned: [/^this commit names session 1 of "Change tax/],
  })
  const once = readFileSync(file, 'utf8')
  t.match(once, `It is due.\n\n${tax.trailer}\n`)
  await trailers(repo, file)
  t.equal(readFileSync(file, 'utf8'), once, 'once')
  for (const text of [
    '\n# only a comment\n',
    '# ------------------------ >8 ------------------------\ndiff\n',
  ]) {
    writeFileSync(file, text)
    await trailers(repo, file)
    t.equal(readFileSync(file, 'utf8'), text, 'a message without words stays empty')
  }
  for (const name of [
    'MERGE_HEAD',
    'CHERRY_PICK_HEAD',
    'REVERT_HEAD',
    'SQUASH_MSG',
    'rebase-merge',
  ]) {
    writeFileSync(join(repo.root, '.git', name), 'x')
    t.equal(await isOfOthers({ cwd: repo.root }), true, name)
    if (name === 'MERGE_HEAD') {
      writeFileSync(file, 'Others\n')
      await trailers(repo, file)
      t.equal(readFileSync(file, 'utf8'), 'Others\n', 'it is made of others')
    }
    rmSync(join(repo.root, '.git', name))
  }
  repo.git('commit', '--quiet', '--message', 'All')
  appendFileSync(join(repo.root, 'tax.js'), 'later\n')
  repo.git('commit', '--quiet', '--all', '--message', 'Later')
  writeFileSync(join(repo.root, 'tax.js'), 'changed by a session\n')
  repo.git('add', 'tax.js')
  t.strictSame(await trailers(repo), none, 'what is committed already is not named again')
  rmSync(join(repo.root, '.git'), { recursive: true })
  t.match(await trailers(repo, file), { code: 0, warned: [/^the commit names no session: /] })
  t.equal((await trailers(repo)).code, 1, 'but a hook stops no commit')
})

t.test('deleted, renamed and staged files, and those of a folder, are compared too', async (t) => {
  const changed = { 'a.js': LINES, 'b.js': '1\n', 'c.js': LINES }
  const files = { sub: { 'gone.js': 'x\n', 'old.js': LINES, ...changed } }
  const { service, repo } = await openRepository(t, files as unknown as Record<string, string>)
  repo.git('config', 'core.autocrlf', 'input')
  age(repo)
  const script = [
    'rm gone.js',
    'mv old.js new.js',
    'echo 2 > b.js',
    `sed -i -e 's/line 3$/first/' -e 's/line 33$/second/' a.js`,
    `sed -i 's/line 3$/third/' c.js`,
    `printf 'a\\r\\nb\\r\\n' > dos.txt`,
  ].join('\n')
  const test = step(`echo 'ok 1'; echo 1..1`, 'sh run id=test proof=tap')
  const ref = await planned(service, {
    runbook: `${step(script, 'sh run id=change')}\n${test}`,
    fields: { workdir: 'sub' },
  })
  const work = await proved(service, ref)
  await service.close()

  await t.test('of a file, a part that is staged is not what the session left', async (t) => {
    const whole = readFileSync(join(repo.root, 'sub/a.js'), 'utf8')
    writeFileSync(join(repo.root, 'sub/a.js'), whole.replace('second', 'line 33'))
    repo.git('add', 'sub/a.js')
    writeFileSync(join(repo.root, 'sub/a.js'), whole)
    t.match(await trailers(repo), { printed: [], warned: [/sub\/a\.js is not as session 1 /] })
    repo.git('commit', '--quiet', '--message', 'A part')
  })

  await t.test('the rest is', async (t) => {
    repo.git('add', '--all', '--', ':!memory')
    t.equal(repo.git('cat-file', 'blob', ':sub/dos.txt'), 'a\nb\n', 'git converts line ends')
    const none = { printed: [work.trailer], warned: [], code: 0 }
    t.strictSame(await trailers(repo), none, 'which is no difference')
    repo.git('commit', '--quiet', '--message', `The rest\n\n${work.trailer}`)
    t.match(await repo.verify(LAST), { ok: true, commits: [{ notes: [], failures: [] }] })
    rmSync(join(repo.root, 'sub/new.js'))
    repo.git('add', '--all', '--', ':!memory')
    t.match(await trailers(repo), { printed: [] })
    repo.git('reset', '--quiet', '--hard')
  })

  await t.test('a rebase keeps what a session changed in a file, not the whole file', async (t) => {
    repo.git('switch', '--quiet', '--create', 'other', 'HEAD~1')
    repo.edit(join(repo.root, 'sub/c.js'), 'line 30', 'theirs')
    repo.git('commit', '--quiet', '--all', '--message', 'Theirs')
    repo.git('switch', '--quiet', 'main')
    repo.git('rebase', '--quiet', 'other')
    t.match(await repo.verify(LAST), { ok: true, commits: [{ result: 'passed' }] })
    repo.edit(join(repo.root, 'sub/c.js'), 'third', 'third, and more')
    repo.git('commit', '--quiet', '--all', '--amend', '--no-edit')
    t.match(await repo.verify(LAST), { commits: [{ failures: [{ code: 'not_from_session' }] }] })
  })
})

t.test('a file that git stores by a pointer counts as what the session left', async (t) => {
  const cwd = repository(t, {
    pointer: 'version https://git-lfs.github.com/spec/v1\n',
    other: 'x\n',
  })
  const result = { object: '0'.repeat(40), change: null }
  const isLeft = (file: string) =>
    isResult(git(cwd, 'rev-parse', `:${file}`).trim(), result, { cwd })
  t.equal(await isLeft('pointer'), true)
  t.equal(await isLeft('other'), false)
})
