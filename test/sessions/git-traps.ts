// A run can write to its working folder. What it leaves there must not make the service start a program.
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { repositoryState } from '../../src/snapshots/repository-state.ts'
import { commit, git } from '../fixtures/git-repository.ts'
import { finished, must, planned, ran, step } from '../fixtures/session-client.ts'
import { openTestService } from '../fixtures/workspace.ts'

const FILES = { 'a.txt': 'one\n', sub: { 'b.txt': 'two\n' }, '.gitignore': '/memory/\n' }
const isolation = 'worktree'

async function scene(t: Test, mount: boolean) {
  const service = await openTestService(t, { files: FILES, mount })
  git(service.root, 'init', '-q', '-b', 'main')
  commit(service.root)
  const outside = mkdtempSync(join(tmpdir(), 'casefile-trap-'))
  t.teardown(() => rmSync(outside, { recursive: true, force: true }))
  const sprung = join(outside, 'sprung')
  const trap = `echo sprung >> '${sprung}'; cat`
  const keys = ['filter.x.clean', 'filter.x.smudge', 'filter.x.process']
  const set = (folder: string) =>
    [
      ...keys.map((key) => `git -C ${folder} config ${key} "${trap}"`),
      `git -C ${folder} config merge.x.driver "echo sprung >> '${sprung}'"`,
      `printf '* filter=x merge=x\\n' > "$(git -C ${folder} rev-parse --git-dir)/info/attributes"`,
    ].join('\n')
  return { service, set, sprung, isSprung: () => existsSync(sprung) }
}

t.test('in mounts, a run cannot write what git starts programs by', async (t) => {
  const { service, set } = await scene(t, true)
  const config = readFileSync(join(service.root, '.git/config'), 'utf8')
  for (const path of ['modules/lib/sub', 'worktrees/other']) {
    git(service.root, 'init', '-q', '--bare', join('.git', path))
  }
  const closed = ['config.worktree', 'objects/info/alternates', 'worktrees/other/config.worktree']
  for (const path of closed) writeFileSync(join(service.root, '.git', path), '')
  const script = `exec 2>&1; set +e
${set('.')}
echo '[core]' >> .git/config
rm -f .git/config
mv .git .git2
for each in ${closed.join(' ')} modules/lib/sub/config
do rm -f .git/$each; echo ../mine > .git/$each; mv .git/$each .git/other; done
printf 'touch x' > .git/hooks/post-commit
echo 3 > a.txt; git add a.txt && git -c user.name=a -c user.email=a@a commit -qm own && git switch -qc other && git stash list && echo went`
  const { session } = await ran(service, step(script))
  if (
    /guard=comparison/.test(readFileSync(service.file(session.case_id, 'sessions/1.md'), 'utf8'))
  ) {
    t.pass('skipped: there are no mounts here')
    return
  }
  t.match(session, { state: 'complete', output: /went/ }, session.output)
  t.equal(readFileSync(join(service.root, '.git/config'), 'utf8'), config)
  t.notOk(existsSync(join(service.root, '.git/hooks/post-commit')))
  for (const path of closed) t.equal(readFileSync(join(service.root, '.git', path), 'utf8'), '')
  t.notMatch(readFileSync(join(service.root, '.git/modules/lib/sub/config'), 'utf8'), /mine/)
  t.equal(git(service.root, 'log', '--format=%s', '-1').trim(), 'own')
})

t.test('in mounts, what is missing of that cannot be made', async (t) => {
  const { service } = await scene(t, true)
  const dotGit = join(service.root, '.git')
  git(service.root, 'init', '-q', '--bare', '.git/modules/lib')
  for (const folder of [dotGit, join(dotGit, 'modules/lib')])
    rmSync(join(folder, 'hooks'), { recursive: true })
  symlinkSync('../githooks', join(dotGit, 'hooks'))
  const state = () => repositoryState(service.root, { exclude: [] })
  const before = await state()
  const script = `set +e
for each in .git .git/modules/lib
do mkdir -p $each/hooks; printf 'touch x' > $each/hooks/post-commit
for file in config.worktree objects/info/alternates; do rm -f $each/$file; echo mine > $each/$file; done; done
mkdir githooks; echo 'touch x' > githooks/post-commit
for each in .git .git/modules/lib; do cat $each/hooks/* $each/config.worktree $each/objects/info/alternates; done; true`
  const { session } = await ran(service, step(script))
  t.match(session, { state: 'complete', runs_later: [] }, session.output)
  t.notMatch(session.output, /mine|touch x/)
  t.strictSame(await state(), before, 'no plan takes that for a change')
  git(service.root, 'config', 'extensions.worktreeConfig', 'true')
  t.equal(git(service.root, 'status', '--short', '-uno'), '')
})

