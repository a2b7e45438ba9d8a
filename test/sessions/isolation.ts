import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startProgramsBy } from '../../src/platform/program.ts'
import { inLongLane } from '../fixtures/full.ts'
import { commit, git, newFolder, write } from '../fixtures/git-repository.ts'
import { agentFiles, committed, LIST_PLAN, plannedBy, says } from '../fixtures/plain-agents.ts'
import { finished, must, planned, type Ref, reaches, step } from '../fixtures/session-client.ts'
import { printedBy, recordOf, until } from '../fixtures/session-record.ts'
import { programs } from '../fixtures/small-process.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

const PROJECT = {
  src: { 'a.txt': 'one\n', 'b.txt': 'two\n' },
  '.gitignore': '/memory/\n.env\n/dist/\n/mine/\n',
}
const AS = '-c user.name=s -c user.email=s@s'

/** A service whose working folder is a repository with one commit; the record is not in it. */
async function withRepository(t: Test, settings = {}): Promise<TestService> {
  const service = await openTestService(t, { files: { ...PROJECT, ...settings } })
  git(service.root, 'init', '-q', '-b', 'main')
  commit(service.root)
  return service
}

const service = await withRepository(t, { 'casefile.md': '---\nisolation: worktree\n---\n' })
const { root } = service

const worktreeOf = ({ stateDir }: TestService, { id }: Ref) => join(stateDir, 'worktrees', id)
const branches = () =>
  git(root, 'branch', '--format=%(refname:short)', '--list', 'casefile/*').trim().split('\n')

t.test('a session works in a worktree, which is applied and discarded', async (t) => {
  write(root, {
    'src/a.txt': 'mine, not committed\n',
    '.env': 'KEY=1\n',
    '.worktreeinclude': '.env\nlocal.txt\nlink-*\n',
    'local.txt': 'local\n',
  })
  symlinkSync('/etc/passwd', join(root, 'link-out'))
  symlinkSync('src/a.txt', join(root, 'link-in'))
  const base = git(root, 'rev-parse', 'HEAD').trim()
  const script = `cat .env src/a.txt\nls\necho three >> src/b.txt\ngit add -A\ngit ${AS} commit -qm 'by the session'\necho new > c.txt\ngit status --short\ngit log --oneline | wc -l`
  const ref = await planned(service, { runbook: step(script), fields: { title: 'Größe, falsch!' } })
  t.match(await must(service, 'GET', ref.path), { isolation: 'worktree', worktree: null })
  const { session } = await finished(service, ref)
  t.match(
    session,
    { state: 'complete', diff: { additions: 2, files: { length: 2 } } },
    session.output,
  )
  t.match(
    printedBy(service, ref),
    /KEY=1\none\ncasefile\.md\nlink-in\nlocal\.txt\nsrc\n\?\? c\.txt\n2\n/,
    'its own files, and not the uncommitted change',
  )
  t.match(session.worktree, {
    branch: 'casefile/grosse-falsch-1',
    base,
    onto: 'main',
    ahead: 2,
    behind: 0,
    uncommitted: [],
    ignored: ['.env'],
    state: 'kept',
    is_running: false,
  })
  t.equal(readFileSync(join(root, 'src/b.txt'), 'utf8'), 'two\n', 'the working folder is as it was')
  const tree = worktreeOf(service, ref)
  t.equal(session.worktree.path, tree)
  t.match(git(root, 'worktree', 'list'), new RegExp(`${tree} .*\\[casefile/grosse-falsch-1\\]`))
  t.match(git(tree, 'status', '--short'), /^(?:\?\? (?:link-in|local\.txt)\n)*$/, 'only copies')
  t.match(
    git(root, 'log', '-1', '--format=%B', 'casefile/grosse-falsch-1'),
    /^Größe, falsch! \(session 1\)[\s\S]*Casefile-Session: .*\/1 plan=/,
  )
  const trail = recordOf(service, ref)
  t.match(trail, /session_created .*isolation=worktree/)
  t.match(trail, new RegExp(`worktree_made branch=casefile/grosse-falsch-1 base=${base}`))
  t.match(trail, /left_out=\[?"?link-out"?\]?/)
  t.match(trail, new RegExp(`worktree_committed commit=${session.worktree.head} commits=2`))
  t.notMatch(trail, service.stateDir, 'no path of the machine')

  t.match(await service.request('POST', `${ref.path}/apply`, { head: base }), {
    status: 409,
    json: { code: 'changed_meanwhile' },
  })
  const applied = await must(service, 'POST', `${ref.path}/apply`, { head: session.worktree.head })
  t.equal(applied.commit, git(root, 'rev-parse', 'main').trim())
  t.equal(readFileSync(join(root, 'src/b.txt'), 'utf8'), 'two\nthree\n')
  t.equal(readFileSync(join(root, 'src/a.txt'), 'utf8'), 'mine, not committed\n')
  t.match(await must(service, 'GET', ref.path), { worktree: { state: 'applied', ahead: 0 } })
  t.match(await service.request('POST', `${ref.path}/apply`, {}), {
    status: 422,
    json: { code: 'wrong_state' },
  })
  write(tree, { 'local.txt': 'changed\n' })
  t.match(await service.request('POST', `${ref.path}/discard`), {
    status: 422,
    json: { files: ['local.txt'] },
  })
  write(tree, { 'local.txt': 'local\n' })
  t.match(await must(service, 'POST', `${ref.path}/discard`, {}), {
    branch_kept: null,
    commits_kept: 0,
  })
  t.notOk(existsSync(tree))
  t.equal(git(root, 'worktree', 'list').trim().split('\n').length, 1)
  t.strictSame(branches(), [''])
  t.match(await must(service, 'GET', ref.path), { worktree: { state: 'missing', path: null } })
  const history = readFileSync(service.file(ref.case_id, 'history.md'), 'utf8')
  t.match(
    history,
    /session 1: applied the work \([0-9a-f]{8}\) · branch casefile\/grosse-falsch-1 into main/,
  )
  t.match(history, /session 1: discarded the worktree · branch casefile\/grosse-falsch-1 removed/)
  t.strictSame(readdirSync(join(service.stateDir, 'worktrees')), [])
  t.strictSame(service.log, [])
  git(root, 'checkout', '-q', '.')
  git(root, 'clean', '-fdq')
})

