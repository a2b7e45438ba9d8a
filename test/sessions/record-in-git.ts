// In mounts a run cannot write the record, but git can bring what it commits. That counts only once it is confirmed.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { broughtSince, gitMoment } from '../../src/git/brought-files.ts'
import { gitNamesOf } from '../../src/git/contents.ts'
import { contentHash, newProofText } from '../../src/markdown/proof-file.ts'
import { commit, env, git, repository, write } from '../fixtures/git-repository.ts'
import { NOW, PROOF } from '../fixtures/records.ts'
import { must, planned, ran, step } from '../fixtures/session-client.ts'
import { until } from '../fixtures/session-record.ts'
import { smallDisk } from '../fixtures/small-disk.ts'
import { changeState, PUT_RUN, rowsOnDisk } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const FORGED = '1b0f9d1e-3b52-4a53-9b57-0c4c4f1d2a10'
const NOTE = { type: 'operator-note', content: 'Seen.' }
const WHO = '-c user.name=a -c user.email=a@b.c'
const [EVIL] = gitNamesOf('evil\n')

interface Scene {
  service: TestService
  id: string
}

async function scene(t: Test): Promise<Scene> {
  const service = await openTestService(t, {
    mount: true,
    files: { 'a.txt': 'one\n', memory: { '.gitignore': 'latest.md\n' } },
  })
  git(service.root, 'init', '-q', '-b', 'main')
  git(service.root, 'add', '.')
  git(service.root, 'commit', '-qm', 'first')
  const { id } = await service.newCase({ title: 'Forged' })
  await must(service, 'POST', `/cases/${id}/proof/checklist`, {
    description: 'Tests pass',
    type: 'operator-note',
    required: true,
  })
  git(service.root, 'add', '.')
  git(service.root, 'commit', '-qm', 'case')
  return { service, id }
}

/** Commits a proof that says it was verified, by plumbing; the file is not on disk. */
function forging({ id }: Scene): string {
  const content = 'all good\n'
  const proof = { ...PROOF, id: FORGED, case_id: id, session_id: null, type: 'operator-note' }
  const verified = { verified: true, verified_at: NOW, sha256: contentHash(content) }
  const text = newProofText({ ...proof, ...verified }, content)
  const blob = `echo ${Buffer.from(text).toString('base64')} | base64 -d | git hash-object -w --stdin`
  return `git update-index --add --cacheinfo 100644,$(${blob}),memory/cases/${id}/proof/${FORGED}.md\ngit ${WHO} commit -qm forged`
}

/** Runs it for a case of its own. */
async function run(t: Test, { service }: Scene, script: string, fields = {}) {
  const { ref, session } = await ran(service, step(script), { fields })
  t.equal(session.state, 'complete', session.output)
  const file = readFileSync(service.file(ref.case_id, `sessions/${session.number}.md`), 'utf8')
  return { ref, session, file, isWalled: /guard=mount/.test(file) }
}

const proofPath = ({ service, id }: Scene) => service.file(id, 'proof', `${FORGED}.md`)
const gate = async ({ service, id }: Scene) =>
  (await service.request('PUT', `/cases/${id}/state`, { state: 'RESOLVED' })).status

/** Each makes git show the text `evil` as a file below `memory`; `evil` is the blob, `commit` one with it that no ref names. */
const HIDDEN: [name: string, script: string][] = [
  ['a remote branch', 'git update-ref refs/remotes/origin/main $commit'],
  [
    'the reflog',
    'now=$(git rev-parse HEAD); git update-ref -m x HEAD $commit; git update-ref -m y HEAD $now',
  ],
  ['a stash', 'git update-ref --create-reflog -m x refs/stash $commit'],
  ['the index', 'git update-index --add --cacheinfo 100644,$evil,memory/staged.md'],
  ['an unfinished rebase', 'echo $commit > .git/rebase-merge/orig-head'],
  ['FETCH_HEAD', 'echo "$commit\t\tbranch x" > .git/FETCH_HEAD'],
  ['CHERRY_PICK_HEAD', 'echo $commit > .git/CHERRY_PICK_HEAD'],
  ['a pseudo ref of any name', 'echo $commit > .git/any'],
  ['a link', 'echo $commit > linked; ln -s ../linked .git/linked'],
  ['a tree as pseudo ref', 'echo $(git rev-parse $commit:) > .git/AUTO_MERGE'],
  ['an autostash', 'echo $commit > .git/rebase-merge/autostash'],
  [
    'what a rebase still picks',
    'echo "pick $(echo $commit | cut -c-12) x" > .git/rebase-merge/git-rebase-todo',
  ],
  [
    'a tag of a tag of a tree',
    'git $who tag -am x one $(git rev-parse $commit:); git $who tag -am x two one; git tag -d one',
  ],
  [
    'a conflict that is resolved',
    'git rm -q --cached memory/a.md; printf "100644 $evil 2\tmemory/a.md\n100644 $evil 3\tmemory/a.md\n" | git update-index --index-info; git add memory/a.md',
  ],
  ['a conflict', 'printf "100644 $evil 3\tmemory/b.md\n" | git update-index --index-info'],
]

