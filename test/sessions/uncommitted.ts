import { appendFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseStatus } from '../../src/git/uncommitted.ts'
import { type FolderStateDeps, folderState } from '../../src/sessions/uncommitted.ts'
import { repository, write } from '../fixtures/git-repository.ts'
import { committed } from '../fixtures/plain-agents.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test(
  'what a session left in the working folder is shown before the next plan is approved',
  async (t) => {
    const files = { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'gone.txt': 'gone\n' }
    const service = await openTestService(t, { files })
    committed(service.root)
    const failing = await planned(service, {
      fields: { title: 'A plan that fails' },
      runbook: step('echo x >> a.txt; echo y >> c.txt; rm gone.txt; echo new > "new file"; exit 3'),
    })
    t.match(await must(service, 'GET', `${failing.path}/approval`), {
      folder: { changes: [], is_cut: false, reason: null },
    })
    t.equal((await finished(service, failing)).session.state, 'failed')
    const later = Date.now() / 1000 + 60
    appendFileSync(join(service.root, 'c.txt'), 'by hand\n')
    writeFileSync(join(service.root, 'b.txt'), 'by hand\n')
    for (const name of ['b.txt', 'c.txt']) utimesSync(join(service.root, name), later, later)

    const next = await planned(service, { runbook: step('true') })
    const approval = `${next.path}/approval`
    const { branch, head, changes } = (await must(service, 'GET', approval)).folder
    t.equal(typeof branch, 'string')
    t.match(head, /^[0-9a-f]{40}$/)
    const by = { case_id: failing.case_id, number: 1, title: 'A plan that fails', state: 'failed' }
    t.match(
      changes,
      [
        { file: 'a.txt', kind: 'modified', left_by: by },
        { file: 'b.txt', kind: 'modified', left_by: null },
        { file: 'c.txt', kind: 'modified', left_by: null },
        { file: 'gone.txt', kind: 'deleted', left_by: by },
        { file: 'new file', kind: 'untracked', left_by: by },
      ],
      'a file that was changed after the session was not left by it; the record is not listed',
    )
    const page = await service.request('GET', `/case/${next.case_id}/session/1`, undefined, {
      accept: 'text/html',
    })
    const notice = /<details class="folder-state".*?<\/details>/s.exec(page.text)![0]
    t.match(
      notice.replace(/<[^>]+>/g, '').replace(/\s+/g, ' '),
      /^5 uncommitted changes in the working folder \(branch \w+ at \w{8}\), 3 files from 1 session ?The run starts from these files\..*away first\. ?3 files from session 1 of A plan that fails \(failed: /,
    )
    for (let n = 0; n < 500; n++) writeFileSync(join(service.root, `many-${n}`), '')
    t.match(await must(service, 'GET', approval), {
      folder: { changes: { length: 500 }, is_cut: true },
    })
  },
)

t.test('a file was left by the newest session that changed it and ended', async (t) => {
  const root = repository(t, { 'in/a': '1' })
  write(root, { 'in/a': '2', new: '1' })
  const session = (at: string, files: string[], state = 'complete', isolation = 'none') => ({
    ...{ completed_at: at, state, diff: { files: files.map((file) => ({ file })) } },
    trail: [{ event: 'session_created', fields: { isolation } }],
  })
  const newest = session('2099-03', ['a', '../new'])
  const sessions: Record<string, object[]> = {
    one: [session('2099-01', ['a']), newest, session('2099-05', ['a'], 'complete', 'worktree')],
    other: [session('2099-02', ['a']), session('2099-06', ['a', '../new'], 'executing')],
  }
  const found = await folderState(
    {
      layout: { root, memoryRoot: join(root, 'memory') },
      catalog: {
        folder: (id: string) =>
          sessions[id] && { case: { title: id, workdir: 'in' }, sessions: sessions[id] },
      },
      lists: { triage: () => [{ id: 'one' }, { id: 'gone' }, { id: 'other' }] },
    } as unknown as FolderStateDeps,
    root,
  )
  const left_by = { case_id: 'one', title: 'one', session: newest }
  t.match(found, {
    changes: [
      { file: 'in/a', left_by },
      { file: 'new', left_by },
    ],
  })
})

t.test('a folder without a repository has a reason instead', async (t) => {
  const service = await openTestService(t)
  rmSync(join(service.root, '.git'), { recursive: true, force: true })
  const { path } = await planned(service, { runbook: step('true') })
  const { folder } = await must(service, 'GET', `${path}/approval`)
  t.match(folder, { branch: null, changes: [], reason: /in no git repository/ })
})

t.test('the status of git', (t) => {
  const output = [
    '# branch.oid 0f1e',
    '# branch.head (detached)',
    '1 .M N... 100644 100644 100644 aa bb a b.txt',
    '1 A. N... 000000 100644 100644 aa bb added',
    '1 .D N... 100644 100644 000000 aa bb deleted',
    '2 R. N... 100644 100644 100644 aa bb R100 new name',
    'old name',
    'u UU N... 1 2 3 4 a b c conflict',
    '? line\nend',
    '1 .M N... 100644 1',
  ].join('\0')
  t.strictSame(parseStatus(output), {
    branch: null,
    head: '0f1e',
    changes: [
      { file: 'a b.txt', kind: 'modified' },
      { file: 'added', kind: 'added' },
      { file: 'deleted', kind: 'deleted' },
      { file: 'new name', kind: 'renamed' },
      { file: 'conflict', kind: 'conflict' },
      { file: 'line\nend', kind: 'untracked' },
    ],
  })
  t.end()
})
