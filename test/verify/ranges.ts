// Which commits are checked, and what of the record has to be there for that.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { mustBeCheckedOut } from '../../src/check/left-out.ts'
import { renumberedSession } from '../../src/markdown/session-renumbering.ts'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import { chooseRange } from '../../src/verify/range.ts'
import { verify } from '../../src/verify/verify-command.ts'
import { layoutOf } from '../../src/workspace/layout.ts'
import { commandsHere } from '../fixtures/cli-here.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'
import {
  attachProof,
  type ClaimedRepository,
  openRepository,
  provedWork,
  repositoryAt,
} from '../fixtures/verify/claimed-work.ts'

const LAST = { range: 'HEAD~1..' }

function wrong(part: string) {
  return { code: 'bad_request', message: part }
}

t.test('of one piece of work', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  const { id: other } = await service.newCase({ title: 'Another case' })
  await service.close()
  const folder = dirname(repo.root)
  const message = `Price\n\n${work.trailer}`
  const uncommitted = repo.copy('uncommitted')
  const session = (repo: ClaimedRepository, number: number) =>
    repo.file(work.ref.case_id, `sessions/${number}.md`)
  repo.git('switch', '--quiet', '--create', 'topic')
  repo.commit(message)

  await t.test('which commits are checked', async (t) => {
    repo.git('switch', '--quiet', 'main')
    const clone = join(folder, 'clone')
    repo.git('clone', '--quiet', '.', clone)
    repo.git('switch', '--quiet', 'topic')
    const here = repositoryAt(clone)
    const choose = (range?: string, environment: NodeJS.ProcessEnv = {}) =>
      chooseRange(range, environment, { cwd: clone })
    const all = { range: 'HEAD', base: null }
    t.strictSame(await choose(), all, 'all, on the default branch')
    here.git('switch', '--quiet', 'topic')
    const found = await here.verify()
    const ahead = { range: 'origin/HEAD..HEAD', commits: [{ subject: 'Price', result: 'passed' }] }
    t.match(found, ahead, 'what origin has not, on another')
    t.equal(found.commits.length, 1)
    const github = await here.verify({}, { GITHUB_BASE_REF: 'main' })
    t.match(github, { range: 'origin/main..HEAD', commits: [{ subject: 'Price' }] })

    const base = here.git('rev-parse', 'origin/main').trim()
    const gitlab = { CI_MERGE_REQUEST_DIFF_BASE_SHA: base }
    t.strictSame(await choose(undefined, gitlab), { range: `${base}..HEAD`, base })
    for (const range of ['v1..v2', '--all', '^HEAD', 'HEAD^{tree}'])
      await t.rejects(choose(range), wrong(`"${range}" names no commits here`), range)
    await t.rejects(here.verify({ range: '' }), wrong('range is empty'))
    await t.rejects(choose('nothing'), { message: /^(?!.*fetch-depth)/ })
    await t.rejects(choose('origin/next..HEAD'), wrong('fetch-depth: 0'))
    await t.rejects(choose(undefined, { GITHUB_BASE_REF: 'next' }), wrong('fetch-depth: 0'))
    const gone = { CI_MERGE_REQUEST_DIFF_BASE_SHA: '1'.repeat(40) }
    await t.rejects(choose(undefined, gone), wrong('GIT_DEPTH: 0'))
    const empty = { range: 'HEAD..HEAD', requireTrailer: true }
    t.match(await here.verify({ range: empty.range }), { commits: [], ok: true })
    await t.rejects(here.verify(empty), wrong('no commits in HEAD..HEAD'))

    const shallow = join(folder, 'shallow')
    repo.git('clone', '--quiet', '--depth', '1', `file://${repo.root}`, shallow)
    t.match(await repositoryAt(shallow).verify({ range: 'HEAD' }), { ok: true, notes: [/shallow/] })
    await t.rejects(chooseRange('HEAD~1..', {}, { cwd: shallow }), wrong('fetch-depth: 0'))
    rmSync(join(shallow, '.git'), { recursive: true })
    await t.rejects(repositoryAt(shallow).verify(), wrong('no commits to verify'))
  })

  await t.test('without the record, a commit that names a session cannot be checked', async (t) => {
    const repo = uncommitted
    writeFileSync(join(repo.root, '.gitignore'), 'memory/\n')
    repo.commit(message)
    const onDisk = { ok: true, notes: [/in no commit.*clone/] }
    t.match(await repo.verify(LAST), onDisk, 'on this disk it can')
    const record = repositoryAt(join(repo.root, 'memory'))
    record.git('init', '--quiet')
    record.commit('Cases')
    const text = readFileSync(session(repo, 1), 'utf8')
    repo.edit(session(repo, 1), /\d+\. \S+ step_finished .*\n/, '')
    const { commits, notes } = await repo.verify(LAST)
    t.strictSame(notes, [], 'one in a repository of its own is compared with that history')
    t.ok(commits[0]!.claims[0]!.failures.some(({ code }) => code === 'seal_broken'))
    const print = () => {}
    t.equal(await verify({ root: repo.root, ...LAST, format: 'text' }, print), 1)
    writeFileSync(session(repo, 1), text)
    t.equal(await verify({ root: repo.root, ...LAST, format: 'text' }, print), 0)

    rmSync(join(repo.root, 'memory'), { recursive: true })
    const cli = commandsHere(t, {
      root: repo.root,
      env: { CASEFILE_STATE_DIR: '', NODE_OPTIONS: '' },
    })
    const said = await cli.run('verify-commits', 'HEAD~1..', '--json')
    const detail = /no record in memory\/.*out/
    t.match(said, { code: 2, json: { code: 'not_found', detail } })
    repo.git('reset', '--quiet', '--hard', 'HEAD~1')
    const nothing = { ok: true, commits: [{ result: 'no_claim' }] }
    t.match(await repo.verify(), nothing, 'nothing is missing if no commit names one')
  })

  await t.test('a record that is not all checked out is neither true nor clean', async (t) => {
    const made = repo.copy('part')
    made.git('reset', '--quiet', '--hard')
    const missing = (why: string) => ({
      code: 'not_found',
      message: new RegExp(`could not be checked: ${why}.* leaves out .*: git `),
    })
    const check = (fix = false) =>
      checkWorkspace({ root: made.root, stateDir: join(folder, 'no-state'), fix }, process.env)
    const layout = layoutOf(made.root, join(made.root, 'memory'))
    const git =
      (...words: string[]) =>
      () =>
        made.git(...words)
    const file = `memory/cases/${work.ref.case_id}/case.md`
    const sparse = 'a sparse checkout'
    const ways: [name: string, make: () => unknown, why: string][] = [
      ['a sparse index', git('sparse-checkout', 'set', '--cone', '--sparse-index', 'src'), sparse],
      [
        'all but the cases',
        git('sparse-checkout', 'set', '--no-cone', '/*', '!/memory/cases/'),
        sparse,
      ],
      [
        'all but the sessions',
        git('sparse-checkout', 'set', '--no-cone', '/*', '!/memory/cases/*/sessions/'),
        sparse,
      ],
      [
        'an entry that git skips',
        () => {
          made.git('sparse-checkout', 'disable')
          made.git('update-index', '--skip-worktree', file)
          rmSync(join(made.root, file))
        },
        sparse,
      ],
      [
        'a record that somebody removed',
        () => {
          made.git('update-index', '--no-skip-worktree', file)
          rmSync(join(made.root, 'memory'), { recursive: true })
        },
        'this working folder',
      ],
    ]
    for (const [name, make, why] of ways) {
      make()
      await t.rejects(mustBeCheckedOut(layout), missing(why), name)
      await t.rejects(mustBeCheckedOut(layout, [`cases/${work.ref.case_id}`]), missing(why), name)
    }
    await t.rejects(made.verify(LAST), missing(''))
    await t.rejects(check(), missing(''))
    await t.rejects(check(true), missing(''), 'and nothing is fixed')
    t.match(await made.verify({ range: 'HEAD~1' }), { ok: true }, 'no commit names one')
    made.git('checkout', '--quiet', 'HEAD', '--', 'memory')
    made.git('update-index', '--skip-worktree', `memory/cases/${other}/case.md`)
    t.strictSame((await check()).findings, [], 'what is there, though git skips it, is checked')
    rmSync(join(made.root, `memory/cases/${other}/case.md`))
    await mustBeCheckedOut(layout, [`cases/${work.ref.case_id}`])
    t.match(await made.verify(LAST), { ok: true }, 'only another case is left out')
    await t.rejects(check(), missing(sparse))

    made.git('rm', '-r', '--quiet', '--cached', '--sparse', 'memory')
    const commit = made.git('rev-parse', 'HEAD').trim()
    made.git('update-index', '--add', '--cacheinfo', `160000,${commit},memory`)
    mkdirSync(layout.memoryRoot, { recursive: true })
    const module = { message: /could not be checked: .*submodule update --init memory/ }
    await t.rejects(mustBeCheckedOut(layout), module)
  })

  await t.test('a session that got another number is found by its plan', async (t) => {
    const text = readFileSync(session(repo, 1), 'utf8')
    const time = new Date().toISOString()
    writeFileSync(session(repo, 2), await renumberedSession(text, { from: 1, to: 2, time }))
    rmSync(session(repo, 1))
    repo.commit('Merge')
    const { commits, ok } = await repo.verify({ range: 'HEAD~2..HEAD~1' })
    t.match(commits[0]!.claims, [{ session: { number: 2 }, failures: { length: 0 } }])
    t.equal(ok, true)
  })
})

