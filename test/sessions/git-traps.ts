// A run can write to its working folder. What it leaves there must not make the service start a program.
import { execFileSync } from 'node:child_process'
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
import { redirectsAside, setAside } from '../../src/snapshots/git-redirects.ts'
import { inLongLane, isLong } from '../fixtures/full.ts'
import { commit, git } from '../fixtures/git-repository.ts'
import { must, ran, step } from '../fixtures/session-client.ts'
import { printedBy, recordOf } from '../fixtures/session-record.ts'
import { openTestService } from '../fixtures/workspace.ts'

const FILES = { 'a.txt': 'one\n', sub: { 'b.txt': 'two\n' }, '.gitignore': '/memory/\n' }
const isolation = 'worktree'

/** A repository, and the commands that set traps in one. */
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
  const noneSprung = (t: Test) =>
    t.notOk(existsSync(sprung), existsSync(sprung) ? readFileSync(sprung, 'utf8') : '')
  /** Sets them as a run would that ended before. */
  const leave = (folder: string, script: string) => {
    execFileSync('sh', ['-ec', script], { cwd: folder, stdio: 'pipe' })
    rmSync(sprung, { force: true })
  }
  return { service, set, leave, sprung, noneSprung }
}

t.test('in mounts', inLongLane, async (t) => {
  const { service, set, leave, sprung, noneSprung } = await scene(t, true)
  const dotGit = join(service.root, '.git')
  const read = (name: string) => readFileSync(join(dotGit, name), 'utf8')

  await t.test('a run cannot write what git starts programs by, nor make it', async (t) => {
    const config = read('config')
    for (const path of ['modules/lib', 'modules/lib/sub', 'worktrees/other'])
      git(service.root, 'init', '-q', '--bare', join('.git', path))
    const closed = ['objects/info/alternates', 'worktrees/other/config.worktree']
    for (const path of closed) writeFileSync(join(dotGit, path), '')
    for (const folder of [dotGit, join(dotGit, 'modules/lib')])
      rmSync(join(folder, 'hooks'), { recursive: true })
    symlinkSync('../githooks', join(dotGit, 'hooks'))
    const script = `exec 2>&1; set +e
${set('.')}
echo '[core]' >> .git/config
rm -f .git/config
mv .git .git2
for each in ${closed.join(' ')} modules/lib/sub/config
do rm -f .git/$each; echo ../mine > .git/$each; mv .git/$each .git/other; done
missing='.git/config.worktree .git/modules/lib/config.worktree .git/modules/lib/objects/info/alternates'
for each in $missing; do rm -f $each; echo mine > $each; done
mkdir githooks; echo 'touch x' > githooks/post-commit
for each in .git .git/modules/lib
do mkdir -p $each/hooks; printf 'touch x' > $each/hooks/post-commit; cat $each/hooks/*; done
cat $missing .git/modules/lib/sub/config; true`
    const { session } = await ran(service, step(script))
    if (/guard=comparison/.test(recordOf(service, session))) {
      t.pass('skipped: there are no mounts here')
      return
    }
    t.match(session, { state: 'complete', findings: { runs_later: [] } }, session.output)
    t.notMatch(printedBy(service, session), /mine|touch x/)
    t.equal(read('config'), config)
    for (const path of closed) t.equal(read(path), '')
    rmSync(join(dotGit, 'info/attributes'))
    git(service.root, 'config', 'extensions.worktreeConfig', 'true')
    t.equal(git(service.root, 'status', '--short', '-uno'), '')
  })

  for (const fields of isLong ? [{}, { isolation }] : [{ isolation }])
    await t.test(`a run that redirects git is ended ${JSON.stringify(fields)}`, async (t) => {
      const script = `here=$(git rev-parse --git-dir); cp -r "$here" .g
printf '#!/bin/sh\necho >> ${sprung}' > .g/evil; chmod +x .g/evil
git config -f .g/config core.fsmonitor "$PWD/.g/evil"; echo ../.g > "$here/link"; mv "$here/link" "$here/commondir"`
      const plan = `${step(script)}\n\n${step(`echo >> '${sprung}'`)}`
      const { session, ref, events } = await ran(service, plan, { fields })
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
      const names = readdirSync(dotGit)
      t.strictSame(
        names.filter((name) => name.startsWith('commondir')),
        [],
      )
      git(service.root, 'status')
      noneSprung(t)
    })

  await t.test('a link is no way round, and a redirect of yours stays', async (t) => {
    git(service.root, 'init', '-q', '--bare', '.git/modules/own')
    writeFileSync(join(dotGit, 'modules/own/commondir'), '.\n')
    const as = '-c user.name=a -c user.email=a@a'
    const works = `echo 3 > a.txt; git add a.txt; git ${as} commit -qm own; git switch -qc other; git stash list`
    const script = `${works}; ln -s /tmp .git/modules/lib/commondir`
    const { session } = await ran(service, step(script))
    t.match(session, { state: 'failed', failure: /it wrote \.git\/modules\/lib\/commondir/ })
    t.equal(git(service.root, 'log', '--format=%s', '-1', 'other').trim(), 'own', 'git works')
    t.equal(read('modules/own/commondir'), '.\n')
    const names = readdirSync(join(dotGit, 'modules/lib'))
    t.strictSame(
      names.filter((name) => name.startsWith('commondir')),
      [`commondir.${session.id}.1`],
      'kept beside it',
    )
  })

  await t.test('a repository that a run makes in its folder starts no program', async (t) => {
    const sub = join(service.root, 'sub')
    const as = '-c user.name=a -c user.email=a@a'
    leave(sub, `git init -q .; ${set('.')}; git add .; git ${as} commit -qm own`)
    writeFileSync(join(sub, 'b.txt'), 'changed\n')
    const fields = { workdir: 'sub' }
    const { session } = await ran(service, step('echo more >> b.txt'), { fields })
    t.equal(session.state, 'complete', session.output)
    await must(service, 'GET', approvalOf(session))
    noneSprung(t)
  })

  await t.test('a named pipe that git would wait for forever holds no run', async (t) => {
    const cause = /waited for a named pipe in place of a file/
    const nested = await ran(service, step('mkfifo sub/.gitignore; rm -f sub/b.txt'))
    t.match(recordOf(service, nested.session), cause, 'no diff, which says why')
    rmSync(join(service.root, 'sub/.gitignore'))
    const { session } = await ran(service, step('mkfifo .git/refs/heads/x'))
    t.match(session, { state: 'failed', failure: cause })
    rmSync(join(dotGit, 'refs/heads/x'))
  })
})