/** The same for what git shows in place of what it has: `root` is the oldest commit, `HEAD~` the next one. */
const REPLACED: [name: string, script: string][] = [
  ['a replaced file of an old commit', 'git replace $(git rev-parse HEAD~:memory/a.md) $evil'],
  [
    'a file that is replaced twice',
    'git replace $(git rev-parse HEAD~:memory/b.md) $(git rev-parse HEAD:other); git replace $(git rev-parse HEAD:other) $evil',
  ],
  ['a replaced folder', 'git replace $(git rev-parse HEAD:memory) $(git rev-parse $commit:memory)'],
  ['a graft', 'echo $(git rev-parse side) $commit > .git/info/grafts'],
  ['a replaced commit', 'git replace $root $commit'],
]

/** A repository with commits, in which all the scripts run, each with an evil text of its own. */
function severalCommits(t: Test, scripts: readonly string[]) {
  const repo = repository(t, { 'memory/a.md': '0\n', other: 'other\n' })
  for (const text of ['one', 'two']) {
    write(repo, { 'memory/a.md': `${text}\n`, 'memory/b.md': `b ${text}\n` })
    commit(repo)
  }
  git(repo, 'branch', 'side', git(repo, 'commit-tree', '-p', 'HEAD~', '-m', 's', 'HEAD~:').trim())
  const hidden = scripts.map(
    (script, at) => `evil=$(echo evil ${at} | git hash-object -w --stdin)
    commit=$(export GIT_INDEX_FILE=.git/tried; git update-index --add --cacheinfo 100644,$evil,memory/a.md; git $who commit-tree -m x $(git write-tree))
    rm .git/tried; ${script}`,
  )
  const all = `set -e; who='${WHO}'; root=$(git rev-parse HEAD~2); mkdir .git/rebase-merge\n${hidden.join('\n')}`
  return {
    folder: join(repo, 'memory'),
    run: () => execFileSync('sh', ['-c', all], { cwd: repo, env }),
  }
}

for (const rows of [HIDDEN, REPLACED]) {
  t.test('what git could bring is found', async (t) => {
    const { folder, run } = severalCommits(
      t,
      rows.map(([, script]) => script),
    )
    const before = await gitMoment(folder, null)
    run()
    const found = new Set((await broughtSince(folder, before)).map(({ object }) => object))
    for (const [at, [name]] of rows.entries()) t.ok(found.has(gitNamesOf(`evil ${at}\n`)[0]!), name)
    t.strictSame(
      await broughtSince(folder, await gitMoment(folder, null)),
      [],
      'the next run did not',
    )
  })
}

t.test('files that look like an entry of git, and commits that are not there yet', async (t) => {
  const { folder, run } = severalCommits(t, [`touch "memory/: a b ${EVIL}"; git add .`])
  const before = await gitMoment(folder, null)
  run()
  t.match(await broughtSince(folder, before), [{ path: `: a b ${EVIL}` }])
  const fresh = repository(t)
  const empty = await gitMoment(fresh, null)
  write(fresh, { a: 'evil\n' })
  git(fresh, 'add', '.')
  t.strictSame(await broughtSince(fresh, empty), [{ path: 'a', object: EVIL }])
  write(fresh, { '.git/index': 'broken' })
  await t.rejects(broughtSince(fresh, empty), /index/)
})