t.test('what an isolated session leaves besides its branch is kept, or named', async (t) => {
  const ref = await planned(service, {
    fields: { title: 'Ends' },
    runbook: step(`git config user.name s; git config user.email s@s
git switch -qc feat/one; echo 1 > one.txt; git add -A; git commit -qm one
git switch -q --detach; echo 2 > two.txt; git add -A; git commit -qm two; git tag -m v1 v1
git switch -q -; git switch -q casefile/ends-1
echo s >> src/a.txt; git stash -q; echo t >> src/a.txt; git stash -q
git switch -qc o; echo x > src/b.txt; git commit -qam o; git switch -q -; echo y > src/b.txt; git commit -qam m; git merge -q o || true
echo new > new.txt`),
  })
  const { session } = await finished(service, ref)
  t.equal(session.state, 'complete', session.output)
  const [committed = ''] = /worktree_committed .*/.exec(recordOf(service, ref)) ?? []
  const others = ['feat-one', 'o', 'stash', 'stash-2', 'v1'].map(
    (name) => `casefile/ends-1-${name}`,
  )
  t.match(committed, 'others=[')
  t.match(committed, 'reason="it left a git merge unfinished: look for conflict markers"')
  t.strictSame(branches(), ['casefile/ends-1', ...others])
  for (const name of others) t.match(committed, `"${name}"`)
  const show = (of: string) => git(root, 'show', of)
  t.equal(show('casefile/ends-1-feat-one:one.txt'), '1\n')
  t.equal(show('casefile/ends-1-v1:two.txt'), '2\n')
  t.strictSame(
    ['stash', 'stash-2'].map((name) => show(`casefile/ends-1-${name}:src/a.txt`)).sort(),
    ['one\ns\n', 'one\nt\n'],
  )

  // conflicts and uncommitted changes change nothing, and are named
  const refused = async (files: string[], detail: RegExp) => {
    const state = () => git(root, 'status', '--porcelain') + git(root, 'rev-parse', 'HEAD')
    const before = state()
    const answer = await service.request('POST', `${ref.path}/apply`)
    t.match(answer, { status: 409, json: { code: 'merge_conflict', files, detail } })
    t.equal(state(), before)
  }
  write(root, { 'new.txt': 'mine\n' })
  await refused(['new.txt'], /uncommitted changes on main/)
  rmSync(join(root, 'new.txt'))
  write(root, { 'src/b.txt': 'mine\n' })
  await refused(['src/b.txt'], /uncommitted changes on main/)
  commit(root)
  await refused(['src/b.txt'], /both changed src\/b\.txt/)
  t.match(await must(service, 'GET', ref.path), {
    worktree: { behind: 1, conflicts: ['src/b.txt'] },
  })
  const page = (await service.request('GET', `/case/${ref.case_id}/session/1`)).text
  t.match(page, /It conflicts with main in src\/b\.txt\./)

  // what comes into the worktree after the end is not the work of the session
  const tree = worktreeOf(service, ref)
  writeFileSync(join(tree, 'late.txt'), 'by hand\n')
  const late = { status: 422, json: { files: ['late.txt'] } }
  t.match(await service.request('POST', `${ref.path}/apply`), late)
  const kept = { branch_kept: 'casefile/ends-1', commits_kept: Number }
  t.match(await must(service, 'POST', `${ref.path}/discard`), kept)
  t.match(await service.request('POST', `${ref.path}/discard`), { status: 422 })
  const [message] = git(root, 'log', '-1', '--format=%B%x00', 'casefile/ends-1').split('\0')
  t.match(message, /^Ends \(session 1\), later\n\nWhat was in its worktree after its end\.\n/)
  t.notMatch(message, 'Casefile-Session')
  t.equal(show('casefile/ends-1:late.txt'), 'by hand\n')
  t.strictSame(branches(), ['casefile/ends-1', ...others], 'discard leaves them')
})

