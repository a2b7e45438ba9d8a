import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { createGitActivity } from '../../src/git/activity.ts'

t.test('that git is done is seen by whoever asks next', async (t) => {
  const folder = t.testdir({ '.git': {}, memory: {} })
  const git = createGitActivity(join(folder, 'memory'), t.fail)
  t.equal(await git.isBusy(), false)
  await delay(15) // so long an answer counts that it is not
  for (let round = 0; round < 3; round++) {
    writeFileSync(join(folder, '.git', 'index.lock'), '')
    while (!(await git.isBusy())) await delay(1)
    rmSync(join(folder, '.git', 'index.lock'))
    t.equal(await git.isBusy(), false)
  }
})

t.test('git is seen at work through a .git that is a link or names another folder', async (t) => {
  const folder = t.testdir({
    real: {},
    linked: { '.git': t.fixture('symlink', '../real'), memory: {} },
    named: { '.git': 'gitdir: ../real\n', memory: {} },
    both: { '.git': t.fixture('symlink', '../named/.git'), memory: {} },
    nothing: { '.git': 'no repository\n', memory: {} },
  })
  writeFileSync(join(folder, 'real', 'index.lock'), '')
  const isBusy = (name: string) => createGitActivity(join(folder, name, 'memory'), t.fail).isBusy()
  for (const name of ['linked', 'named', 'both']) t.equal(await isBusy(name), true, name)
})

t.test('a .git that cannot be looked at counts as none, which is said once', async (t) => {
  const folder = t.testdir({ '.git': {}, memory: {} })
  const dotGit = join(folder, '.git')
  const log: string[] = []
  const git = createGitActivity(join(folder, 'memory'), (line) => log.push(line))
  writeFileSync(join(dotGit, 'index.lock'), '')
  t.equal(await git.isBusy('now'), true)
  rmSync(dotGit, { recursive: true })
  writeFileSync(dotGit, '')
  t.equal(await git.isBusy('now'), false)
  t.same(log, [], 'a file in its place')
  rmSync(dotGit)
  symlinkSync('.git', dotGit)
  for (let round = 0; round < 3; round++) t.equal(await git.isBusy('now'), false)
  t.match(log, [/^what git is doing cannot be seen: ELOOP/])
  t.equal(log.length, 1)
  const fresh = createGitActivity(join(folder, 'memory'), (line) => log.push(line))
  t.equal(await fresh.isBusy(), false, 'also where the repository is looked for')
  t.equal(log.length, 2)
})

t.test(
  'who waits for git waits until it is done, or for so long, or until nobody is to wait',
  async (t) => {
    const folder = t.testdir({ '.git': {}, memory: {} })
    const lock = join(folder, '.git', 'index.lock')
    const git = createGitActivity(join(folder, 'memory'), t.fail)
    t.equal(await git.waitUntilIdle(0), true)
    writeFileSync(lock, '')
    t.equal(await git.waitUntilIdle(30), false)
    const waiting = git.waitUntilIdle(60_000)
    await delay(30)
    rmSync(lock)
    t.equal(await waiting, true)
    writeFileSync(lock, '')
    const stopped = git.waitUntilIdle(60_000)
    git.stopWaiting()
    t.equal(await stopped, false)
  },
)
