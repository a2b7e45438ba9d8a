import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { GitError } from '../../src/git/git-error.ts'
import { AppError } from '../../src/model/app-error.ts'
import { stopFor } from '../../src/sync/sync-stop.ts'
import { commandsHere } from '../fixtures/cli-here.ts'
import { git, must } from '../fixtures/session-client.ts'
import { makeOrigin, openSyncedClone } from '../fixtures/synced-clones.ts'

const PROOF = 'proof/11111111-2222-4333-8444-555555555555.md'

t.test('why nothing is shared', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'Title' })
  await a.sync()
  const inGit = (name: string) => join(a.memory, '.git', name)

  await t.test('a file that cannot be read', async (t) => {
    const before = a.git('rev-parse', 'HEAD')
    const good = a.read('cases', id, 'case.md')
    for (const folder of ['sessions', 'proof']) mkdirSync(a.path('cases', id, folder))
    a.write(`<<<<<<< ours\n${good}=======\n${good}>>>>>>> theirs\n`, 'cases', id, 'case.md')
    a.write('---\ntype: [\n---\n', 'cases', id, PROOF)
    writeFileSync(a.path('cases', id, 'sessions/1.md'), Buffer.from([0xff, 0xfe]))
    const broken = { state: 'stopped', code: 'broken_file' }
    const { reason, ...stopped } = await a.sync()
    t.match(stopped, { ...broken, committed: null })
    t.match(reason, `cases/${id}/case.md cannot be shared: `)
    t.match(reason, '(and 2 more files). Nothing was committed.')
    a.write(good, 'cases', id, 'case.md')
    rmSync(a.path('cases', id, PROOF))
    t.match((await a.sync()).reason, 'sessions/1.md cannot be shared: it is not UTF-8.')
    t.equal(a.git('rev-parse', 'HEAD'), before)
    a.git('add', '.')
    a.git('commit', '-qm', 'by hand')
    rmSync(a.path('cases', id, 'sessions/1.md'))
    a.write('by hand\n', 'cases', id, 'sessions/2.md')
    t.match(await a.sync(), { state: 'in_sync' }, 'what is mended since, and a file by hand, can')
  })

  await t.test('another git, or a save, is under way', async (t) => {
    writeFileSync(inGit('index.lock'), '')
    t.match(await a.sync(), { state: 'in_sync' }, 'if there is something to write')
    a.write('one\n', 'cases', id, 'notes.md')
    t.match(await a.sync(), { code: 'git_busy', reason: /index\.lock is there/ })
    t.ok(existsSync(inGit('index.lock')), 'the lock of another git stays')
    rmSync(inGit('index.lock'))
    mkdirSync(inGit('MERGE_HEAD'))
    t.match(await a.sync(), { code: 'unfinished_merge' })
    t.match(
      (await must(a, 'GET', '/sync/compared')).reason,
      /A merge is not finished in .* merge --abort/,
    )
    rmSync(inGit('MERGE_HEAD'), { recursive: true })
  })

  await t.test('git cannot commit', async (t) => {
    a.git('config', 'commit.gpgSign', 'true')
    a.git('config', 'gpg.program', 'no-such-program')
    t.match(await a.sync(), { code: 'commit_failed', reason: /commit.gpgSign.*no-such-program/ })
    const head = a.git('rev-parse', 'HEAD').trim()
    const signer = join(dir, 'signer')
    const commit = `git -C '${a.memory}' -c user.name=a -c user.email=a@a commit-tree -p HEAD -m meanwhile 'HEAD^{tree}'`
    const signed = `echo; echo '[GNUPG:] SIG_CREATED ' >&2; printf signature`
    writeFileSync(
      signer,
      `#!/bin/sh\ncat > /dev/null\ngit -C '${a.memory}' update-ref HEAD $(${commit})\necho >&2; ${signed}\n`,
      { mode: 0o755 },
    )
    a.git('config', 'gpg.program', signer)
    t.match(await a.sync(), { code: 'files_changing', committed: null })
    t.equal(a.git('log', '-1', '--format=%s').trim(), 'meanwhile', 'a commit made meanwhile stays')
    a.git('reset', '--quiet', '--soft', head)
    a.git('config', '--unset', 'commit.gpgSign')
    git(a.path('cases', id), 'init', '--quiet', 'sub')
    t.match(await a.sync(), { code: 'commit_failed', reason: /does not have a commit checked out/ })
    rmSync(a.path('cases', id, 'sub'), { recursive: true })
  })

  await t.test('the remote refuses it: the commit stays', async (t) => {
    const hook = join(dir, 'origin.git', 'hooks', 'pre-receive')
    writeFileSync(hook, '#!/bin/sh\necho you may not >&2\nexit 1\n', { mode: 0o755 })
    const refused = { code: 'push_failed', reason: /declined\)?: you may not\. .*stay here/s }
    t.match(await a.sync(), { ...refused, committed: { files: 1 }, sent: { commits: 0 } })
    const last = { state: 'stopped', code: 'push_failed' }
    t.match(await must(a, 'GET', '/sync/compared'), {
      ahead: 1,
      uncommitted: 0,
      reason: null,
      last,
    })
    rmSync(hook)
    t.match(await a.sync(), { state: 'in_sync', committed: null, sent: { commits: 1 } })
  })

  await t.test('the branch or its remote is missing', async (t) => {
    a.git('checkout', '-q', '--detach')
    t.match(await a.sync(), { code: 'detached_head' })
    t.match(await must(a, 'GET', '/sync/compared'), {
      reason: /No branch is checked out/,
      branch: null,
    })
    a.git('checkout', '-q', 'main')
    a.git('branch', '-q', 'local')
    a.git('branch', '-q', '-u', 'local')
    t.match(await a.sync(), { code: 'no_remote', reason: /upstream of the branch main is local/ })
    a.git('branch', '-q', '-u', 'origin/main')
    a.git('remote', 'set-url', 'origin', 'https://ada:s3cret@127.0.0.1:1/x.git')
    const unreachable = await a.sync({ dry_run: true })
    t.match(unreachable, { code: 'fetch_failed', reason: /^origin cannot be reached: / })
    t.notMatch(unreachable.reason, /s3cret|committed/)
    a.git('remote', 'remove', 'origin')
    t.match(await a.sync(), { code: 'no_remote', reason: /remote add origin/ })
  })

  await t.test('of two remotes, the one of the branch is used, else origin', async (t) => {
    for (const name of ['backup', 'second']) {
      git(dir, 'init', '--quiet', '--bare', '--initial-branch=main', `${name}.git`)
      a.git('remote', 'add', name, join(dir, `${name}.git`))
    }
    t.match(await must(a, 'GET', '/sync/compared'), { upstream: 'backup/main' })
    a.git('remote', 'add', 'origin', join(dir, 'origin.git'))
    a.write('two\n', 'cases', id, 'notes.md')
    t.match(await a.sync(), { state: 'in_sync', upstream: 'origin/main', sent: { commits: 1 } })
    a.git('config', 'branch.main.remote', 'second')
    a.git('config', 'branch.main.merge', 'refs/heads/cases')
    const all = Number(a.git('rev-list', '--count', 'HEAD'))
    t.match(await must(a, 'GET', '/sync/compared'), { upstream: 'second/cases', ahead: all })
    t.match(await a.sync(), { upstream: 'second/cases', sent: { commits: all, cases: [{ id }] } })
    const heads = git(join(dir, 'second.git'), 'for-each-ref', '--format=%(refname)')
    t.equal(heads, 'refs/heads/cases\n')
  })
})