t.test(
  'sessions side by side, in a subfolder and in a worktree of the user',
  inLongLane,
  async (t) => {
    write(root, { 'pkg/x.txt': 'x\n' })
    commit(root)
    git(root, 'worktree', 'add', '-q', '-b', 'topic', join(root, 'mine'))
    write(join(root, 'mine'), { 'only.txt': 'topic\n' })
    commit(join(root, 'mine'))
    const shared = newFolder(t)
    const wait = `touch ${shared}/%; until test -e ${shared}/go; do sleep 0.02; done`
    const script = 'pwd; ls; echo y >> x.txt; echo beside > ../top.txt'
    const inner = await planned(service, {
      runbook: `---\npaths: ['**']\n---\n${step(`${wait.replace('%', 'inner')}; ${script}`)}`,
      fields: { workdir: 'pkg' },
    })
    const own = await planned(service, {
      runbook: step(
        `${wait.replace('%', 'own')}; cat only.txt; echo more >> only.txt; echo s > x.txt`,
      ),
      fields: { workdir: 'mine', title: '日本' },
    })
    const over = [inner, own].map((ref) => reaches(service, ref, 'complete'))
    for (const ref of [inner, own]) await must(service, 'POST', `${ref.path}/approve`)
    await until(() => readdirSync(shared).length === 2)
    const working = { is_running: true, state: 'kept', head: null, ahead: 0 }
    for (const ref of [inner, own])
      t.match(await must(service, 'GET', ref.path), { worktree: working })
    t.match(await service.request('POST', `${own.path}/apply`), {
      status: 422,
      json: { detail: /Session 1 has not ended/ },
    })
    writeFileSync(join(shared, 'go'), '')
    await Promise.all(over)
    const [first, second] = [
      await must(service, 'GET', inner.path),
      await must(service, 'GET', own.path),
    ]
    t.match(printedBy(service, inner), new RegExp(`${inner.id}/pkg\nx.txt\n`))
    const names = first.diff.files.map(({ file }: { file: string }) => file).sort()
    t.strictSame(names, ['../top.txt', 'x.txt'], 'the evidence has all that the branch has')
    t.strictSame(first.findings.out_of_scope, ['../top.txt'])
    await must(service, 'POST', `${inner.path}/apply`)
    t.equal(readFileSync(join(root, 'pkg/x.txt'), 'utf8'), 'x\ny\n')
    t.match(second, {
      state: 'complete',
      diff: { additions: 2 },
      worktree: { onto: 'topic', ahead: 1 },
    })
    t.match(second.worktree.branch, new RegExp(`^casefile/${own.case_id.slice(0, 8)}-1$`))
    await must(service, 'POST', `${own.path}/apply`)
    t.equal(readFileSync(join(root, 'mine/only.txt'), 'utf8'), 'topic\nmore\n')
    t.equal(git(join(root, 'mine'), 'status', '--short'), '')
    t.equal(git(root, 'log', '-1', '--format=%s', 'main'), 'A case (session 1)\n', 'another branch')
  },
)

