import { appendFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { finished, newSession, planned, reaches, step } from '../fixtures/session-client.ts'
import {
  type ClaimedRepository,
  openRepository,
  provedWork,
} from '../fixtures/verify/claimed-work.ts'
import { age, commitWith, message, withHook } from '../fixtures/verify/hooked-commits.ts'

t.test('a commit names the sessions whose work it contains', async (t) => {
  const { service, repo } = await openRepository(t)
  age(repo)
  const price = await provedWork(service, 'price.js')
  const tax = await provedWork(service, 'tax.js')
  withHook(repo)

  await t.test('of two sessions, the one whose file is staged', async (t) => {
    repo.git('add', 'price.js')
    commitWith(repo, 'true', '--message', 'Change the price')
    t.equal(message(repo), `Change the price\n\n${price.trailer}\n\n`)
    t.match(await repo.verify({ range: 'HEAD~1..' }), { commits: [{ claims: [{ trailer: {} }] }] })
  })

  await t.test('what is committed already is not named again', async (t) => {
    appendFileSync(join(repo.root, 'price.js'), 'by hand\n')
    commitWith(repo, 'true', '--all', '--message', 'By hand')
    t.equal(message(repo), 'By hand\n\n')
  })

  await t.test('a message that is left empty stops the commit, as without the hook', async (t) => {
    const before = repo.git('rev-parse', 'HEAD')
    repo.git('add', 'tax.js')
    t.match(commitWith(repo, 'true', '--verbose'), /empty commit message/)
    t.equal(repo.git('rev-parse', 'HEAD'), before)
  })

  await t.test('from an editor that shows the diff, and a file given to commit', async (t) => {
    commitWith(
      repo,
      `sh -c 'printf "Tax\\n\\nIt is due.\\n" | cat - "$1" > m && cat m > "$1" && rm m' -`,
      '--verbose',
      'tax.js',
    )
    t.equal(message(repo), `Tax\n\nIt is due.\n\n${tax.trailer}\n\n`)
    commitWith(repo, 'true', '--amend', '--no-edit')
    t.equal(
      message(repo),
      `Tax\n\nIt is due.\n\n${tax.trailer}\n\n`,
      'an amended commit keeps it once',
    )
  })

  await t.test('the record alone names nothing', async (t) => {
    repo.git('add', 'memory')
    commitWith(repo, 'true', '--message', 'The record')
    t.equal(message(repo), 'The record\n\n')
    t.match(await repo.verify({ range: 'HEAD~4..' }), { ok: true })
  })

  await survivesHistory(t, repo)
})

/** The trailer stays through what people do to commits. */
async function survivesHistory(t: Test, repo: ClaimedRepository) {
  await t.test('rebase, squash and merge keep it working', async (t) => {
    repo.git('switch', '--quiet', '--create', 'other', 'HEAD~4')
    writeFileSync(join(repo.root, 'LICENSE'), 'MIT\n')
    repo.git('add', 'LICENSE')
    repo.git('commit', '--quiet', '--message', 'License')
    repo.git('switch', '--quiet', 'main')
    repo.git('rebase', '--quiet', 'other')
    const rebased = await repo.verify({ range: 'other..main' })
    t.match(rebased, { ok: true })
    t.equal(rebased.commits.flatMap(({ claims }) => claims).length, 2)

    repo.git('switch', '--quiet', '--create', 'squashed', 'other')
    repo.git('merge', '--quiet', '--squash', 'main')
    commitWith(repo, 'true', '--no-edit')
    const squashed = await repo.verify({ range: 'other..squashed' })
    t.equal(squashed.ok, true)
    t.equal(squashed.commits[0]!.claims.length, 2)

    repo.git('switch', '--quiet', '--create', 'merged', 'other~1')
    writeFileSync(join(repo.root, 'NOTES'), 'x\n')
    repo.git('add', 'NOTES')
    repo.git('commit', '--quiet', '--message', 'Notes')
    repo.git('merge', '--quiet', '--no-edit', 'main')
    const merged = await repo.verify({ range: 'other~1..merged', requireTrailer: false })
    t.equal(merged.ok, true)
    t.equal(merged.commits.flatMap(({ claims }) => claims).length, 2)
    repo.git('switch', '--quiet', 'main')
  })
}

for (const isTracked of [true, false]) {
  const seen = isTracked ? 'which it sees' : 'which is hidden from it'
  t.test(`while a session runs, what it has written names it, with a record ${seen}`, (t) =>
    namesItself(t, isTracked),
  )
}

t.test('so does what it commits in a worktree, once', async (t) => {
  const { service, repo } = await openRepository(t)
  withHook(repo)
  const ref = await planned(service, {
    runbook: step(COMMIT),
    fields: { isolation: 'worktree' },
  })
  const { session } = await finished(service, ref)
  t.equal(session.state, 'complete')
  t.equal(message(repo, session.worktree.branch), `By the session\n\n${trailerOf(session)}\n\n`)
})

const COMMIT =
  "echo 1 > its.js; git add its.js; git -c user.name=A -c user.email=a@b.c commit --quiet --message 'By the session' its.js"

function trailerOf(session: { case_id: string; number: number; plan_sha256: string }): string {
  const { case_id, number, plan_sha256 } = session
  return `Casefile-Session: ${case_id}/${number} plan=${plan_sha256.slice(0, 12)}`
}

/** A record is hidden from the programs of a run where git does not track it. */
async function namesItself(t: Test, isTracked: boolean) {
  const { service, repo } = await openRepository(t)
  if (isTracked) {
    await service.newCase({ title: 'Tracked' })
    repo.commit('The record')
  }
  withHook(repo)
  writeFileSync(join(repo.root, 'mine.js'), 'mine\n')
  utimesSync(join(repo.root, 'mine.js'), new Date(0), new Date(0))
  repo.git('add', 'mine.js')
  const made = await service.newCase({ title: 'Commit by itself' })
  await service.request(
    'PUT',
    `/cases/${made.id}/memory/runbook.md`,
    `\`\`\`sh run\n${COMMIT}\n\`\`\`\n`,
  )
  const ref = await newSession(service, made.id)
  await reaches(service, ref, 'plan_ready')
  const { session } = await finished(service, ref)
  t.equal(session.state, 'complete')
  t.equal(message(repo), `By the session\n\n${trailerOf(session)}\n\n`)
  commitWith(repo, 'true', '--message', 'Mine')
  t.equal(message(repo), 'Mine\n\n', 'what was there before is not its work')
  t.match((await repo.verify({ range: 'HEAD~2..HEAD~1' })).commits[0]!.claims[0]!.failures, [
    { code: 'not_sealed' },
    { code: 'proof_missing' },
  ])
}

t.test('the hook stops no commit', async (t) => {
  const { service, repo } = await openRepository(t)
  await service.close()
  withHook(repo)
  writeFileSync(join(repo.root, 'a.js'), 'a\n')
  writeFileSync(join(repo.root, 'casefile.md'), '---\nmemory_root: [\n---\n')
  repo.git('add', '--all')
  commitWith(repo, 'true', '--message', 'With broken settings')
  t.equal(message(repo), 'With broken settings\n\n')
})
