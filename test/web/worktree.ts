import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { worktreeActs } from '../../src/worktrees/worktree-texts.ts'
import { inLongLane } from '../fixtures/full.ts'
import { commit, git, write } from '../fixtures/git-repository.ts'
import { textOf } from '../fixtures/page-text.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const service = await withRepository()

async function withRepository(): Promise<TestService> {
  const files = {
    'a.txt': 'one\n',
    '.gitignore': '/memory/\n',
    'casefile.md': '---\nisolation: worktree\n---\n',
  }
  const service = await openTestService(t, { files })
  git(service.root, 'init', '-q', '-b', 'main')
  commit(service.root)
  return service
}

async function pageOf(service: TestService, path: string): Promise<string> {
  const reply = await service.request('GET', path, undefined, { accept: 'text/html' })
  t.equal(reply.status, 200, `${path}: ${reply.text.slice(0, 300)}`)
  return reply.text
}

t.test('work that is applied, then discarded', inLongLane, async (t) => {
  const fields = { title: 'Red door' }
  const ref = await planned(service, { runbook: step('echo two >> a.txt'), fields })
  await finished(service, ref)
  const casePage = `/case/${ref.case_id}`
  const sessionPage = `${casePage}/session/1`
  const missing = 'The work of session 1 is not in main yet: 1 commit on casefile/red-door-1.'
  t.match(textOf(await pageOf(service, casePage), 'status'), /^Session 1 is complete\..* Attach /)
  const proof = await must(service, 'POST', `/cases/${ref.case_id}/proof`, {
    type: 'log',
    content: 'Seen.',
  })
  await must(service, 'PUT', `/cases/${ref.case_id}/proof/${proof.id}/verify`)
  const before = await pageOf(service, casePage)
  t.equal(textOf(before, 'status'), `${missing} The proof is there. Apply the work`)
  t.match(before, `href="${sessionPage}#worktree"`)
  const { worktree } = await must(service, 'GET', ref.path)
  t.match(textOf(await pageOf(service, sessionPage), 'worktree'), `Folder ${worktree.path}`)

  await must(service, 'POST', `${ref.path}/apply`)
  const applied = await pageOf(service, casePage)
  t.match(textOf(applied, 'status'), /^Proof requirements are met\./)
  t.match(textOf(applied, 'history'), /applied the work [0-9a-f]{8}/)
  const panel = textOf(await pageOf(service, sessionPage), 'worktree')
  t.match(panel, /^Worktree Applied \(commit [0-9a-f]{8} \) .*: main has all its commits\. Branch/)
  await must(service, 'POST', `${ref.path}/discard`)
  const history = textOf(await pageOf(service, casePage), 'history')
  t.match(history, /discarded the worktree branch casefile\/red-door-1 removed, all/)
  t.notMatch(history, /wrote session/)
  const after = textOf(await pageOf(service, sessionPage), 'worktree')
  t.match(
    after,
    /Applied \(commit [0-9a-f]{8} \) .*\. Discarded .*; branch casefile\/red-door-1 removed/,
  )
  t.notMatch(after, 'not on this machine')
})

t.test('a conflict, and commits that stay after a discard, have a command', async (t) => {
  const ref = await planned(service, {
    runbook: step('echo two >> a.txt'),
    fields: { title: 'Blue' },
  })
  await finished(service, ref)
  write(service.root, { 'a.txt': 'other\n' })
  commit(service.root)
  // a view is kept for a second
  while ((await must(service, 'GET', ref.path)).worktree.conflicts.length === 0) await delay(100)
  const path = `/case/${ref.case_id}/session/1`
  t.match(
    textOf(await pageOf(service, path), 'worktree'),
    /It conflicts with main.*In a terminal: git merge casefile\/blue-1/,
  )
  await must(service, 'POST', `${ref.path}/discard`)
  t.match(
    textOf(await pageOf(service, path), 'worktree'),
    /Discarded .*; branch casefile\/blue-1 kept, a commit is only there.*git merge casefile\/blue-1/,
  )
})

t.test('the history of another branch is not that of this session', (t) => {
  const entry = {
    at: '2026-01-02T03:04:05.000Z',
    who: 'Grace',
    what: 'session 1: discarded the worktree',
    text: 'branch casefile/door-12 removed, all its commits are on another branch',
    kind: 'worktree' as const,
    act: { name: 'worktree_discarded', session: 1 } as const,
    session: 1,
    recorded: true,
    source: 'service' as const,
  }
  t.strictSame(worktreeActs([entry], 1, 'casefile/door-1').discarded, null)
  t.strictSame(worktreeActs([entry], 2, 'casefile/door-12').discarded, null)
  t.strictSame(worktreeActs([entry], 1, 'casefile/door-12').discarded, {
    at: entry.at,
    text: entry.text,
  })
  t.end()
})