t.test('what others have pushed', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  const { id } = await must(a, 'POST', '/cases', { title: 'One' })
  await a.sync()
  const b = await openSyncedClone(t, { dir, name: 'b' })
  const pushByHand = (...paths: string[]) => {
    a.git('add', '--all', ...paths)
    a.git('commit', '-qm', 'by hand')
    a.git('push', '-q')
  }

  await t.test('a file that cannot be read is received, and named', async (t) => {
    mkdirSync(a.path('cases', id, 'proof'))
    a.write('---\ntype: [\n---\n', 'cases', id, PROOF)
    pushByHand()
    const broken = [{ file: `cases/${id}/${PROOF}` }]
    const target = join(b.memory, '.git', 'casefile-sync-target')
    mkdirSync(target)
    t.match(await b.sync(), { code: 'disk_failed', received: { commits: 0 } })
    t.notOk(existsSync(b.path('cases', id, PROOF)), 'if its note cannot be written, no file moves')
    rmSync(target, { recursive: true })
    t.match(await b.sync(), { state: 'conflicts', broken, received: { commits: 1 } })
    t.match(await b.sync(), { state: 'in_sync', broken: [] }, 'once')
    rmSync(b.path('cases', id, PROOF))
    t.match(await b.sync(), { state: 'in_sync' })
    t.match(await a.sync(), { state: 'in_sync' })
  })

  await t.test('a git repository stops it here, and does no harm there', async (t) => {
    const sub = a.path('cases', id, 'sub')
    git(dir, 'init', '-q', sub)
    git(sub, 'commit', '-q', '--allow-empty', '-m', 'x')
    const before = a.git('rev-parse', 'HEAD')
    const refused = { code: 'nested_repository', reason: `cases/${id}/sub is a git repository` }
    t.match(await a.sync(), refused)
    t.equal(a.git('rev-parse', 'HEAD'), before)
    pushByHand()
    b.write('b\n', 'cases', id, 'b.md')
    t.match(await b.sync(), { state: 'in_sync' })
    t.strictSame(readdirSync(b.path('cases', id, 'sub')), [], 'an empty folder, as with git')
    rmSync(b.path('cases', id, 'sub'), { recursive: true })
    t.match(await b.sync(), { state: 'in_sync' })
    t.match(await a.sync(), { state: 'in_sync', received: { commits: 3 } })
    t.ok(existsSync(join(sub, '.git')), 'removed there, it stays here, and is refused')
    t.match(await a.sync(), refused)
    renameSync(sub, `${dir}/sub`)
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.tree(), b.tree())
  })

  await t.test('a filter of git on markdown stops it, on other files it works', async (t) => {
    for (const clone of [a, b]) {
      clone.git('config', 'filter.turned.clean', 'tr a-z n-za-m')
      clone.git('config', 'filter.turned.smudge', 'tr a-z n-za-m')
    }
    const plain = a.read('.gitattributes')
    a.write(`${plain}*.log filter=turned\n`, '.gitattributes')
    a.write('hello\n', 'cases', id, 'run.log')
    t.match(await a.sync(), { state: 'in_sync' })
    t.equal(a.git('cat-file', 'blob', `HEAD:cases/${id}/run.log`), 'uryyb\n')
    t.match(await b.sync(), { state: 'in_sync' })
    t.equal(b.read('cases', id, 'run.log'), 'hello\n')

    const before = a.git('rev-parse', 'HEAD')
    a.write('hello\n', 'cases', id, 'notes.md')
    const attributes = ['filter=turned', 'ident', 'working-tree-encoding=latin1']
    for (const attribute of attributes) {
      a.write(`${plain}*.md ${attribute}\n`, '.gitattributes')
      const { code, reason } = await a.sync()
      t.equal(code, 'filtered_file')
      t.match(reason, `.md has the git attribute ${attribute}: `)
    }
    t.equal(a.git('rev-parse', 'HEAD'), before, 'nothing is committed')
    a.write(`${plain}*.md filter=turned\n`, '.gitattributes')
    pushByHand()
    t.match(await b.sync(), { code: 'filtered_file' }, 'what others pushed is not merged')
    t.notOk(existsSync(b.path('cases', id, 'notes.md')))
    b.git('pull', '-q')
    t.match(await b.sync(), { state: 'in_sync' }, 'what git merged stays')
    t.equal(b.read('cases', id, 'notes.md'), 'hello\n')
  })
})

