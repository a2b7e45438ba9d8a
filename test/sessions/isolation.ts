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
import { commit, git, write } from '../fixtures/git-repository.ts'
import { agentFiles, committed, LIST_PLAN, says } from '../fixtures/plain-agents.ts'
import { finished, must, planned, type Ref, reaches, step } from '../fixtures/session-client.ts'
import { openTestService, type TestService } from '../fixtures/workspace.ts'

t.jobs = 2

const PROJECT = {
  src: { 'a.txt': 'one\n', 'b.txt': 'two\n' },
  '.gitignore': '/memory/\n.env\n/dist/\n',
}

/** A service whose working folder is a repository with one commit; the record is not in it. */
async function withRepository(t: Test, settings = 'isolation: worktree\n'): Promise<TestService> {
  const files = { ...PROJECT, ...(settings ? { 'casefile.md': `---\n${settings}---\n` } : {}) }
  const service = await openTestService(t, { files })
  git(service.root, 'init', '-q', '-b', 'main')
  commit(service.root)
  return service
}

const worktreeOf = (service: TestService, { id }: Ref) => join(service.stateDir, 'worktrees', id)
const listed = (service: TestService) => must(service, 'GET', '/worktrees')
const trailOf = (service: TestService, ref: Ref, number = 1) =>
  readFileSync(service.file(ref.case_id, 'sessions', `${number}.md`), 'utf8')

