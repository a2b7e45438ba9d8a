import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { startBuilt } from '../fixtures/built-service.ts'
import { commit, git, write } from '../fixtures/git-repository.ts'
import { must, newSession, type Ref, reaches, step } from '../fixtures/session-client.ts'

t.test('three sessions at once in one repository', async (t) => {
  t.setTimeout(300_000)
  t.teardown(() => {})
  const dir = t.testdir({
    root: {
      'casefile.md': '---\nisolation: worktree\nparallel: 3\n---\n',
      '.gitignore': '/memory/\n',
      'sum.txt': '1\n',
    },
    state: {},
  })
  const root = join(dir, 'root')
  const many = Object.fromEntries(
    Array.from({ length: 2000 }, (_, index) => [`src/${index % 40}/${index}.txt`, `${index}\n`]),
  )
  write(root, many)
  git(root, 'init', '-q', '-b', 'main')
  commit(root)
  const client = await startBuilt(t, { root, stateDir: join(dir, 'state') })
  const refs: Ref[] = []
  for (const number of [1, 2, 3]) {
    const { id: case_id } = await must(client, 'POST', '/cases', { title: `Agent ${number}` })
    // a test that another session's change would break
    const script = `echo ${number} >> sum.txt; echo ${number} > only-${number}.txt; for i in 1 2 3 4 5 6; do sleep 0.3; done`
    const test = `test "$(cat sum.txt | tr -d '\\n')" = 1${number} && test "$(ls only-*)" = only-${number}.txt && printf '1..1\\nok 1 - ${number} alone\\n'`
    await must(
      client,
      'PUT',
      `/cases/${case_id}/memory/runbook.md`,
      `${step(script)}\n\n${step(test, 'sh run id=test proof=tap')}`,
    )
    const ref = await newSession(client, case_id)
    await reaches(client, ref, 'plan_ready')
    refs.push(ref)
  }
  const times: number[] = []
  let isDone = false
  const measured = (async () => {
    while (!isDone) {
      const began = performance.now()
      await must(client, 'GET', `/cases/${refs[0]!.case_id}`)
      times.push(performance.now() - began)
      await delay(5)
    }
  })()
  const running: number[] = []
  const counted = (async () => {
    while (!isDone) {
      const listed = await must(client, 'GET', '/worktrees')
      running.push(listed.filter(({ is_running }: { is_running: boolean }) => is_running).length)
      await delay(700)
    }
  })()
  await Promise.all(
    refs.map(async (ref) => {
      const over = reaches(client, ref, 'complete')
      await must(client, 'POST', `${ref.path}/approve`)
      await over
    }),
  )
  isDone = true
  await Promise.all([measured, counted])
  for (const [index, ref] of refs.entries()) {
    const session = await must(client, 'GET', ref.path)
    t.match(session, {
      state: 'complete',
      tests: { run: 1, passed: 1 },
      diff: { additions: 2, deletions: 0 },
      worktree: { ahead: 1, branch: `casefile/agent-${index + 1}-1` },
    })
    const names = session.diff.files.map(({ file }: { file: string }) => file).sort()
    t.strictSame(names, [`only-${index + 1}.txt`, 'sum.txt'])
  }
  t.equal(Math.max(...running), 3, 'all three ran at the same time')
  times.sort((a, b) => a - b)
  const p99 = times[Math.floor(times.length * 0.99)]!
  t.comment(
    `${times.length} answers: median ${times[times.length >> 1]!.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
  )
  // the first is applied, and the others conflict with it
  await must(client, 'POST', `${refs[0]!.path}/apply`)
  for (const ref of refs.slice(1)) {
    const answer = await client.request('POST', `${ref.path}/apply`)
    t.match(answer, { status: 409, json: { code: 'merge_conflict', files: ['sum.txt'] } })
  }
})
