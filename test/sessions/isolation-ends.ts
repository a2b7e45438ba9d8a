// What an isolated session leaves besides its branch is kept, or it is said what git cannot keep.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { commit, git } from '../fixtures/git-repository.ts'
import { finished, must, planned, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const AS = '-c user.name=s -c user.email=s@s'

async function isolated(t: Test, script: string, { fields = {}, plan = '' } = {}) {
  const service = await openTestService(t, {
    files: {
      'a.txt': 'one\n',
      pkg: { 'b.txt': 'two\n' },
      '.gitignore': '/memory/\n',
      'casefile.md': '---\nisolation: worktree\n---\n',
    },
  })
  git(service.root, 'init', '-q', '-b', 'main')
  commit(service.root)
  const ref = await planned(service, {
    runbook: plan + step(script),
    fields: { title: 'Ends', ...fields },
  })
  const { session } = await finished(service, ref)
  const trail = readFileSync(service.file(ref.case_id, 'sessions', '1.md'), 'utf8')
  const [committed = ''] = /worktree_committed .*/.exec(trail) ?? []
  const send = (what: string) => service.request('POST', `${ref.path}/${what}`)
  const branches = () =>
    git(service.root, 'branch', '--format=%(refname:short)', '--list', 'casefile/*').trim()
  return { service, ref, session, committed, send, branches }
}

t.test('other branches, tags and stashes of a session become branches', async (t) => {
  const { service, session, committed, send, branches } = await isolated(
    t,
    `git config user.name s; git config user.email s@s
git switch -qc feat/one; echo 1 > one.txt; git add -A; git commit -qm one
git switch -q --detach; echo 2 > two.txt; git add -A; git commit -qm two; git tag -m v1 v1
git switch -q -; git switch -q casefile/ends-1
echo s >> a.txt; git stash -q; echo t >> a.txt; git stash -q
echo rest > rest.txt`,
  )
  t.equal(session.state, 'complete', session.output)
  const others = ['feat-one', 'stash', 'stash-2', 'v1'].map((name) => `casefile/ends-1-${name}`)
  t.match(committed, 'commits=1 others=[')
  t.strictSame(branches().split('\n'), ['casefile/ends-1', ...others])
  for (const name of others) t.match(committed, `"${name}"`)
  const show = (of: string) => git(service.root, 'show', of)
  t.equal(show('casefile/ends-1-feat-one:one.txt'), '1\n')
  t.equal(show('casefile/ends-1-v1:two.txt'), '2\n')
  t.strictSame(
    [show('casefile/ends-1-stash:a.txt'), show('casefile/ends-1-stash-2:a.txt')].sort(),
    ['one\ns\n', 'one\nt\n'],
  )
  t.equal((await send('apply')).status, 200)
  t.match(await send('discard'), { status: 200, json: { branch_kept: null } })
  t.strictSame(branches().split('\n'), others, 'discard leaves them')
})

t.test('a merge that a session left unfinished is named', async (t) => {
  const { committed } = await isolated(
    t,
    `git switch -qc o; echo x > a.txt; git ${AS} commit -qam o; git switch -q -; echo y > a.txt; git ${AS} commit -qam m; git ${AS} merge -q o || true`,
  )
  t.match(committed, 'reason="it left a git merge unfinished: look for conflict markers"')
})

t.test('what git cannot add stays, and is named', async (t) => {
  const { session, send } = await isolated(
    t,
    `printf '*.enc working-tree-encoding=UTF-16\\n' > .gitattributes; echo no > z.enc; echo good > good.txt`,
  )
  t.match(session, { state: 'failed', output: /could not be committed/ })
  t.strictSame(session.worktree.uncommitted, ['.gitattributes', 'good.txt', 'z.enc'])
  const { path } = session.worktree
  for (const what of ['apply', 'discard']) {
    t.match(await send(what), {
      status: 422,
      json: { code: 'wrong_state', detail: new RegExp(`z\\.enc.*Correct that in ${path}`) },
    })
  }
  writeFileSync(join(path, '.gitattributes'), '')
  t.match(await send('discard'), { status: 200, json: { branch_kept: 'casefile/ends-1' } })
})

t.test('repositories within the worktree keep it from being discarded', async (t) => {
  const { service, ref, session, send } = await isolated(
    t,
    `d=$(mktemp -d); git init -q "$d"; echo s > "$d/s"; git -C "$d" add -A; git -C "$d" ${AS} commit -qm s
git -c protocol.file.allow=always submodule add -q "$d" sub
cd sub; echo more >> s; git ${AS} commit -qam inner; cd ..
git add -A; git ${AS} commit -qm outer`,
  )
  t.equal(session.state, 'complete', session.output)
  t.strictSame(session.worktree.uncommitted, ['sub/'])
  const sub = join(session.worktree.path, 'sub')
  const log = ['-C', sub, 'log', '--format=%s', '-1']
  t.equal(execFileSync('git', log, { encoding: 'utf8' }).trim(), 'inner')
  t.match(await must(service, 'GET', '/worktrees'), [{ uncommitted: ['sub/'], reason: null }])
  for (const what of ['apply', 'discard']) {
    t.match(await send(what), { status: 422, json: { detail: /sub\// } })
  }
  t.ok(existsSync(sub))
  // git enters none of them, so one that it cannot read takes nothing away
  writeFileSync(join(sub, '.git'), 'gitdir: /nowhere\n')
  t.match(await must(service, 'GET', ref.path), { worktree: { uncommitted: ['sub/'] } })
  t.match(await send('discard'), { status: 422, json: { detail: /sub\// } })
})

t.test('of a sub-folder, the evidence has all that the branch has', async (t) => {
  const { service, session, send } = await isolated(
    t,
    'echo in >> b.txt; echo beside > ../top.txt; echo more >> ../a.txt',
    { fields: { workdir: 'pkg' }, plan: "---\npaths: ['**']\n---\n" },
  )
  t.equal(session.state, 'complete', session.output)
  const names = session.diff.files.map(({ file }: { file: string }) => file).sort()
  t.strictSame(names, ['../a.txt', '../top.txt', 'b.txt'])
  t.strictSame([...session.out_of_scope].sort(), ['../a.txt', '../top.txt'])
  const changed = git(service.root, 'diff', '--name-only', 'main', session.worktree.branch)
  t.strictSame(changed.trim().split('\n').sort(), ['a.txt', 'pkg/b.txt', 'top.txt'])
  t.equal((await send('apply')).status, 200)
})

t.test('what came into the worktree after the end is not the work of the session', async (t) => {
  const { service, session, send } = await isolated(t, 'echo mine > own.txt')
  writeFileSync(join(session.worktree.path, 'late.txt'), 'by hand\n')
  t.match(await send('discard'), { status: 200, json: { branch_kept: 'casefile/ends-1' } })
  const messages = git(service.root, 'log', '--format=%B%x00', 'main..casefile/ends-1')
  const [late, own] = messages.split('\0')
  t.match(late, /^Ends \(session 1\), later\n\nWhat was in its worktree after its end\.\n/)
  t.notMatch(late, 'Casefile-Session')
  t.match(own, /^Casefile-Session: /m)
})
