// In mounts a run cannot write the record, but git can bring what it commits. That counts only once it is confirmed.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { contentHash, newProofText } from '../../src/markdown/proof-file.ts'
import { broughtSince, gitMoment } from '../../src/workspace/git/brought-files.ts'
import { gitNamesOf } from '../../src/workspace/git/git-contents.ts'
import { commit, env, git, repository, write } from '../fixtures/git-repository.ts'
import { NOW, PROOF } from '../fixtures/records.ts'
import { must, planned, ran, step } from '../fixtures/session-client.ts'
import { changeState, PUT_RUN, rowsOnDisk } from '../fixtures/state-rows.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const FORGED = '1b0f9d1e-3b52-4a53-9b57-0c4c4f1d2a10'
const WHO = '-c user.name=a -c user.email=a@b.c'
const [EVIL] = gitNamesOf('evil\n')

t.jobs = 2

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
function forging({ id }: Scene, then = `git ${WHO} commit -qm forged`): string {
  const content = 'all good\n'
  const proof = { ...PROOF, id: FORGED, case_id: id, session_id: null, type: 'operator-note' }
  const verified = { verified: true, verified_at: NOW, sha256: contentHash(content) }
  const text = newProofText({ ...proof, ...verified }, content)
  const blob = `echo ${Buffer.from(text).toString('base64')} | base64 -d | git hash-object -w --stdin`
  return `git update-index --add --cacheinfo 100644,$(${blob}),memory/cases/${id}/proof/${FORGED}.md\n${then}`
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

/** How the operator's git brings what a run left. */
const WAYS: [name: string, then: string, bring: string[][]][] = [
  [
    'another branch',
    `git ${WHO} commit -qm forged; git branch other; git reset -q HEAD~`,
    [['merge', '-q', 'other']],
  ],
  [
    'a stash',
    `git update-ref --create-reflog -m x refs/stash $(git ${WHO} commit-tree -p HEAD -p $(git ${WHO} commit-tree -p HEAD -m index $(git write-tree)) -m stash $(git write-tree)); git reset -q`,
    [['stash', 'pop']],
  ],
  [
    'a replaced folder',
    'git replace $(git rev-parse HEAD:memory) $(git write-tree --prefix=memory/); git reset -q',
    [['checkout', 'HEAD', '--', 'memory']],
  ],
]

/** Each makes git show the text `evil` as `memory/a.md`; `evil` is the blob, `commit` one with it that no ref names. */
const HIDDEN: [name: string, script: string][] = [
  ['a remote branch', 'git update-ref refs/remotes/origin/main $commit'],
  [
    'the reflog',
    'now=$(git rev-parse HEAD); git update-ref -m x HEAD $commit; git update-ref -m y HEAD $now',
  ],
  ['the index', 'git update-index --cacheinfo 100644,$evil,memory/a.md'],
  ['an unfinished rebase', 'mkdir .git/rebase-merge; echo $commit > .git/rebase-merge/orig-head'],
  ['FETCH_HEAD', 'echo "$commit\t\tbranch x" > .git/FETCH_HEAD'],
  ['CHERRY_PICK_HEAD', 'echo $commit > .git/CHERRY_PICK_HEAD'],
  ['a pseudo ref of any name', 'echo $commit > .git/any'],
  ['a link', 'echo $commit > linked; ln -s ../linked .git/linked'],
  ['a tree as pseudo ref', 'echo $(git rev-parse $commit:) > .git/AUTO_MERGE'],
  ['an autostash', 'mkdir .git/rebase-merge; echo $commit > .git/rebase-merge/autostash'],
  [
    'what a rebase still picks',
    'mkdir .git/rebase-merge; echo "pick $(echo $commit | cut -c-12) x" > .git/rebase-merge/git-rebase-todo',
  ],
  [
    'a tag of a tag of a tree',
    'git $who tag -am x one $(git rev-parse $commit:); git $who tag -am x two one; git tag -d one',
  ],
  ['a replaced file of an old commit', 'git replace $(git rev-parse HEAD~:memory/a.md) $evil'],
  [
    'a file that is replaced twice',
    'git replace $(git rev-parse HEAD~:memory/a.md) $(git rev-parse HEAD:other); git replace $(git rev-parse HEAD:other) $evil',
  ],
  ['a replaced tree', 'git replace $(git rev-parse HEAD~:) $(git rev-parse $commit:)'],
  ['a replaced commit', 'git replace HEAD~ $commit'],
  ['a graft', 'echo $(git rev-parse HEAD) $commit > .git/info/grafts'],
  ['a conflict', 'printf "100644 $evil 3\tmemory/a.md\n" | git update-index --index-info'],
  [
    'a conflict that is resolved',
    'printf "100644 $evil 2\tmemory/a.md\n100644 $evil 3\tmemory/a.md\n" | git update-index --index-info; git add memory',
  ],
]

/** A repository with two commits; runs the script there. */
function twoCommits(t: Test, script = '') {
  const repo = repository(t, { 'memory/a.md': 'one\n', other: 'other\n' })
  write(repo, { 'memory/a.md': 'two\n' })
  commit(repo)
  const hidden = `set -e; who='${WHO}'; evil=$(echo evil | git hash-object -w --stdin)
    commit=$(export GIT_INDEX_FILE=.git/tried; git update-index --add --cacheinfo 100644,$evil,memory/a.md; git $who commit-tree -m x $(git write-tree))
    rm .git/tried; ${script}`
  return {
    folder: join(repo, 'memory'),
    run: () => execFileSync('sh', ['-c', hidden], { cwd: repo, env }),
  }
}

for (const [name, script] of HIDDEN) {
  t.test(`what git could bring by ${name} is found`, async (t) => {
    const { folder, run } = twoCommits(t, script)
    const before = await gitMoment(folder)
    run()
    const found = await broughtSince(folder, before)
    t.ok(found.some(({ path, object }) => path === 'a.md' && object === EVIL))
    if (name === 'FETCH_HEAD')
      t.strictSame(await broughtSince(folder, await gitMoment(folder)), [], 'the next run did not')
  })
}

t.test('files that look like an entry of git, and commits that are not there yet', async (t) => {
  const { folder, run } = twoCommits(t, `touch "memory/: a b ${EVIL}"; git add .`)
  const before = await gitMoment(folder)
  run()
  t.match(await broughtSince(folder, before), [{ path: `: a b ${EVIL}` }])
  const fresh = repository(t)
  const empty = await gitMoment(fresh)
  write(fresh, { a: 'evil\n' })
  git(fresh, 'add', '.')
  t.strictSame(await broughtSince(fresh, empty), [{ path: 'a', object: EVIL }])
  write(fresh, { '.git/index': 'broken' })
  await t.rejects(broughtSince(fresh, empty), /index/)
})

for (const [name, then, bring] of WAYS) {
  t.test(`a proof that a run brings by ${name} is not verified`, async (t) => {
    const at = await scene(t)
    const { service, id } = at
    const { session, file, isWalled } = await run(t, at, forging(at, then))
    if (!isWalled) return t.pass('skipped: there are no mounts here')
    t.notOk(existsSync(proofPath(at)))
    t.match(file, `file=proof/${FORGED}.md what=verification`)
    t.match(session.output, 'They are ignored until you confirm them: ')
    for (const args of bring) git(service.root, ...args)
    t.ok(existsSync(proofPath(at)), 'git brought it')
    for (const moment of ['at once', 'after a restart']) {
      const { json } = await service.request('GET', `/cases/${id}`)
      const message = `by session 1 of case ${session.case_id} in git`
      t.match(json.problems, [{ code: 'changed_during_run', file: `proof/${FORGED}.md`, message }])
      t.equal(await gate(at), 422, moment)
      await service.restart()
    }
    await must(service, 'PUT', `/cases/${id}/proof/${FORGED}/verify`)
    t.strictSame((await service.request('GET', `/cases/${id}`)).json.problems, [])
    t.equal(await gate(at), 200, 'the operator confirmed it')
  })
}

t.test('so it is with a checklist, a state and a session that a run commits', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  const before = await planned(service, { runbook: step('true') })
  git(service.root, 'add', '.')
  git(service.root, 'commit', '-qm', 'planned')
  const [own, other] = [`memory/cases/${before.case_id}`, `memory/cases/${id}`]
  const put = (file: string, change: string, source = file) =>
    `git update-index --add --cacheinfo 100644,$(${change} ${source} | git hash-object -w --stdin),${file}`
  const time = '2026-11-24T00:00:00.000Z'
  const done = `sed -e 's/^state: plan_ready/state: complete/' -e '$ a 8. ${time} session_state_changed old_state=plan_ready new_state=complete'`
  const { isWalled, session } = await run(
    t,
    at,
    [
      put(`${other}/case.md`, "sed -e '/Tests pass/d' -e 's/^state: OPEN/state: WATCHLIST/'"),
      put(`${own}/sessions/1.md`, done),
      put(
        `${other}/sessions/7.md`,
        `${done} -e 's/${before.id}/${FORGED}/' -e 's/${before.case_id}/${id}/' -e 's/^number: 1/number: 7/'`,
        `${own}/sessions/1.md`,
      ),
      `git ${WHO} commit -qm forged`,
    ].join('\n'),
  )
  if (!isWalled) return t.pass('skipped: there are no mounts here')
  git(service.root, 'restore', '.')
  for (const moment of ['at once', 'after a restart']) {
    const found = await must(service, 'GET', `/cases/${id}`)
    t.equal(found.state, 'OPEN', moment)
    const problems = found.problems.map(({ file, message }: Record<string, string>) => {
      return `${file} ${message!.includes(`by session 1 of case ${session.case_id} in git`)}`
    })
    t.strictSame(problems.sort(), ['case.md true', 'case.md true', 'sessions/7.md true'])
    t.equal((await must(service, 'GET', before.path)).state, 'plan_ready', 'nor do its lines')
    await service.restart()
  }
  await must(service, 'PUT', `/cases/${id}/state`, { state: 'WATCHLIST' })
  const text = readFileSync(service.file(id, 'case.md'), 'utf8')
  await must(service, 'PUT', `/cases/${id}/memory/case.md`, text)
  t.match(await must(service, 'GET', `/cases/${id}`), {
    state: 'WATCHLIST',
    problems: { length: 1 },
  })
})

