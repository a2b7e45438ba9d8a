import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { checkWorkspace } from '../../src/check/check-command.ts'
import { openServer, type Served } from '../../src/serve.ts'
import {
  type Client,
  clientOf,
  finished,
  git,
  must,
  newSession,
  type Ref,
  reaches,
  step,
} from '../fixtures/session-client.ts'

/** A clone of the one repository, with a service of its own. */
interface Clone extends Client {
  root: string
  stateDir: string
  git(...args: string[]): string
  /** Commits all that is there, and brings it to where the others find it. */
  share(branch: string): void
  file(...names: string[]): string
  read(...names: string[]): string
}

async function openClone(t: Test, dir: string, name: string): Promise<Clone> {
  const root = join(dir, name)
  const stateDir = join(dir, `${name}-state`)
  if (!existsSync(root)) git(dir, 'clone', '--quiet', 'origin.git', name)
  const served: Served = await openServer({
    root,
    stateDir,
    port: 0,
    log: () => {},
    limits: { recordEnd: 3000 }, // one of them is abandoned in vain
  })
  t.teardown(() => served.close())
  const file = (...names: string[]) => join(root, 'memory', 'cases', ...names)
  return {
    ...clientOf(() => served.url),

    root,
    stateDir,
    file,
    git: (...args) => git(root, ...args),
    share(branch) {
      git(root, 'add', '--all')
      git(root, 'commit', '--quiet', '--message', branch)
      git(root, 'push', '--quiet', 'origin', `HEAD:${branch}`)
    },
    read: (...names) => readFileSync(file(...names), 'utf8'),
  }
}

/** Two clones that have a case with one session in common, and services on both. */
async function twoClones(t: Test): Promise<{ a: Clone; b: Clone; id: string }> {
  t.teardown(() => {}) // or tap removes the testdir before the services have ended
  const dir = t.testdir()
  git(dir, 'init', '--quiet', '--bare', 'origin.git')
  const a = await openClone(t, dir, 'a')
  const { id } = await must(a, 'POST', '/cases', {
    title: 'Login times out',
    description: 'Sign in takes 30 s.',
  })
  await must(a, 'PUT', `/cases/${id}/memory/runbook.md`, step('echo first', 'sh run id=look'))
  await finished(a, await planned(a, id))
  a.share('main')
  git(join(dir, 'origin.git'), 'symbolic-ref', 'HEAD', 'refs/heads/main')
  const b = await openClone(t, dir, 'b')
  return { a, b, id }
}

async function planned(clone: Clone, caseId: string): Promise<Ref> {
  const ref = await newSession(clone, caseId)
  await reaches(clone, ref, 'plan_ready')
  return ref
}

/** A session whose one step prints `word`, run to its end. */
async function ran(clone: Clone, caseId: string, word: string): Promise<Ref> {
  const plan = step(`echo "${word}"`, 'sh run id=test proof=log')
  await must(clone, 'PUT', `/cases/${caseId}/memory/runbook.md`, plan)
  const ref = await planned(clone, caseId)
  await finished(clone, ref)
  clone.git('checkout', '--quiet', '--', 'memory/cases')
  return ref
}

/** What the service answers once `holds`: while a merge is under way it lets git finish before it looks. */
async function once<T>(clone: Clone, path: string, holds: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer: T = await must(clone, 'GET', path)
    if (holds(answer)) return answer
    await delay(20)
  }
}

function mergeFails(clone: Clone, ...args: string[]): string {
  try {
    clone.git(...args)
  } catch (error) {
    return String((error as { stdout: unknown }).stdout)
  }
  throw new Error('the merge went through')
}

const check = (clone: Clone, options: { fix?: boolean } = {}) =>
  checkWorkspace({ root: clone.root, stateDir: clone.stateDir, ...options }, process.env)

t.test('artifacts follow a session that got another number in another clone', async (t) => {
  const { a, b, id } = await twoClones(t)
  await ran(a, id, 'from a')
  const later = await ran(b, id, 'from b')
  a.share('main')
  b.share('b')
  a.git('fetch', '--quiet')
  mergeFails(a, 'merge', 'origin/b')
  const merged = await check(a, { fix: true })
  t.notMatch(merged.fixed.join('\n'), /artifacts/, 'those of the later one are not here')
  t.match(a.read(id, 'artifacts/2-test.log'), 'from a')
  a.share('main')

  b.git('pull', '--quiet', 'origin', 'main')
  await once<unknown[]>(b, `/cases/${id}/sessions`, (all) => all.length === 3)
  const { fixed } = await check(b, { fix: true })
  t.match(
    fixed.join('\n'),
    /the artifacts of session 2 belong to session 3, so they are now 3-test\.log/,
  )
  t.match(b.read(id, 'artifacts/3-test.log'), 'from b')
  const proof = { session_id: later.id, type: 'log', artifact: '3-test.log' }
  t.match(await must(b, 'POST', `/cases/${id}/proof`, proof), { content: 'from b\n' })
  t.strictSame(await check(b, { fix: true }), { findings: [], fixed: [], left: [], notes: [] })
})

t.test('another session in the file of one that runs is not taken for it', async (t) => {
  const { a, b, id } = await twoClones(t)
  const running = await newSession(a, id)
  await reaches(a, running, 'plan_ready')
  await must(a, 'PUT', `${running.path}/plan`, { plan: step('sleep 60') })
  await must(a, 'POST', `${running.path}/approve`)
  await reaches(a, running, 'executing')
  const file = a.file(id, 'sessions/2.md')
  const own = a.read(id, 'sessions/2.md')
  await ran(b, id, 'from b')
  const other = b.read(id, 'sessions/2.md')
  writeFileSync(file, other)

  interface Shown {
    problems: { code: string; message: string }[]
  }
  const hasProblem = (present: Shown) => present.problems.length > 0
  const { problems } = await once<Shown>(a, `/cases/${id}`, hasProblem)
  t.match(problems, [{ code: 'id_mismatch', message: /is not the running session/ }])
  t.match(await must(a, 'GET', running.path), { id: running.id, state: 'executing' })
  t.equal((await a.request('POST', `${running.path}/abandon`)).status, 409)
  t.equal(a.read(id, 'sessions/2.md'), other, 'what somebody put there stays')

  writeFileSync(file, own)
  await once<Shown>(a, `/cases/${id}`, (present) => !hasProblem(present))
  t.match(await must(a, 'POST', `${running.path}/abandon`), { state: 'abandoned' })
})