t.test('git or the disk fails: nothing was pushed, and it says so once', async (t) => {
  const dir = makeOrigin(t)
  const a = await openSyncedClone(t, { dir, name: 'a' })
  await must(a, 'POST', '/cases', { title: 'One' })
  const { root, stateDir } = a
  const cli = commandsHere(t, { root, env: { CASEFILE_STATE_DIR: stateDir } })
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  const fake = `#!/bin/sh
case "$*" in *write-tree*) echo 'fatal: unable to write the tree' >&2; exit 128 ;; esac
PATH='${process.env.PATH}' exec git "$@"
`
  writeFileSync(join(bin, 'git'), fake, { mode: 0o755 })
  await a.close()
  const failed = await cli.runWith({ env: { PATH: bin } }, 'sync')
  t.match(failed, { code: 2, stderr: '' })
  const said = 'Nothing was pushed. git write-tree failed: unable to write the tree.'
  t.match(failed.stdout.replace(/\s+/g, ' '), said)
  rmSync(join(stateDir, 'sync.json'))
  mkdirSync(join(stateDir, 'sync.json'))
  t.match(await cli.run('sync'), { code: 0, stdout: /In sync/, stderr: /was not noted/ })
})

t.test('which errors are reasons to stop', async (t) => {
  const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'write',
  })
  t.match(stopFor(full), { code: 'disk_failed', message: /ENOSPC.*Free space/ })
  t.match(stopFor(new AppError('storage_full', 'Full.')), { code: 'disk_failed', message: 'Full.' })
  t.match(stopFor(new GitError('git cat-file was ended by SIGKILL')), { code: 'git_failed' })
  const missing = Object.assign(new Error('git was not found on the PATH'), {
    code: 'ENOENT',
    syscall: 'spawn git',
  })
  t.match(stopFor(missing), { code: 'git_failed', message: /Git cannot be started \(/ })
  t.equal(stopFor(new TypeError('x is not a function')), null)
})
