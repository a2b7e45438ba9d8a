import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { renumberedSession } from '../../src/markdown/session-renumbering.ts'
import { approvalStatement } from '../../src/model/approval-statement.ts'
import { commandsOn } from '../fixtures/cli.ts'
import { must, planned, reaches, step } from '../fixtures/session-client.ts'
import {
  attachProof,
  openRepository,
  provedWork,
  repositoryAt,
} from '../fixtures/verify/claimed-work.ts'

function wrong(part: string) {
  return { code: 'bad_request', message: part }
}

t.test('which commits are checked', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  repo.git('switch', '--quiet', '--create', 'topic')
  repo.commit(`Price\n\n${work.trailer}`)
  const clone = join(dirname(repo.root), 'clone')
  repo.git('switch', '--quiet', 'main')
  repo.git('clone', '--quiet', '.', clone)
  const here = repositoryAt(clone)

  await t.test('without a range: all, on the default branch', async (t) => {
    t.match(await here.verify(), {
      range: 'HEAD',
      commits: [{ subject: 'The beginning' }],
      ok: true,
    })
  })
  here.git('switch', '--quiet', 'topic')
  await t.test('what origin has not, on another', async (t) => {
    const found = await here.verify()
    t.match(found, {
      range: 'origin/HEAD..HEAD',
      commits: [{ subject: 'Price', result: 'passed' }],
    })
    t.equal(found.commits.length, 1)
  })
  await t.test('in CI those of the pull or merge request', async (t) => {
    const github = await here.verify({}, { GITHUB_BASE_REF: 'main' })
    t.match(github, { range: 'origin/main..HEAD', commits: [{ subject: 'Price' }] })
    const base = here.git('rev-parse', 'origin/main').trim()
    const gitlab = await here.verify({}, { CI_MERGE_REQUEST_DIFF_BASE_SHA: base })
    t.match(gitlab, { range: `${base}..HEAD`, commits: [{ subject: 'Price' }] })
  })
  await t.test('a range that names no commits says what is wrong', async (t) => {
    for (const range of ['v1..v2', '--all', 'HEAD..nothing', '^HEAD', 'HEAD^{tree}', ':README.md'])
      await t.rejects(here.verify({ range }), wrong(`"${range}" names no commits here`), range)
    await t.rejects(here.verify({ range: '' }), wrong('range is empty'))
    await t.rejects(here.verify({ range: 'nothing' }), { message: /^(?!.*fetch-depth)/ })
  })
  await t.test('and where a fetch may help, how', async (t) => {
    await t.rejects(here.verify({ range: 'origin/next..HEAD' }), wrong('fetch-depth: 0'))
    await t.rejects(here.verify({}, { GITHUB_BASE_REF: 'next' }), wrong('fetch-depth: 0'))
    const base = { CI_MERGE_REQUEST_DIFF_BASE_SHA: '1'.repeat(40) }
    await t.rejects(here.verify({}, base), wrong('GIT_DEPTH: 0'))
  })
  await t.test(
    'an empty range checks nothing, which is not enough for --require-trailer',
    async (t) => {
      const range = 'HEAD..HEAD'
      t.match(await here.verify({ range }), { commits: [], ok: true })
      await t.rejects(
        here.verify({ range, requireTrailer: true }),
        wrong('no commits in HEAD..HEAD'),
      )
    },
  )
  await t.test('a shallow clone says that the history is not all there', async (t) => {
    const shallow = join(dirname(repo.root), 'shallow')
    repo.git(
      'clone',
      '--quiet',
      '--depth',
      '1',
      '--branch',
      'topic',
      `file://${repo.root}`,
      shallow,
    )
    t.match(await repositoryAt(shallow).verify({ range: 'HEAD' }), {
      ok: true,
      notes: [/shallow/],
    })
    await t.rejects(repositoryAt(shallow).verify({ range: 'HEAD~1..' }), wrong('fetch-depth: 0'))
  })
  await t.test('without a repository', async (t) => {
    const bare = join(dirname(repo.root), 'no-repository')
    mkdirSync(bare)
    renameSync(join(here.root, 'memory'), join(bare, 'memory'))
    await t.rejects(repositoryAt(bare).verify(), { code: 'bad_request' })
  })
})

t.test('without the record, a commit that names a session cannot be checked', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  writeFileSync(join(repo.root, '.gitignore'), 'memory/\n')
  repo.commit(`Price\n\n${work.trailer}`)
  const named = { range: 'HEAD~1..' }
  await t.test('but on this disk it can, and the result says that no clone can', async (t) => {
    t.match(await repo.verify(named), { ok: true, notes: [/in no commit.*clone/] })
  })
  rmSync(join(repo.root, 'memory'), { recursive: true })
  await t.test('the error says what to do', async (t) => {
    await t.rejects(repo.verify(named), {
      code: 'not_found',
      message: /no record in memory\/.*out/,
    })
    const cli = commandsOn(t, {
      root: repo.root,
      env: { CASEFILE_STATE_DIR: '', NODE_OPTIONS: '' },
    })
    const text = await cli.run('verify', 'HEAD~1..')
    t.match(text, { code: 2, stdout: '', stderr: /^casefile: There is no record in memory\/\./ })
    t.notMatch(text.stderr, /\n {4}at /)
    const json = await cli.run('verify', 'HEAD~1..', '--json')
    t.match(json, { code: 2, json: { code: 'not_found', detail: /no record in memory/ } })
  })
  await t.test('nothing is missing if no commit names one', async (t) => {
    repo.git('reset', '--quiet', '--hard', 'HEAD~1')
    t.match(await repo.verify(), { ok: true, commits: [{ result: 'no_claim' }] })
  })
})

