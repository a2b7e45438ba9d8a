import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { git } from '../fixtures/git-repository.ts'
import { type ClaimedRepository, repositoryAt } from '../fixtures/verify/claimed-work.ts'

const CASE = 'memory/cases/ce7b2a45-e46d-4e89-a0e7-e36f34e00761'

const made = makeBranched(join(t.testdir({}), 'repo'))
let copies = 0

/** A workspace with a file of twenty lines, whose branches `main` and `topic` changed different lines of it. */
function branched(): ClaimedRepository {
  return made.copy(`copy-${++copies}`)
}

function makeBranched(root: string): ClaimedRepository {
  const repo = repositoryAt(root)
  mkdirSync(repo.root)
  repo.git('init', '--quiet', '--initial-branch', 'main')
  write(repo, 'casefile.md', '# Project\n')
  write(repo, 'a.txt', lines())
  repo.commit('The beginning')
  repo.git('switch', '--quiet', '--create', 'topic')
  write(repo, 'a.txt', lines({ 2: 'two' }))
  write(repo, 't.txt', 'topic\n')
  repo.commit('Topic')
  repo.git('switch', '--quiet', 'main')
  write(repo, 'a.txt', lines({ 18: 'eighteen' }))
  repo.commit('Main')
  return repo
}

function lines(changed: Record<number, string> = {}): string {
  return Array.from({ length: 20 }, (_, index) => `${changed[index] ?? index}\n`).join('')
}

