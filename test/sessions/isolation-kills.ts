import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type BuiltService, startBuilt } from '../fixtures/built-service.ts'
import { isFull, isLong } from '../fixtures/full.ts'
import { commit, git } from '../fixtures/git-repository.ts'
import { randomFrom } from '../fixtures/random.ts'
import { must, newSession, type Ref, reaches, step } from '../fixtures/session-client.ts'

const linuxOnly = process.platform === 'linux' ? {} : { skip: '/proc is on Linux only' }
const ROUNDS = isFull ? 40 : isLong ? 6 : 2

/** Kills every git that works below a folder, as a crash of the machine would. */
function killGits(folder: string): void {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isGit = readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'git'
      if (isGit && realpathSync(`/proc/${pid}/cwd`).startsWith(folder))
        process.kill(Number(pid), 'SIGKILL')
    } catch {
      // it has ended
    }
  }
}

function locksBelow(folder: string): string[] {
  return execFileSync('find', [folder, '-name', '*.lock'], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '')
}

t.test('killed at any moment, no commit, change or worktree is lost', linuxOnly, async (t) => {
  t.setTimeout(isFull ? 1_700_000 : 400_000)
  t.teardown(() => {})
  const seed = Number(process.env.CASEFILE_TEST_SEED)
  t.comment(`CASEFILE_TEST_SEED=${seed}`)
  const random = randomFrom(seed)
  const dir = t.testdir({
    root: {
      'a.txt': 'one\n',
      '.gitignore': '/memory/\n',
      'casefile.md': '---\nisolation: worktree\n---\n',
    },
    state: {},
  })
  const [root, stateDir] = [join(dir, 'root'), join(dir, 'state')]
  git(root, 'init', '-q', '-b', 'main')
  commit(root)
  const done = mkdtempSync(join(tmpdir(), 'casefile-done-'))
  t.teardown(() => rmSync(done, { recursive: true, force: true }))
  const client = await startBuilt(t, { root, stateDir })
  const sessions: { ref: Ref; name: string }[] = []

  const kill = async (ms: number) => {
    await delay(ms)
    await client.stop('SIGKILL')
    if (random() < 0.5) killGits(dir)
    await client.restart()
  }

  /** Sends a request and kills the service meanwhile; true if it answered that it was done. */
  const killedDuring = async (path: string, most: number) => {
    const answer = client.request('POST', path).then(
      ({ status }) => status === 200,
      () => false,
    )
    await kill(random() * most)
    return answer
  }

  for (let round = 1; round <= ROUNDS; round++) {
    const name = `r${round}`
    const { id: case_id } = await must(client, 'POST', '/cases', { title: `Round ${round}` })
    const script = `echo ${name} > ${name}-own.txt; git add -A; git -c user.name=s -c user.email=s@s commit -qm ${name}; touch ${done}/${name}-own\necho ${name} > ${name}-rest.txt; touch ${done}/${name}-rest; sleep 0.2`
    await must(client, 'PUT', `/cases/${case_id}/memory/runbook.md`, step(script))
    const ref = await newSession(client, case_id)
    await reaches(client, ref, 'plan_ready')
    sessions.push({ ref, name })
    await must(client, 'POST', `${ref.path}/approve`)
    await kill(random() * 4000)
    check(client, `${name} at work`)
    const session = await must(client, 'GET', ref.path)
    t.match(session.state, /^(?:complete|failed)$/)
    if (session.worktree?.state === 'kept' && session.worktree.ahead > 0) {
      await killedDuring(`${ref.path}/apply`, 1500)
      check(client, `${name} applied`)
    }
    if (random() < 0.7) await killedDuring(`${ref.path}/discard`, 1500)
    check(client, `${name} discarded`)
  }

  for (const { ref, name } of sessions) {
    const history = readFileSync(join(root, 'memory/cases', ref.case_id, 'history.md'), 'utf8')
    const isApplied = existsSync(join(root, `${name}-own.txt`))
    t.equal(
      history.match(/applied the work \(/g)?.length ?? 0,
      isApplied ? 1 : 0,
      `history of ${name}`,
    )
  }
  for (const { ref } of sessions) await client.request('POST', `${ref.path}/discard`)
  check(client, 'the end')
  t.strictSame(readdirSync(join(stateDir, 'worktrees')), [])
  t.equal(git(root, 'worktree', 'list').trim().split('\n').length, 1)

  /** What must hold whenever the service has started again. */
  function check({ root }: BuiltService, when: string): void {
    const made = join(stateDir, 'worktrees')
    const kept = existsSync(made) ? readdirSync(made).sort() : []
    const trees = kept.filter((each) => !each.includes('.'))
    t.strictSame(
      kept,
      [...trees, ...trees.map((id) => `${id}.json`)].sort(),
      `${when}: whole worktrees`,
    )
    const listed = git(root, 'worktree', 'list', '--porcelain').match(/^worktree /gm)?.length
    t.equal(listed, trees.length + 1, `${when}: git lists them`)
    t.strictSame(locksBelow(join(root, '.git')), [], `${when}: no lock`)
    t.equal(git(root, 'status', '--porcelain'), '', `${when}: the working folder is clean`)
    t.equal(git(root, 'fsck', '--no-dangling', '--no-progress').trim(), '', `${when}: fsck`)
    for (const id of trees)
      t.equal(
        git(join(stateDir, 'worktrees', id), 'status', '--porcelain'),
        '',
        `${when}: committed`,
      )
    const branches = git(root, 'branch', '--format=%(refname)').trim().split('\n')
    const files = new Set(
      branches.flatMap((ref) => git(root, 'ls-tree', '-r', '--name-only', ref).split('\n')),
    )
    for (const made of readdirSync(done)) t.ok(files.has(`${made}.txt`), `${when}: ${made}`)
  }
})