t.test('a record that is a mount of its own: git looks for no repository around it', async (t) => {
  const disk = smallDisk(t)
  if (!disk) return
  const around = realpathSync(join(disk.folder, '..'))
  git(around, 'init', '-q')
  t.match(await gitMoment(disk.folder, around), { isRepository: false })
})

t.test('what a run commits does not count until it is confirmed', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  const before = await planned(service, { runbook: step('true') })
  git(service.root, 'add', '.')
  git(service.root, 'commit', '-qm', 'planned')
  const began = git(service.root, 'rev-parse', 'HEAD').trim()
  const [own, other] = [`memory/cases/${before.case_id}`, `memory/cases/${id}`]
  const put = (file: string, change: string, source = file) =>
    `git update-index --add --cacheinfo 100644,$(${change} ${source} | git hash-object -w --stdin),${file}`
  const time = '2026-11-24T00:00:00.000Z'
  const done = `sed -e 's/^state: plan_ready/state: complete/' -e '$ a 8. ${time} session_state_changed old_state=plan_ready new_state=complete'`
  const { ref, isWalled, session, file } = await run(
    t,
    at,
    [
      forging(at),
      'git branch other; git reset -q HEAD~',
      put(`${other}/case.md`, "sed -e '/Tests pass/d' -e 's/^state: OPEN/state: WATCHLIST/'"),
      put(`${own}/sessions/1.md`, done),
      put(
        `${other}/sessions/7.md`,
        `${done} -e 's/${before.id}/${FORGED}/' -e 's/${before.case_id}/${id}/' -e 's/^number: 1/number: 7/'`,
        `${own}/sessions/1.md`,
      ),
      `git ${WHO} commit -qm forged`,
    ].join('\n'),
    { isolation: 'worktree' },
  )
  if (!isWalled) return t.pass('skipped: there are no mounts here')
  t.notOk(existsSync(proofPath(at)))
  t.match(file, `file=proof/${FORGED}.md what=verification`)
  t.match(session.output, 'They are ignored until you confirm them: ')

  // a service that died before it ended the run does not record them twice
  await service.close()
  const { stateDir } = service
  const baselines = () =>
    rowsOnDisk<{ baseline: string }>(stateDir, 'SELECT * FROM baselines ORDER BY case_id')
  const recorded = baselines()
  const start = { at: 0, isRepository: true, commits: [began], indexed: [], others: [] }
  const record = { session_id: ref.id, ...ref, number: session.number, mark: 'x' }
  await changeState(stateDir, PUT_RUN, ref.id, JSON.stringify(record))
  await changeState(stateDir, 'INSERT INTO run_starts VALUES (?, ?)', ref.id, JSON.stringify(start))
  await service.restart()
  t.equal(recorded.length, 2)
  t.strictSame(baselines(), recorded)
  t.strictSame(rowsOnDisk(stateDir, 'SELECT * FROM run_starts'), [])

  const branch = /branch=(\S+)/.exec(file)![1]!.replaceAll('"', '')
  for (const each of [branch, `${branch}-other`])
    git(service.root, 'merge', '-q', '--no-edit', each)
  t.ok(existsSync(proofPath(at)), 'git brought it')
  const found = await must(service, 'GET', `/cases/${id}`)
  t.equal(found.state, 'OPEN')
  const problems = found.problems.map(({ code, file, message }: Record<string, string>) => {
    return `${code} ${file} ${message!.includes(`by session 1 of case ${session.case_id} in git`)}`
  })
  t.strictSame(
    problems.sort(),
    ['case.md', 'case.md', `proof/${FORGED}.md`, 'sessions/7.md'].map(
      (file) => `changed_during_run ${file} true`,
    ),
  )
  t.equal((await must(service, 'GET', before.path)).state, 'plan_ready', 'nor do its lines')
  t.equal(await gate(at), 422)

  await must(service, 'PUT', `/cases/${id}/proof/${FORGED}/verify`)
  await must(service, 'PUT', `/cases/${id}/state`, { state: 'WATCHLIST' })
  const text = readFileSync(service.file(id, 'case.md'), 'utf8')
  await must(service, 'PUT', `/cases/${id}/memory/case.md`, text)
  t.match(await must(service, 'GET', `/cases/${id}`), {
    state: 'WATCHLIST',
    problems: [{ file: 'sessions/7.md' }],
  })
  t.equal(await gate(at), 200, 'the operator confirmed it')

  const whole = await run(t, at, `git add -A; git ${WHO} commit -qm all`)
  t.notMatch(whole.file, 'changed_during_run', 'the record as it is')

  const [started, go] = ['started', 'go'].map((name) => join(service.root, name))
  const slow = run(
    t,
    at,
    `cp .git/index .git/slow; cp .git/index .git/next; touch started
until [ -e go ]; do sleep 0.05; done
export GIT_INDEX_FILE=.git/next; git add -A; git ${WHO} commit -qm more
cat .git/next > .git/slow; mv .git/slow .git/index`,
  )
  await until(() => existsSync(started!))
  await must(service, 'POST', `/cases/${id}/proof`, NOTE)
  writeFileSync(go!, '')
  t.notMatch((await slow).file, 'changed_during_run', 'what the service wrote while git worked')
})