t.test('what git cannot keep stays, and is named', async (t) => {
  const ref = await planned(service, {
    runbook:
      step(`d=$(mktemp -d); git init -q "$d"; echo s > "$d/s"; git -C "$d" add -A; git -C "$d" ${AS} commit -qm s
git -c protocol.file.allow=always submodule add -q "$d" sub
cd sub; echo more >> s; git ${AS} commit -qam inner; cd ..
git add -A; git ${AS} commit -qm outer; mkdir inner; cd inner; git init -q; echo deep > deep.txt; cd ..
printf '*.enc working-tree-encoding=UTF-16\\n' > .gitattributes; echo no > z.enc; echo good > good.txt`),
  })
  const { session } = await finished(service, ref)
  t.match(session, { state: 'failed', output: /could not be committed/ })
  const { path, uncommitted } = session.worktree
  const all = ['.gitattributes', '.gitmodules', 'good.txt', 'inner/', 'sub', 'z.enc']
  t.strictSame(uncommitted.sort(), all)
  const log = git(join(path, 'sub'), 'log', '--format=%s', '-1')
  t.equal(log.trim(), 'inner')
  const refused = async (json: object) => {
    for (const what of ['apply', 'discard'])
      t.match(await service.request('POST', `${ref.path}/${what}`), { status: 422, json })
  }
  await refused({ code: 'wrong_state', detail: new RegExp(`z\\.enc.*Correct that in ${path}`) })
  writeFileSync(join(path, '.gitattributes'), '')
  await refused({ files: ['inner/', 'sub/'] })
  t.equal(readFileSync(join(path, 'inner/deep.txt'), 'utf8'), 'deep\n')
  // git enters none of them, so one that it cannot read takes nothing away
  writeFileSync(join(path, 'sub/.git'), 'gitdir: /nowhere\n')
  t.match((await must(service, 'GET', ref.path)).worktree.uncommitted, ['inner/', 'sub/'])
})

const evil = '-c user.name=e -c user.email=e@e'

/** Leaves `bad.txt`, which has to be the work of the session, and changes nothing else. */
const ATTACK = (root: string, good: string) => `exec 2>&1; set +e
echo bad > bad.txt; git add -A; git ${evil} commit -qm bad; git update-ref refs/heads/main HEAD; git branch -f ${good} HEAD; git update-ref -d refs/heads/${good}; git gc -q --prune=now
git checkout -q --orphan x; git ${evil} commit -qm bad; git branch -f casefile/bad-1-forged HEAD; git symbolic-ref HEAD refs/heads/x
for f in ${root}/.git/refs/heads/main ${root}/.git/HEAD ${root}/.git/config ${root}/.git/worktrees/*/HEAD; do echo bad > $f; done
d=$(git rev-parse --absolute-git-dir); git config core.fsmonitor 'touch ${root}/pwned'; git config filter.x.clean 'touch ${root}/pwned; cat'; git config core.hooksPath "$PWD/h"
mkdir h; printf '#!/bin/sh\ntouch ${root}/pwned\n' > h/post-checkout; chmod +x h/*; echo '* filter=x' > .gitattributes
rm -f "$d/objects/info/alternates"; mkfifo "$d/objects/info/alternates"; true`

t.test(
  'a hostile session damages neither the repository nor other branches',
  inLongLane,
  async (t) => {
    const other = 'casefile/a-case-other'
    git(root, 'branch', other, git(root, 'commit-tree', '-p', 'main', '-m', 'o', 'main:').trim())
    const refs = () => git(root, 'for-each-ref')
    const before = refs()
    const config = readFileSync(join(root, '.git/config'), 'utf8')
    const ref = await planned(service, {
      runbook: step(ATTACK(root, other)),
      fields: { title: 'Bad' },
    })
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', worktree: { ahead: Number } }, session.output)
    const { branch, base, head } = session.worktree
    t.equal(git(root, 'show', `${branch}:bad.txt`), 'bad\n', 'its work is on its own branch')
    t.equal(git(root, 'merge-base', base, head).trim(), base, 'which continues the base')
    t.match(JSON.stringify(session.diff), '"bad.txt"', 'and in the evidence')
    const trail = recordOf(service, ref)
    t.match(trail, /guarded mode=work guard=mount/)
    t.match(trail, /do not continue/)
    t.equal(refs().replace(new RegExp(`.*${branch}(?:-[\\w-]+)?\n`, 'g'), ''), before)
    t.notOk(existsSync(join(root, 'pwned')))
    t.equal(readFileSync(join(root, '.git/config'), 'utf8'), config)
    t.equal(git(root, 'fsck', '--no-dangling').trim(), '')
  },
)