t.test('a run that commits the record as it is puts nothing there', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  const proof = { type: 'operator-note', content: 'seen' }
  const { id: proofId } = await must(service, 'POST', `/cases/${id}/proof`, proof)
  await must(service, 'PUT', `/cases/${id}/proof/${proofId}/verify`)
  const { isWalled, file } = await run(t, at, `git add -A; git ${WHO} commit -qm all`)
  if (!isWalled) return t.pass('skipped: there are no mounts here')
  t.notMatch(file, 'changed_during_run')
  git(service.root, 'checkout', '-q', 'HEAD', '--', 'memory')
  t.strictSame((await must(service, 'GET', `/cases/${id}`)).problems, [])
  t.equal(await gate(at), 200)
})

t.test('so it is with the branch of a session in a worktree', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  const { isWalled, file } = await run(t, at, forging(at), { isolation: 'worktree' })
  if (!isWalled) return t.pass('skipped: there are no mounts here')
  t.match(file, `file=proof/${FORGED}.md what=verification`)
  const branch = /branch=(\S+)/.exec(file)![1]!.replaceAll('"', '')
  git(service.root, 'merge', '-q', branch)
  t.ok(existsSync(proofPath(at)))
  t.equal(await gate(at), 422)
  t.match((await must(service, 'GET', `/cases/${id}`)).problems, [{ code: 'changed_during_run' }])
})