t.test('without mounts', async (t) => {
  const { service, set, leave, noneSprung } = await scene(t, false)

  await t.test('the service starts no program that the repository names', async (t) => {
    const before = await ran(service, step('echo z > z.txt; echo i >> a.txt'), {
      fields: { title: 'Before', isolation },
    })
    leave(service.root, set('.'))
    appendFileSync(join(service.root, 'a.txt'), 'changed\n')
    const { session } = await ran(service, step('echo more >> sub/b.txt'))
    t.equal(session.state, 'complete', session.output)
    const { changes } = (await must(service, 'GET', approvalOf(session))).folder
    t.match(changes, [{ file: 'a.txt' }])
    const apply = `${before.ref.path}/apply`
    t.match(await service.request('POST', apply), {
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
    noneSprung(t)

    git(service.root, 'config', '--remove-section', 'filter.x')
    git(service.root, 'config', '--remove-section', 'merge.x')
    git(service.root, 'checkout', '-q', 'a.txt')
    await must(service, 'POST', apply)
    git(service.root, 'checkout', '-q', '.')
    git(service.root, 'clean', '-qfd')
  })

  await t.test('git of the service enters no repository that a run left', async (t) => {
    const as = '-c user.name=a -c user.email=a@a'
    const script = `git init -q inner; cd inner; echo f > f; git add f; git ${as} commit -qm f; cd ..
git add inner; git ${as} commit -qm outer
printf '[submodule "inner"]\\npath = inner\\nurl = x\\nignore = none\\n' > .gitmodules
git config submodule.inner.ignore none
cd inner; ${set('.')}; touch -d 2001-01-01 f`
    for (const fields of isLong ? [{ isolation }, {}] : [{}]) {
      const { session, ref } = await ran(service, step(script), { fields })
      t.equal(session.state, 'complete', session.output)
      await must(service, 'GET', ref.path)
      await service.request('POST', `${ref.path}/apply`)
      const { changes } = (await must(service, 'GET', approvalOf(session))).folder
      if (!('isolation' in fields)) t.match(changes, [{ file: '.gitmodules', kind: 'untracked' }])
      noneSprung(t)
    }
  })

  await t.test('of a damaged repository the session says what is wrong', async (t) => {
    const dotGit = join(service.root, '.git')
    writeFileSync(join(dotGit, 'index'), 'broken')
    const { session } = await ran(service, step('true'))
    const output = /^The run stopped: git .*\.git\/index is damaged: remove it, then run git reset/
    t.match(session, { state: 'failed', output })
    rmSync(join(dotGit, 'index'))
    rmSync(join(dotGit, 'HEAD'))
    const { reason } = (await must(service, 'GET', approvalOf(session))).folder
    t.match(reason, /git cannot use \.git here: its HEAD, refs or objects are missing/)
  })
})

t.test('a second redirect does not take the place of the first one', async (t) => {
  const folder = { path: t.testdir({ commondir: 'one' }), name: '.git' }
  t.ok(await setAside(folder, 'run'))
  writeFileSync(join(folder.path, 'commondir'), 'two')
  t.ok(await setAside(folder, 'run'))
  const found = await redirectsAside(folder, 'run')
  t.strictSame(found.map(({ content }) => content).sort(), ['one', 'two'])
})

function approvalOf({ case_id, id }: { case_id: string; id: string }): string {
  return `/cases/${case_id}/sessions/${id}/approval`
}