t.test('what keeps a working folder from isolation is said before approval', async (t) => {
  const service = await withRepository(t)
  const { root } = service
  const made = (name: string, files: Record<string, string>) => {
    const folder = join(root, name)
    mkdirSync(folder)
    git(folder, 'init', '-q')
    write(folder, files)
    if (Object.keys(files).length > 0) commit(folder)
    return folder
  }
  made('unborn', {})
  made('lfs', { 'art/.gitattributes': '*.psd filter=lfs diff=lfs -text\n' })
  const outer = made('submodules', { a: '1\n' })
  const gitlink = `160000,${git(outer, 'rev-parse', 'HEAD').trim()},lib`
  git(outer, 'update-index', '--add', '--cacheinfo', gitlink)
  git(outer, 'commit', '-qm', 'with a submodule')
  write(root, { 'new/a': '1\n' })
  const reasons: [workdir: string, reason: RegExp][] = [
    ['unborn', /the repository has no commit yet\. Make the first commit/],
    ['submodules', /has submodules \(lib\)/],
    ['lfs', /git-lfs\. Work without isolation/],
    ['new', /the folder new is in no commit\. Commit it/],
    ['memory', /part of the record|ignored by the git repository/],
  ]
  for (const [workdir, reason] of reasons) {
    const { id } = await service.newCase({ workdir })
    const body = { type: 'implementing', isolation: 'worktree' }
    const answer = await service.request('POST', `/cases/${id}/sessions`, body)
    const expected = { status: 422, json: { code: 'isolation_impossible', detail: reason } }
    t.match(answer, expected, workdir)
  }
  const ref = await planned(service, { runbook: step('true'), fields: { isolation: 'worktree' } })
  git(root, 'branch', 'casefile')
  const page = () => service.request('GET', `/case/${ref.case_id}/session/1`)
  t.match((await page()).text, /a branch named casefile keeps git from making branches/)
  // as git is killed that takes too long
  startProgramsBy(async (call, signal) => ({
    ...(await programs(call, signal)),
    exit: null,
    signal: 'SIGKILL',
  }))
  t.teardown(() => startProgramsBy(programs))
  t.match(await page(), {
    status: 200,
    text: /git cannot tell whether it can: git config was ended/,
  })
  startProgramsBy(programs)
  const answer = await service.request('POST', `${ref.path}/approve`)
  t.match(answer, { status: 422, json: { code: 'isolation_impossible' } })
  t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })

  const { id } = await service.newCase({ isolation: 'worktree' })
  const asked = { type: 'implementing', isolation: 'none' }
  const other = await must(service, 'POST', `/cases/${id}/sessions`, asked)
  t.equal(other.isolation, null, 'the request goes before the case')
  t.match(await service.request('POST', '/cases', { title: 'x', isolation: 'vm' }), { status: 400 })
})

t.test(
  'the record is not changed by a branch, and an agent is trusted by its files',
  inLongLane,
  async (t) => {
    const record = 'memory/cases/*/case.md'
    const work = `pwd > where.txt; cat CLAUDE.md >> where.txt; git add where.txt; git ${AS} commit -qm y
    for each in ${record}; do echo x >> $each; done; git add -A -f; git ${AS} commit -qm z`
    const service = await openTestService(t, {
      files: {
        ...agentFiles({ works: { plan: says(LIST_PLAN), work } }),
        'CLAUDE.md': 'Be kind.\n',
      },
      trust: true,
    })
    const { root } = service
    committed(root)
    writeFileSync(join(root, '.gitignore'), '')
    const stored = await service.newCase({ title: 'Stored' })
    commit(root)
    const { ref } = await plannedBy(service, 'works', { isolation: 'worktree' })
    const { session } = await finished(service, ref)
    const diff = { file: 'where.txt', additions: 2 }
    t.match(session, { state: 'complete', diff }, 'and not its copy of the record')
    const made = git(root, 'show', `${session.worktree.branch}:where.txt`)
    t.equal(made, `${worktreeOf(service, ref)}\nBe kind.\n`)
    t.match(await service.request('POST', `${ref.path}/apply`), {
      status: 422,
      json: { code: 'record_on_branch', files: [`memory/cases/${stored.id}/case.md`] },
    })
  },
)