t.test('a record that a sparse checkout leaves out cannot be checked', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  repo.commit(`Price\n\n${work.trailer}`)
  repo.git('sparse-checkout', 'set', '--no-cone', '/*', '!/memory/')
  const error = { code: 'not_found', message: /could not be checked: a sparse checkout leaves out/ }
  await t.rejects(repo.verify({ range: 'HEAD~1..' }), error)
})

t.test('a record in a repository of its own is compared with that history', async (t) => {
  const { service, repo } = await openRepository(t)
  writeFileSync(join(repo.root, '.gitignore'), 'memory/\n')
  repo.commit('Ignore')
  const work = await provedWork(service, 'price.js')
  await service.close()
  repo.commit(`Price\n\n${work.trailer}`)
  const record = repositoryAt(join(repo.root, 'memory'))
  record.git('init', '--quiet')
  t.match(await repo.verify({ range: 'HEAD~1..' }), { ok: true, notes: [/no commit/] })
  record.commit('Cases')
  t.match(await repo.verify({ range: 'HEAD~1..' }), { ok: true, notes: [] })
  repo.edit(repo.file(work.ref.case_id, 'sessions/1.md'), /\d+\. \S+ tests_read .*\n/, '')
  const { commits } = await repo.verify({ range: 'HEAD~1..' })
  t.ok(commits[0]!.claims[0]!.failures.some(({ code }) => code === 'seal_broken'))
})

t.test('a session that got another number is found by its plan', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  await service.close()
  repo.commit(`Price\n\n${work.trailer}`)
  const path = repo.file(work.ref.case_id, 'sessions/1.md')
  const text = readFileSync(path, 'utf8')
  const time = new Date().toISOString()
  writeFileSync(
    repo.file(work.ref.case_id, 'sessions/2.md'),
    await renumberedSession(text, { from: 1, to: 2, time }),
  )
  rmSync(path)
  repo.commit('Merge')
  const { commits, ok } = await repo.verify({ range: 'HEAD~2..HEAD~1' })
  t.strictSame(commits[0]!.claims[0]!.failures, [])
  t.match(commits[0]!.claims, [{ session: { number: 2 } }])
  t.equal(ok, true)
})

t.test('signatures count with the keys of the commit before the range', async (t) => {
  const keys = t.testdir({})
  const [ada, eve] = ['ada', 'eve'].map((name) => {
    const path = join(keys, name)
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', path])
    const [kind, key] = readFileSync(`${path}.pub`, 'utf8').split(' ')
    return { path, line: `${name}@example.com ${kind} ${key}\n` }
  }) as [{ path: string; line: string }, { path: string; line: string }]
  await t.test('with the key of a member, and with one that the change itself adds', async (t) => {
    const { service, repo } = await openRepository(t, { allowed_signers: ada.line })
    writeFileSync(join(repo.root, 'allowed_signers'), ada.line + eve.line)
    for (const [who, code] of [
      [ada, null],
      [eve, 'unknown_signer'],
    ] as const) {
      const ref = await planned(service, {
        runbook: `${step(`echo 1 >> ${who === ada ? 'a' : 'e'}.js`)}\n${step('echo ok 1; echo 1..1', 'sh run id=test proof=tap')}`,
      })
      const { plan_sha256 } = await must(service, 'GET', ref.path)
      const signed_at = new Date().toISOString()
      const file = join(keys, `statement-${ref.id}`)
      const approval = { case_id: ref.case_id, session_id: ref.id, plan_sha256, signed_at }
      writeFileSync(file, approvalStatement(approval))
      execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-n', 'casefile', '-f', who.path, file])
      const signature = { signed_at, ssh: readFileSync(`${file}.sig`, 'utf8') }
      await must(service, 'POST', `${ref.path}/approve`, { plan_sha256, signature })
      await reaches(service, ref, 'complete')
      const { trailer } = await attachProof(service, ref)
      repo.commit(`${who.path}\n\n${trailer}`)
      const found = await repo.verify({ range: 'HEAD~1..', requireSignature: true })
      const base = who === ada ? 'HEAD~1' : 'HEAD~2'
      const before = await repo.verify({ range: `${base}..HEAD`, requireSignature: true })
      const last = before.commits[0]!.claims[0]!
      if (code === null) {
        t.equal(found.ok, true)
        t.strictSame(last.failures, [])
        t.match(last, {
          session: { signature: { state: 'valid', signer: 'ada@example.com' } },
        })
      } else t.match(last.failures, [{ code, message: /not in allowed_signers/ }])
    }
    const named = join(keys, 'allowed')
    writeFileSync(named, eve.line)
    t.equal((await repo.verify({ range: 'HEAD~1..', allowedSigners: named })).ok, true)
    await t.rejects(repo.verify({ allowedSigners: join(keys, 'none') }), { code: 'bad_request' })
    await service.close()
  })
})