t.test('signatures count with the keys of the commit before the range', async (t) => {
  const keys = t.testdir({})
  const path = join(keys, 'eve')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'eve', '-f', path])
  const [kind, key] = readFileSync(`${path}.pub`, 'utf8').split(' ')
  const line = `eve@example.com ${kind} ${key}\n`
  await t.test('not with one that the change itself adds', async (t) => {
    const { service, repo } = await openRepository(t, { allowed_signers: '# nobody\n' })
    writeFileSync(join(repo.root, 'allowed_signers'), line)
    const ref = await planned(service, {
      runbook: `${step('echo 1 > e.js')}\n${step('echo ok 1; echo 1..1', 'sh run id=test proof=tap')}`,
    })
    const { plan_sha256 } = await must(service, 'GET', ref.path)
    const signed_at = new Date().toISOString()
    const file = join(keys, 'statement')
    const approval = { case_id: ref.case_id, session_id: ref.id, plan_sha256, signed_at }
    writeFileSync(file, approvalStatement(approval))
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'casefile', '-f', path, file])
    const signature = { signed_at, ssh: readFileSync(`${file}.sig`, 'utf8') }
    await must(service, 'POST', `${ref.path}/approve`, { plan_sha256, signature })
    await reaches(service, ref, 'complete')
    const { trailer } = await attachProof(service, ref)
    await service.close()
    repo.commit(`First\n\n${trailer}`)
    const { PATH } = process.env
    const old = "#!/bin/sh\necho 'unknown option -- Y' >&2\nexit 1\n"
    writeFileSync(join(keys, 'ssh-keygen'), old, { mode: 0o755 })
    process.env.PATH = `${keys}:${PATH}`
    const unchecked = await repo.verify({ ...LAST, requireSignature: true })
    process.env.PATH = PATH
    const unsigned = { code: 'unsigned', message: /was not checked: this ssh-keygen is too old/ }
    t.match(unchecked, { ok: false, commits: [{ claims: [{ failures: [unsigned] }] }] })
    const first = await repo.verify({ ...LAST, requireSignature: true })
    const unknown = { code: 'unknown_signer', message: /not in allowed_signers/ }
    t.match(first, { ok: false, commits: [{ claims: [{ failures: [unknown] }] }] })
    repo.commit(`Second\n\n${trailer}`)
    const second = await repo.verify({ ...LAST, requireSignature: true })
    const valid = { state: 'valid', signer: 'eve@example.com' }
    const claims = [{ session: { signature: valid }, failures: { length: 0 } }]
    t.match(second, { ok: true, commits: [{ claims }] })

    const named = join(keys, 'allowed')
    writeFileSync(named, line)
    const options = { range: 'HEAD~2..HEAD~1', requireSignature: true, allowedSigners: named }
    t.match(await repo.verify(options), { ok: true })
    await t.rejects(repo.verify({ allowedSigners: join(keys, 'none') }), { code: 'bad_request' })
  })
})