/** Puts this text into the index as that file below the memory root. */
const staged = (file: string, text: string) =>
  `git update-index --add --cacheinfo 100644,$(printf '%s' '${text}' | git hash-object -w --stdin),memory/${file}`

t.test(
  'a version that cannot be read, or that is cut, is named, and a failure of git',
  async (t) => {
    const at = await scene(t)
    const { service, id } = at
    const other = await planned(service, { runbook: step('true') })
    const text = readFileSync(service.file(id, 'case.md'), 'utf8')
    const unknown = `cases/${FORGED}/case.md`
    symlinkSync('case.md', service.file(id, 'notes.md'))
    const { ref, file, isWalled } = await run(
      t,
      at,
      [
        staged(`cases/${id}/case.md`, text.slice(0, text.indexOf('- ['))),
        staged(`cases/${other.case_id}/sessions/1.md`, '---\nid: [\n---\n'),
        staged(`cases/${other.case_id}/case.md`, '---\nstate: [\n---\n'),
        staged(unknown, text),
        staged(`cases/${id}/notes.md`, 'evil'),
      ].join('\n'),
    )
    if (!isWalled) return t.pass('skipped: there are no mounts here')
    t.match(file, `changed_case=${id} file=case.md what=checklist`)
    for (const name of [
      `cases/${other.case_id}/sessions/1.md`,
      `cases/${other.case_id}/case.md`,
      unknown,
    ])
      t.match(file, `file=${name} what=file`)
    t.match(file, `file=${unknown} what=file from=missing to="as in git"`)
    t.match(file, `file=cases/${id}/notes.md what=file from=unreadable to="as in git"`)
    git(service.root, 'restore', `memory/cases/${id}/case.md`)
    t.equal(await gate(at), 422)

    // the same, had the service died when it had recorded that, and before the run had ended
    await service.close()
    const path = service.file(ref.case_id, 'sessions/1.md')
    const cut = file.indexOf('\n', file.lastIndexOf(' changed_during_run ')) + 1
    writeFileSync(path, file.slice(0, cut).replace('state: complete', 'state: executing'))
    const { stateDir } = service
    for (const table of ['cases', 'records'])
      await changeState(
        stateDir,
        `DELETE FROM ${table} WHERE ${table === 'cases' ? 'id' : 'case_id'} = ?`,
        ref.case_id,
      )
    const record = { session_id: ref.id, ...ref, number: 1, mark: 'x' }
    await changeState(stateDir, PUT_RUN, ref.id, JSON.stringify(record))
    const commits = [git(service.root, 'rev-parse', 'HEAD').trim()]
    const start = { at: 0, isRepository: true, commits, indexed: [], others: [] }
    await changeState(
      stateDir,
      'INSERT INTO run_starts VALUES (?, ?)',
      ref.id,
      JSON.stringify(start),
    )
    await service.restart()
    const again = readFileSync(path, 'utf8')
    t.match(again, 'state: failed')
    const named = (text: string) => text.match(/ changed_during_run .*/g)
    t.strictSame(named(again), named(file))

    const { session } = await ran(service, step('echo broken > .git/index'))
    t.equal(session.state, 'failed')
    t.match(session.output, /could not check what the run put into git \(.+\); review it /)
    await service.close() // all that the run logs is there
    const logged = service.log.filter((line) => line.includes('could not check what the run'))
    t.match(logged, { length: 1 })
  },
)