function write(repo: ClaimedRepository, name: string, text: string): void {
  const path = join(repo.root, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function merge(repo: ClaimedRepository, ...branches: string[]): void {
  repo.git('merge', '--quiet', '--no-ff', '--no-commit', ...branches)
}

const LAST = 'HEAD^!'

t.test('a merge needs no trailer if it changes nothing itself', async (t) => {
  const required = { range: LAST, requireTrailer: true }
  await t.test('that git made', async (t) => {
    const repo = branched()
    merge(repo, 'topic')
    repo.commit('Merge')
    t.match(await repo.verify(required), { ok: true, commits: [{ result: 'exempt', notes: [] }] })
  })
  const own: Record<string, (repo: ClaimedRepository) => void> = {
    'evil.js': (repo) => write(repo, 'evil.js', 'evil\n'),
    'a.txt': (repo) => write(repo, 'a.txt', lines({ 2: 'two', 10: 'evil', 18: 'eighteen' })),
    't.txt': (repo) => rmSync(join(repo.root, 't.txt')),
    'casefile.md': (repo) => write(repo, 'casefile.md', '# Evil\n'),
  }
  for (const [name, change] of Object.entries(own)) {
    await t.test(`not one that changes ${name}`, async (t) => {
      const repo = branched()
      merge(repo, 'topic')
      change(repo)
      repo.commit('Merge')
      t.match(await repo.verify(required), {
        ok: false,
        commits: [{ failures: [{ code: 'no_claim', message: `changes ${name} itself` }] }],
      })
      const { ok, commits } = await repo.verify({ range: LAST })
      t.equal(ok, true)
      t.match(commits, [{ result: 'no_claim', notes: [`changes ${name} itself`] }])
    })
  }
  await t.test('not one that drops what a parent brought', async (t) => {
    const repo = branched()
    merge(repo, 'topic', '--strategy=ours')
    repo.commit('Merge')
    t.match(await repo.verify(required), {
      ok: false,
      commits: [{ failures: [{ message: 'changes a.txt, t.txt itself' }] }],
    })
  })
  await t.test('not one that resolves a conflict', async (t) => {
    const repo = branched()
    write(repo, 'a.txt', lines({ 2: 'zwei' }))
    repo.commit('In the way')
    t.throws(() => merge(repo, 'topic'))
    write(repo, 'a.txt', lines({ 2: 'zwei, two' }))
    repo.commit('Merge')
    t.match(await repo.verify(required), {
      ok: false,
      commits: [{ failures: [{ message: 'changes a.txt itself' }] }],
    })
  })
  await t.test('but one that resolves a conflict in the record', async (t) => {
    const repo = branched()
    write(repo, `${CASE}/notes.md`, 'one\n')
    repo.commit('Note')
    repo.git('switch', '--quiet', 'topic')
    write(repo, `${CASE}/notes.md`, 'two\n')
    repo.commit('Another')
    repo.git('switch', '--quiet', 'main')
    t.throws(() => merge(repo, 'topic'))
    write(repo, `${CASE}/notes.md`, 'one\ntwo\n')
    repo.commit('Merge')
    t.match(await repo.verify(required), { ok: true, commits: [{ result: 'exempt' }] })
  })
  await t.test('of three branches', async (t) => {
    const repo = branched()
    repo.git('switch', '--quiet', '--create', 'third', 'main~1')
    write(repo, 'third.txt', '3\n')
    repo.commit('Third')
    repo.git('switch', '--quiet', 'main')
    merge(repo, 'topic', 'third')
    repo.commit('Merge')
    t.equal(git(repo.root, 'rev-list', '--parents', '-1', 'HEAD').split(' ').length, 4)
    // a.txt differs from each parent there, and git does not say what it would have made of it
    t.match(await repo.verify({ range: LAST }), { commits: [{ notes: ['changes a.txt itself'] }] })
    repo.git('reset', '--quiet', '--hard', 'HEAD~1')
    repo.git('switch', '--quiet', '--create', 'fourth', 'main~1')
    write(repo, 'fourth.txt', '4\n')
    repo.commit('Fourth')
    merge(repo, 'main', 'third')
    repo.commit('Merge')
    t.match(await repo.verify(required), { ok: true, commits: [{ result: 'exempt' }] })
    write(repo, 'evil.js', 'evil\n')
    repo.git('add', '--all')
    repo.git('commit', '--quiet', '--amend', '--no-edit')
    t.match(await repo.verify(required), {
      ok: false,
      commits: [{ failures: [{ message: 'changes evil.js itself' }] }],
    })
  })
})

t.test('a commit needs no trailer if it changes nothing but the record', async (t) => {
  const ID = '11111111-2222-4333-8444-555555555555'
  const record = [
    'memory/.gitignore',
    'memory/.gitattributes',
    'memory/index.md',
    `${CASE}/case.md`,
    `${CASE}/history.md`,
    `${CASE}/runbook.md`,
    `${CASE}/notes of Ada.md`,
    `${CASE}/case.conflict-20261127T095400.000Z.md`,
    `${CASE}/sessions/${ID}.conflict-20261127T095400.000Z.approval`,
    `${CASE}/sessions/${ID}.approval.conflict-20261127T095400.000Z-2.sig`,
    `${CASE}/sessions/12.md`,
    `${CASE}/sessions/${ID}.approval`,
    `${CASE}/sessions/${ID}.approval.sig`,
    `${CASE}/proof/${ID}.md`,
    `${CASE}/artifacts/${ID}.png`,
  ]
  const code = [
    'casefile.md',
    'allowed_signers',
    'memory.js',
    'memory/evil.js',
    'memory/README.md.js',
    'memory/cases/evil.js',
    'memory/cases/package.json',
    `${CASE}/evil.js`,
    `${CASE}/.evil.md`,
    `${CASE}/proof/evil.sh`,
    `${CASE}/sessions/evil.js`,
    `${CASE}/artifacts/evil.js`,
    `${CASE}/artifacts/${ID}.js`,
    `${CASE}/artifacts/1-test.tap`,
    `${CASE}/more/notes.md`,
    'memory/cases/other/notes.md',
  ]
  const repo = branched()
  for (const file of [...record, ...code]) {
    write(repo, file, '1\n')
    repo.git('add', '--force', file)
    repo.git('commit', '--quiet', '--message', file)
  }
  const { commits } = await repo.verify({ range: `HEAD~${record.length + code.length}..` })
  const results = (result: string) =>
    commits.flatMap((commit) => (commit.result === result ? commit.subject : [])).reverse()
  t.strictSame(results('exempt'), record)
  t.strictSame(results('no_claim'), code)
  repo.git('rm', '--quiet', '-r', 'memory/cases/package.json', `${CASE}/case.md`)
  repo.commit('Remove both')
  t.match(await repo.verify({ range: LAST }), { commits: [{ result: 'no_claim' }] })
})