t.test('a session works in a worktree, which is applied and discarded', async (t) => {
  const service = await withRepository(t)
  const { root } = service
  write(root, {
    'src/a.txt': 'mine, not committed\n',
    '.env': 'KEY=1\n',
    '.worktreeinclude': '.env\n',
  })
  const base = git(root, 'rev-parse', 'HEAD').trim()
  const script = `cat .env src/a.txt\necho three >> src/b.txt\ngit add -A\ngit -c user.name=X -c user.email=x@x commit -qm 'by the session'\necho new > c.txt\ngit status --short\ngit log --oneline | wc -l`
  const ref = await planned(service, { runbook: step(script), fields: { title: 'Größe, falsch!' } })
  const before = await must(service, 'GET', ref.path)
  t.match(before, { isolation: 'worktree', worktree: null })
  const { session } = await finished(service, ref)
  t.match(
    session,
    { state: 'complete', diff: { additions: 2, files: { length: 2 } } },
    session.output,
  )
  t.match(
    session.output,
    /KEY=1\none\n\?\? c\.txt\n2\n/,
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
  t.equal(readFileSync(join(root, 'src/a.txt'), 'utf8'), 'mine, not committed\n')
  t.equal(readFileSync(join(root, 'src/b.txt'), 'utf8'), 'two\n', 'the working folder is as it was')
  const tree = worktreeOf(service, ref)
  t.equal(session.worktree.path, tree)
  t.match(git(root, 'worktree', 'list'), new RegExp(`${tree} .*\\[casefile/grosse-falsch-1\\]`))
  t.equal(git(tree, 'status', '--short'), '', 'a worktree of the repository like any other')
  t.match(
    git(root, 'log', '-1', '--format=%B', 'casefile/grosse-falsch-1'),
    /^Größe, falsch! \(session 1\)[\s\S]*Casefile-Session: .*\/1 plan=/,
  )
  const trail = trailOf(service, ref)
  t.match(trail, /session_created .*isolation=worktree/)
  t.match(trail, new RegExp(`worktree_made branch=casefile/grosse-falsch-1 base=${base}`))
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
  t.match(git(root, 'status', '--short'), / M src\/a\.txt\n\?\? \.worktreeinclude\n/)
  t.match(await must(service, 'GET', ref.path), { worktree: { state: 'applied', ahead: 0 } })
  t.match(await service.request('POST', `${ref.path}/apply`, {}), {
    status: 422,
    json: { code: 'wrong_state' },
  })
  t.match(await must(service, 'POST', `${ref.path}/discard`, {}), {
    branch_kept: null,
    commits_kept: 0,
  })
  t.notOk(existsSync(tree))
  t.equal(git(root, 'worktree', 'list').trim().split('\n').length, 1)
  t.equal(git(root, 'branch', '--list', 'casefile/*'), '')
  t.match(await must(service, 'GET', ref.path), { worktree: { state: 'missing', path: null } })
  t.strictSame(await listed(service), [])
  const history = readFileSync(service.file(ref.case_id, 'history.md'), 'utf8')
  t.match(
    history,
    /session 1 applied \(commit [0-9a-f]{12}\) · branch casefile\/grosse-falsch-1 into main/,
  )
  t.match(history, /session 1 worktree discarded · branch casefile\/grosse-falsch-1 removed/)
  t.strictSame(readdirSync(join(service.stateDir, 'worktrees')), [])
  t.strictSame(service.log, [])
})

t.test('what keeps a working folder from isolation is said before approval', async (t) => {
  const service = await withRepository(t, '')
  const { root } = service
  git(root, 'worktree', 'add', '-q', '--detach', join(root, 'away'))
  const made: Record<string, () => void> = {
    unborn() {
      mkdirSync(join(root, 'unborn'))
      git(join(root, 'unborn'), 'init', '-q')
    },
    submodules() {
      const [inner, outer] = [join(root, 'inner'), join(root, 'submodules')]
      for (const folder of [inner, outer]) {
        mkdirSync(folder)
        git(folder, 'init', '-q')
        write(folder, { a: '1\n' })
        commit(folder)
      }
      git(outer, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'lib')
      commit(outer)
    },
    lfs() {
      const folder = join(root, 'lfs')
      mkdirSync(folder)
      git(folder, 'init', '-q')
      write(folder, { 'art/.gitattributes': '*.psd filter=lfs diff=lfs -text\n' })
      commit(folder)
    },
    new() {
      write(root, { 'new/a': '1\n' })
    },
  }
  for (const make of Object.values(made)) make()
  const reasons: [workdir: string, reason: RegExp][] = [
    ['unborn', /the repository has no commit yet\. Make the first commit/],
    ['submodules', /has submodules \(lib\)/],
    ['lfs', /git-lfs\. Work without isolation/],
    ['new', /the folder new is in no commit\. Commit it/],
    ['memory', /part of the record|ignored by the git repository/],
  ]
  for (const [workdir, reason] of reasons) {
    await t.test(workdir, async (t) => {
      const { id } = await service.newCase({ workdir })
      const body = { type: 'implementing', isolation: 'worktree' }
      const answer = await service.request('POST', `/cases/${id}/sessions`, body)
      t.match(answer, { status: 422, json: { code: 'isolation_impossible', detail: reason } })
    })
  }
  await t.test('no longer possible when it is approved', async (t) => {
    const ref = await planned(service, { runbook: step('true'), fields: { isolation: 'worktree' } })
    git(root, 'branch', 'casefile')
    const page = (await service.request('GET', `/case/${ref.case_id}/session/1`)).text
    t.match(page, /a branch named casefile keeps git from making branches/)
    const answer = await service.request('POST', `${ref.path}/approve`)
    t.match(answer, { status: 422, json: { code: 'isolation_impossible' } })
    t.match(await must(service, 'GET', ref.path), { state: 'plan_ready' })
    git(root, 'branch', '-D', 'casefile')
    const { session } = await finished(service, ref)
    t.match(session, { state: 'complete', worktree: { ahead: 0, head: session.worktree.base } })
    t.match(await must(service, 'POST', `${ref.path}/discard`), { branch_kept: null })
  })
  await t.test('which isolation applies', async (t) => {
    const { id } = await service.newCase({ isolation: 'worktree' })
    const start = async (body: object) =>
      (await must(service, 'POST', `/cases/${id}/sessions`, { type: 'implementing', ...body }))
        .isolation
    t.equal(await start({}), 'worktree', 'of the case')
    t.equal(await start({ isolation: 'none' }), null, 'of the request')
    t.match(await service.request('POST', '/cases', { title: 'x', isolation: 'vm' }), {
      status: 400,
    })
    writeFileSync(join(root, 'casefile.md'), '---\nisolation: worktree\n---\n')
    const other = await service.newCase({})
    t.match(
      await must(service, 'POST', `/cases/${other.id}/sessions`, { type: 'implementing' }),
      { isolation: 'worktree' },
      'of casefile.md',
    )
    rmSync(join(root, 'casefile.md'))
  })
})

t.test('a subfolder, and a worktree of the user as working folder', async (t) => {
  const service = await withRepository(t)
  const { root } = service
  write(root, { '.gitignore': '/memory/\n/mine/\n', 'pkg/x.txt': 'x\n' })
  commit(root)
  git(root, 'worktree', 'add', '-q', '-b', 'topic', join(root, 'mine'))
  write(join(root, 'mine'), { 'only.txt': 'topic\n' })
  commit(join(root, 'mine'))
  const script = 'pwd; ls; echo y >> x.txt'
  const inner = await planned(service, { runbook: step(script), fields: { workdir: 'pkg' } })
  const { session } = await finished(service, inner)
  t.match(session.output, new RegExp(`${inner.id}/pkg\nx.txt\n`))
  t.match(session.diff, { file: 'x.txt', additions: 1 })
  await must(service, 'POST', `${inner.path}/apply`)
  t.equal(readFileSync(join(root, 'pkg/x.txt'), 'utf8'), 'x\ny\n')
  const own = await planned(service, {
    runbook: step('cat only.txt; echo more >> only.txt; git branch --show-current'),
    fields: { workdir: 'mine', title: '日本' },
  })
  const { session: second } = await finished(service, own)
  t.match(second, {
    state: 'complete',
    diff: { file: 'only.txt' },
    worktree: { onto: 'topic', ahead: 1 },
  })
  t.match(second.worktree.branch, new RegExp(`^casefile/${own.case_id.slice(0, 8)}-1$`))
  await must(service, 'POST', `${own.path}/apply`)
  t.equal(readFileSync(join(root, 'mine/only.txt'), 'utf8'), 'topic\nmore\n')
  t.equal(git(join(root, 'mine'), 'status', '--short'), '')
  t.equal(git(root, 'log', '-1', '--format=%s', 'main'), 'A case (session 1)\n', 'another branch')
})

t.test('conflicts and uncommitted changes change nothing, and are named', async (t) => {
  const service = await withRepository(t)
  const { root } = service
  const ref = await planned(service, {
    runbook: step('echo session >> src/a.txt; echo n > new.txt'),
  })
  const { session } = await finished(service, ref)
  const refusedBy = async (files: string[], detail: RegExp) => {
    const before = git(root, 'status', '--porcelain') + git(root, 'rev-parse', 'HEAD')
    const answer = await service.request('POST', `${ref.path}/apply`)
    t.match(answer, { status: 409, json: { code: 'merge_conflict', files, detail } })
    t.equal(git(root, 'status', '--porcelain') + git(root, 'rev-parse', 'HEAD'), before)
  }
  write(root, { 'new.txt': 'mine\n' })
  await refusedBy(['new.txt'], /uncommitted changes on main/)
  rmSync(join(root, 'new.txt'))
  write(root, { 'src/a.txt': 'mine\n' })
  await refusedBy(['src/a.txt'], /uncommitted changes on main/)
  commit(root)
  await refusedBy(['src/a.txt'], /both changed src\/a\.txt/)
  t.match(await must(service, 'GET', '/worktrees'), [
    { ahead: 1, behind: 1, conflicts: ['src/a.txt'], case_id: ref.case_id, number: 1 },
  ])
  const page = (await service.request('GET', `/case/${ref.case_id}/session/1`)).text
  t.match(page, /It conflicts with main in src\/a\.txt\./)
  const discarded = await must(service, 'POST', `${ref.path}/discard`)
  t.strictSame(discarded, { branch_kept: session.worktree.branch, commits_kept: 1 })
  t.equal(git(root, 'show', `${session.worktree.branch}:new.txt`), 'n\n', 'its commit is not lost')
  t.match(await service.request('POST', `${ref.path}/discard`), { status: 422 })
})

t.test('nothing that exists only in the worktree is removed', async (t) => {
  const service = await withRepository(t)
  const { root } = service
  write(root, { '.worktreeinclude': 'local.txt\nlink-*\n', 'local.txt': 'local\n' })
  symlinkSync('/etc/passwd', join(root, 'link-out'))
  symlinkSync('src/a.txt', join(root, 'link-in'))
  const script = 'ls; mkdir inner; cd inner; git init -q; echo deep > deep.txt'
  const ref = await planned(service, { runbook: step(script) })
  const { session } = await finished(service, ref)
  const { branch } = session.worktree
  t.match(session.output, /link-in\nlocal\.txt\n/)
  t.match(trailOf(service, ref), /left_out=\["link-out"\]|left_out=.*link-out/)
  t.match(session.worktree, { uncommitted: ['inner/'], ahead: 0 })
  t.match(await service.request('POST', `${ref.path}/discard`), {
    status: 422,
    json: { code: 'wrong_state', files: ['inner/'] },
  })
  const tree = worktreeOf(service, ref)
  t.equal(readFileSync(join(tree, 'inner/deep.txt'), 'utf8'), 'deep\n')
  rmSync(join(tree, 'inner'), { recursive: true })
  write(tree, { 'late.txt': 'late\n', 'local.txt': 'changed\n' })
  t.match(await service.request('POST', `${ref.path}/apply`), {
    status: 422,
    json: { files: ['late.txt', 'local.txt'] },
  })
  t.match(await service.request('POST', `${ref.path}/discard`), {
    status: 422,
    json: { files: ['local.txt'] },
  })
  write(tree, { 'local.txt': 'local\n' })
  t.match(await must(service, 'POST', `${ref.path}/discard`), {
    branch_kept: branch,
    commits_kept: 1,
  })
  t.equal(git(root, 'show', `${branch}:late.txt`), 'late\n')
  t.throws(() => git(root, 'show', `${branch}:local.txt`), 'a copy is not committed')
})

t.test('the record in the repository is not changed by a branch', async (t) => {
  const service = await openTestService(t, { files: { 'a.txt': 'a\n' } })
  const { root } = service
  git(root, 'init', '-q', '-b', 'main')
  const ref0 = await service.newCase({ title: 'Stored' })
  commit(root)
  const script = `echo x >> memory/cases/${ref0.id}/case.md; echo y > y.txt`
  const ref = await planned(service, { runbook: step(script), fields: { isolation: 'worktree' } })
  const { session } = await finished(service, ref)
  t.match(session.diff, { file: 'y.txt', additions: 1 }, 'and not its copy of the record')
  t.equal(git(root, 'show', '--format=', '--name-only', session.worktree.branch), 'y.txt\n')
  await must(service, 'POST', `${ref.path}/discard`)
  const forced = await planned(service, {
    runbook: step(`${script}; git add -A -f; git -c user.name=a -c user.email=b commit -qm z`),
    fields: { isolation: 'worktree' },
  })
  await finished(service, forced)
  t.match(await service.request('POST', `${forced.path}/apply`), {
    status: 422,
    json: { code: 'record_on_branch', files: [`memory/cases/${ref0.id}/case.md`] },
  })
})

const evil = '-c user.name=e -c user.email=e@e'

t.test('a hostile session damages neither the repository nor other branches', async (t) => {
  t.setTimeout(600_000) // six attacks of at most 120 s, each on the repository as the one before left it
  const service = await withRepository(t)
  const { root } = service
  const other = await planned(service, { runbook: step('echo good > good.txt') })
  const { session: good } = await finished(service, other)
  const refs = () => git(root, 'for-each-ref')
  const before = refs()
  const config = readFileSync(join(root, '.git/config'), 'utf8')
  const attacks: [name: string, script: string, reason: RegExp | null][] = [
    [
      'other branches',
      `echo bad > bad.txt; git add -A; git ${evil} commit -qm bad; git update-ref refs/heads/main HEAD; git branch -f ${good.worktree.branch} HEAD || true; git update-ref -d refs/heads/${good.worktree.branch} || true; git gc -q --prune=now`,
      null,
    ],
    [
      'an unrelated history',
      `git checkout -q --orphan x; echo bad > bad.txt; git add -A; git ${evil} commit -qm bad; git branch -f casefile/a-case-1-forged HEAD; git symbolic-ref HEAD refs/heads/x`,
      /do not continue/,
    ],
    ['no .git', 'rm -rf .git; echo bad > bad.txt', null],
    [
      'a separate .git',
      `rm -rf .git; git init -q; git config core.fsmonitor 'touch ${root}/pwned'; echo bad > bad.txt`,
      null,
    ],
    [
      'settings and filters',
      `d=$(git rev-parse --absolute-git-dir); git config core.fsmonitor 'touch ${root}/pwned'; git config filter.x.clean 'touch ${root}/pwned; cat'; git config core.hooksPath "$PWD/h"; mkdir h; printf '#!/bin/sh\ntouch ${root}/pwned\n' > h/post-checkout; chmod +x h/*; echo '* filter=x' > .gitattributes; echo bad > bad.txt; rm -f "$d/objects/info/alternates"; mkfifo "$d/objects/info/alternates" || true`,
      null,
    ],
    [
      'through the files of the repository',
      `for f in ${root}/.git/refs/heads/main ${root}/.git/HEAD ${root}/.git/config ${root}/.git/worktrees/*/HEAD; do echo bad > $f || true; done; echo bad > bad.txt`,
      null,
    ],
  ]
  for (const [name, script, reason] of attacks) {
    await t.test(name, { timeout: 120_000 }, async (t) => {
      const ref = await planned(service, { runbook: step(`exec 2>&1; set +e; ${script}\ntrue`) })
      const { session } = await finished(service, ref)
      t.match(session, { state: 'complete', worktree: { ahead: Number } }, session.output)
      const { branch, base, head } = session.worktree
      t.equal(git(root, 'show', `${branch}:bad.txt`), 'bad\n', 'its work is on its own branch')
      t.equal(git(root, 'merge-base', base, head).trim(), base, 'which continues the base')
      t.match(JSON.stringify(session.diff), '"bad.txt"', 'and in the evidence')
      const trail = trailOf(service, ref)
      t.match(trail, /guarded mode=work guard=mount/)
      if (reason) t.match(trail, reason)
      const after = refs()
      t.equal(after.replace(new RegExp(`.*${branch}(?:-[\\w-]+)?\n`, 'g'), ''), before)
      t.notOk(existsSync(join(root, 'pwned')))
      t.equal(readFileSync(join(root, '.git/config'), 'utf8'), config)
      t.equal(git(root, 'fsck', '--no-dangling').trim(), '')
    })
    for (const { session_id, case_id } of await listed(service)) {
      if (session_id !== other.id)
        await service.request('POST', `/cases/${case_id}/sessions/${session_id}/discard`)
    }
    for (const branch of git(root, 'branch', '--list', '--format=%(refname:short)', 'casefile/*')
      .trim()
      .split('\n'))
      if (branch !== good.worktree.branch) git(root, 'branch', '-q', '-D', branch)
  }
  t.equal(refs(), before)
})

t.test('an agent is trusted by the files of the working folder', async (t) => {
  t.teardown(() => {})
  const agents = {
    works: { plan: says(LIST_PLAN), work: 'pwd > where.txt; cat CLAUDE.md >> where.txt' },
  }
  const service = await openTestService(t, {
    files: { ...agentFiles(agents), 'CLAUDE.md': 'Be kind.\n' },
    trust: true,
  })
  committed(service.root)
  const { id: case_id } = await service.newCase({ isolation: 'worktree' })
  const body = { type: 'implementing', provider: 'works' }
  const { id } = await must(service, 'POST', `/cases/${case_id}/sessions`, body)
  const ref = { case_id, id, path: `/cases/${case_id}/sessions/${id}` }
  await reaches(service, ref, 'plan_ready')
  const { session } = await finished(service, ref)
  t.match(session, { state: 'complete', diff: { file: 'where.txt' } }, session.output)
  const made = git(service.root, 'show', `${session.worktree.branch}:where.txt`)
  t.equal(made, `${worktreeOf(service, ref)}\nBe kind.\n`)
})