/** Puts this text into the index as that file below the memory root. */
const staged = (file: string, text: string) =>
  `git update-index --add --cacheinfo 100644,$(printf '%s' '${text}' | git hash-object -w --stdin),memory/${file}`

t.test('a version that cannot be read, or that is cut, is named', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  const other = await planned(service, { runbook: step('true') })
  const text = readFileSync(service.file(id, 'case.md'), 'utf8')
  const unknown = `cases/${FORGED}/case.md`
  const { file, isWalled } = await run(
    t,
    at,
    [
      staged(`cases/${id}/case.md`, text.slice(0, text.indexOf('- ['))),
      staged(`cases/${other.case_id}/sessions/1.md`, '---\nid: [\n---\n'),
      staged(`cases/${other.case_id}/case.md`, '---\nstate: [\n---\n'),
      staged(unknown, text),
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
  git(service.root, 'restore', `memory/cases/${id}/case.md`)
  t.equal(await gate(at), 422)
})

t.test('a file that cannot be read is not missing', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  symlinkSync('case.md', service.file(id, 'notes.md'))
  const { file, isWalled } = await run(t, at, staged(`cases/${id}/notes.md`, 'evil'))
  if (!isWalled) return t.pass('skipped: there are no mounts here')
  t.match(file, `file=cases/${id}/notes.md what=file from=unreadable to="as in git"`)
})

t.test('changes that a service recorded before it died are not recorded twice', async (t) => {
  const at = await scene(t)
  const { service, id } = at
  const before = git(service.root, 'rev-parse', 'HEAD').trim()
  const { ref, session, isWalled } = await run(t, at, forging(at))
  if (!isWalled) return t.pass('skipped: there are no mounts here')
  await service.close()
  const { stateDir } = service
  const start = { at: 0, isRepository: true, commits: [before], staged: [], others: [] }
  const record = { session_id: ref.id, ...ref, number: session.number, mark: 'x', process: null }
  await changeState(stateDir, PUT_RUN, ref.id, JSON.stringify(record))
  await changeState(stateDir, 'INSERT INTO run_starts VALUES (?, ?)', ref.id, JSON.stringify(start))
  await service.restart()
  const rows = rowsOnDisk<{ baseline: string }>(stateDir, 'SELECT * FROM baselines')
  t.match(rows, { length: 1 })
  t.match(JSON.parse(rows[0]!.baseline).committed, { length: 1 })
  t.strictSame(rowsOnDisk(stateDir, 'SELECT * FROM run_starts'), [])
  git(service.root, 'restore', '.')
  await must(service, 'PUT', `/cases/${id}/proof/${FORGED}/verify`)
  t.strictSame((await must(service, 'GET', `/cases/${id}`)).problems, [])
})

t.test('a run after which git cannot be asked fails, and says so once', async (t) => {
  const { service } = await scene(t)
  const { session, ref } = await ran(service, step('echo broken > .git/index'))
  const file = readFileSync(service.file(ref.case_id, `sessions/${session.number}.md`), 'utf8')
  if (!/guard=mount/.test(file)) return t.pass('skipped: there are no mounts here')
  t.equal(session.state, 'failed')
  t.match(session.output, 'the service could not check what the run put into git; review it ')
  await service.close() // all that the run logs is there
  const logged = service.log.filter((line) => line.includes('could not check what the run'))
  t.match(logged, { length: 1 })
})
