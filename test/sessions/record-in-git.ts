// In mounts a run cannot write the record, but git can bring what it commits. That counts only once it is confirmed.
import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { contentHash, newProofText } from '../../src/markdown/proof-file.ts'
import { git } from '../fixtures/git-repository.ts'
import { NOW, PROOF } from '../fixtures/records.ts'
import { must, planned, ran, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const FORGED = '1b0f9d1e-3b52-4a53-9b57-0c4c4f1d2a10'
const WHO = '-c user.name=a -c user.email=a@b.c'

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
  ['a commit', `git ${WHO} commit -qm forged`, [['restore', '.']]],
  ['the index', 'true', [['restore', 'memory']]],
  [
    'another branch',
    `git ${WHO} commit -qm forged; git branch other; git reset -q HEAD~`,
    [['merge', '-q', 'other']],
  ],
  [
    'a tag',
    `git ${WHO} commit -qm forged; git tag v1; git reset -q HEAD~`,
    [['checkout', 'v1', '--', 'memory']],
  ],
  [
    'the reflog',
    `git ${WHO} commit -qm forged; git reset -q HEAD~`,
    [['checkout', 'HEAD@{1}', '--', 'memory']],
  ],
  [
    'a stash',
    `git update-ref --create-reflog -m x refs/stash $(git ${WHO} commit-tree -p HEAD -p $(git ${WHO} commit-tree -p HEAD -m index $(git write-tree)) -m stash $(git write-tree)); git reset -q`,
    [['stash', 'pop']],
  ],
  [
    'a remote branch',
    `git ${WHO} commit -qm forged; git update-ref refs/remotes/origin/main HEAD; git reset -q HEAD~; git reflog expire --expire=now --all`,
    [['merge', '-q', 'origin/main']],
  ],
]

for (const [name, then, bring] of WAYS) {
  t.test(`a proof that a run brings by ${name} is not verified`, async (t) => {
    const at = await scene(t)
    const { service, id } = at
    const { session, file, isWalled } = await run(t, at, forging(at, then))
    if (!isWalled) return t.pass('skipped: there are no mounts here')
    t.notOk(existsSync(proofPath(at)))
    t.match(file, `file=proof/${FORGED}.md what=verification`)
    t.match(session.output, 'which do not count unless you confirm them')
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