for (const fields of [{}, { isolation }])
  t.test(`a run that redirects git is ended ${JSON.stringify(fields)}`, async (t) => {
    const { service, sprung, isSprung } = await scene(t, true)
    const script = `here=$(git rev-parse --git-dir); cp -r "$here" .g
printf '#!/bin/sh\necho >> ${sprung}' > .g/evil; chmod +x .g/evil
git config -f .g/config core.fsmonitor "$PWD/.g/evil"; echo ../.g > "$here/link"; mv "$here/link" "$here/commondir"
exec sleep 1000`
    const { session, ref, events } = await ran(service, step(script), { fields })
    t.match(session, {
      state: 'failed',
      failure: /it wrote \.git\/commondir \(now artifacts\/1-commondir\.txt\), by which git/,
    })
    t.match(events.find(({ event_type }) => event_type === 'git_redirected')?.payload, {
      file: '.git/commondir',
      content: '../.g\n',
      kept: 'artifacts/1-commondir.txt',
    })
    const kept = service.file(ref.case_id, 'artifacts/1-commondir.txt')
    t.equal(readFileSync(kept, 'utf8'), '../.g\n')
    t.strictSame(
      readdirSync(join(service.root, '.git')).filter((name) => name.startsWith('commondir')),
      [],
    )
    git(service.root, 'status')
    t.notOk(isSprung())
    const after = await ran(service, step('echo ok'))
    t.equal(after.session.state, 'complete', after.session.output)
  })

t.test('a link is no way round, and a redirect of yours stays', async (t) => {
  const { service } = await scene(t, true)
  git(service.root, 'init', '-q', '--bare', '.git/modules/lib')
  git(service.root, 'init', '-q', '--bare', '.git/modules/own')
  const own = join(service.root, '.git/modules/own/commondir')
  writeFileSync(own, '.\n')
  const { session } = await ran(service, step('ln -s /tmp .git/modules/lib/commondir; echo on'))
  t.match(session, { state: 'failed', failure: /it wrote \.git\/modules\/lib\/commondir/ })
  t.equal(readFileSync(own, 'utf8'), '.\n')
  const names = readdirSync(join(service.root, '.git/modules/lib'))
  t.strictSame(
    names.filter((name) => name.startsWith('commondir')),
    [`commondir.${session.id}.1`],
    'kept beside it',
  )
})

t.test('without mounts, the service starts no program that the repository names', async (t) => {
  const { service, set, sprung, isSprung } = await scene(t, false)
  const before = await planned(service, {
    runbook: step('echo z > z.txt; echo i >> a.txt'),
    fields: { title: 'Before', isolation },
  })
  await finished(service, before)
  const { session } = await ran(service, step(set('.')))
  t.equal(session.state, 'complete', session.output)
  rmSync(sprung, { force: true }) // the run itself may have
  appendFileSync(join(service.root, 'a.txt'), 'changed\n')
  const { changes } = await must(service, 'GET', `/cases/${session.case_id}/uncommitted`)
  t.match(changes, [{ file: 'a.txt' }])
  t.match(await service.request('POST', `${before.path}/apply`), {
    status: 422,
    json: {
      detail:
        /the configuration of the repository names a program \(filter\.x\.clean\), which a run could have written\./,
    },
  })
  const { id } = await must(service, 'POST', '/cases', { title: 'After', isolation })
  t.match(await service.request('POST', `/cases/${id}/sessions`, { type: 'implementing' }), {
    status: 422,
    json: { code: 'isolation_impossible', detail: /filter\.x\.clean/ },
  })
  await ran(service, step('echo more >> a.txt'))
  t.notOk(isSprung(), isSprung() ? readFileSync(sprung, 'utf8') : '')

  git(service.root, 'config', '--remove-section', 'filter.x')
  git(service.root, 'config', '--remove-section', 'merge.x')
  git(service.root, 'checkout', '-q', 'a.txt')
  await must(service, 'POST', `${before.path}/apply`)
})

t.test('a repository that a run makes in its folder starts none either', async (t) => {
  const { service, set, sprung, isSprung } = await scene(t, true)
  const script = `git init -q .; ${set('.')}; git add .; git -c user.name=a -c user.email=a@a commit -qm own`
  const { session } = await ran(service, step(script), { fields: { workdir: 'sub' } })
  t.equal(session.state, 'complete', session.output)
  rmSync(sprung, { force: true })
  writeFileSync(join(service.root, 'sub/b.txt'), 'changed\n')
  await must(service, 'GET', `/cases/${session.case_id}/uncommitted`)
  await ran(service, step('echo more >> b.txt'), { fields: { workdir: 'sub' } })
  t.notOk(isSprung(), isSprung() ? readFileSync(sprung, 'utf8') : '')
})

t.test('git of the service enters no repository that a run left in its folder', async (t) => {
  const { service, set, sprung, isSprung } = await scene(t, false)
  const as = '-c user.name=a -c user.email=a@a'
  const script = `git init -q inner; cd inner; echo f > f; git add f; git ${as} commit -qm f; cd ..
git add inner; git ${as} commit -qm outer
printf '[submodule "inner"]\\npath = inner\\nurl = x\\nignore = none\\n' > .gitmodules
git config submodule.inner.ignore none
cd inner; ${set('.')}; touch -d 2001-01-01 f`
  for (const fields of [{ isolation }, {}]) {
    const { session, ref } = await ran(service, step(script), { fields })
    t.equal(session.state, 'complete', session.output)
    await must(service, 'GET', ref.path)
    await must(service, 'GET', '/worktrees')
    await service.request('POST', `${ref.path}/apply`)
    const { changes } = await must(service, 'GET', `/cases/${session.case_id}/uncommitted`)
    if (!('isolation' in fields)) t.match(changes, [{ file: '.gitmodules', kind: 'untracked' }])
    t.notOk(isSprung(), isSprung() ? readFileSync(sprung, 'utf8') : '')
  }
  await ran(service, step('echo more >> a.txt'))
  t.notOk(isSprung(), isSprung() ? readFileSync(sprung, 'utf8') : '')
})
