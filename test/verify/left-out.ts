import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { runBuilt } from '../fixtures/built-service.ts'
import { openRepository, provedWork, repositoryAt } from '../fixtures/verify/claimed-work.ts'

const NOT_CHECKED = { code: 'not_found', message: /could not be checked: .*leaves out .*: git / }

t.test('a record that is not all checked out is neither true nor free of problems', async (t) => {
  const { service, repo } = await openRepository(t)
  const work = await provedWork(service, 'price.js')
  const { id: other } = await service.newCase({ title: 'Another case' })
  await service.close()
  writeFileSync(join(repo.root, 'casefile.md'), '---\nprovider: runbook\n---\n')
  repo.commit('Settings and another case')
  writeFileSync(join(repo.root, 'late.js'), '1\n')
  repo.commit(`Price\n\n${work.trailer}`)
  const named = { range: 'HEAD~1..' }
  const folder = dirname(repo.root)
  const clone = (name: string, ...options: string[]) => {
    repo.git('clone', '--quiet', ...options, `file://${repo.root}`, join(folder, name))
    return repositoryAt(join(folder, name))
  }
  const check = ({ root }: { root: string }, fix = false) =>
    checkWorkspace({ root, stateDir: join(folder, 'no-state'), fix }, process.env)

  const clones: Record<string, () => ReturnType<typeof clone>> = {
    'a sparse clone': () => clone('sparse', '--sparse'),
    'a sparse index': () => {
      const made = clone('index')
      made.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'src')
      return made
    },
    'all but the cases': () => {
      const made = clone('no-cases')
      made.git('sparse-checkout', 'set', '--no-cone', '/*', '!/memory/cases/')
      return made
    },
    'all but the sessions': () => {
      const made = clone('no-sessions')
      made.git('sparse-checkout', 'set', '--no-cone', '/*', '!/memory/cases/*/sessions/')
      return made
    },
    'an entry that git skips': () => {
      const made = clone('skipped')
      const file = `memory/cases/${work.ref.case_id}/case.md`
      made.git('update-index', '--skip-worktree', file)
      rmSync(join(made.root, file))
      return made
    },
    'a worktree without files': () => {
      repo.git('worktree', 'add', '--quiet', '--no-checkout', '--detach', join(folder, 'worktree'))
      const made = repositoryAt(join(folder, 'worktree'))
      made.git('checkout', '--quiet', 'HEAD', '--', 'casefile.md')
      return made
    },
    'a record that somebody removed': () => {
      const made = clone('removed')
      rmSync(join(made.root, 'memory'), { recursive: true })
      return made
    },
  }
  for (const [name, make] of Object.entries(clones)) {
    await t.test(name, async (t) => {
      const made = make()
      await t.rejects(made.verify(named), NOT_CHECKED)
      await t.rejects(check(made), NOT_CHECKED)
      await t.rejects(check(made, true), NOT_CHECKED, 'and nothing is fixed')
      t.match(await made.verify({ range: 'HEAD~2..HEAD~1' }), { ok: true }, 'no commit names one')
    })
  }

  await t.test('a submodule that is not initialized', async (t) => {
    const record = join(folder, 'record')
    repo.git('clone', '--quiet', join(repo.root, '.git'), record)
    repositoryAt(record).git('filter-branch', '--subdirectory-filter', 'memory')
    const made = clone('module')
    made.git('rm', '-r', '--quiet', 'memory')
    made.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', record, 'memory')
    made.commit(`Price\n\n${work.trailer}`)
    t.match(await made.verify(named), { commits: [{ claims: [{ session: { number: 1 } }] }] })
    made.git('submodule', '--quiet', 'deinit', '--force', 'memory')
    await t.rejects(made.verify(named), {
      message: /could not be checked: .*submodule update --init/,
    })
    await t.rejects(check(made), { message: /could not be checked: .*submodule update --init/ })
  })

  await t.test('where only other cases are left out, a commit can be verified', async (t) => {
    const made = clone('some')
    made.git('sparse-checkout', 'set', '--no-cone', '/*', `!/memory/cases/${other}/`)
    t.match(await made.verify(named), { commits: [{ claims: [{ session: { number: 1 } }] }] })
    await t.rejects(check(made), NOT_CHECKED)
  })

  await t.test('the exit code is 2', async (t) => {
    const root = join(folder, 'sparse')
    for (const words of [['check'], ['check', '--json'], ['verify', 'HEAD~1..']]) {
      const ran = await runBuilt([...words, '--root', root])
      t.match(ran, { code: 2, stdout: '', stderr: /could not be checked: a sparse checkout/ })
    }
  })

  await t.test('a file that is there, though git skips it, is checked', async (t) => {
    const made = clone('present')
    made.git('update-index', '--skip-worktree', `memory/cases/${other}/case.md`)
    t.strictSame((await check(made)).findings, [])
  })
})
