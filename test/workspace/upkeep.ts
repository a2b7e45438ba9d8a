import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createKeyedMutex } from '../../src/files/keyed-mutex.ts'
import { createGitActivity } from '../../src/workspace/git/git-activity.ts'
import { collectGarbage } from '../../src/workspace/kept/collect-garbage.ts'
import { whenQuiet } from '../../src/workspace/quiet.ts'
import { createSettling } from '../../src/workspace/settling.ts'
import { createSweeps } from '../../src/workspace/sweeps.ts'
import { createUpkeep, type UpkeepNeeds } from '../../src/workspace/upkeep.ts'

const done = { wait: 0, isHalf: false }
const ID = '00000000-0000-4000-8000-000000000001'

/** Upkeep whose looks at a case end when the test says so, and find it half-saved or not. */
function upkeepHere(t: Test) {
  const looks: ((found: { wait: number; isHalf: boolean }) => void)[] = []
  let wake = () => {}
  let isFree = false
  const awake = setInterval(() => {}, 1000) // upkeep's own timers keep no process
  t.teardown(() => clearInterval(awake))
  const needs = {
    scan: {
      one: () =>
        new Promise((resolve) => {
          if (isFree) return resolve(done)
          looks.push(resolve)
          wake()
        }),
      names: async () => {},
      strangers: () => [],
    },
    catalog: { ids: () => [ID], known: () => undefined },
    mutex: createKeyedMutex(),
    settling: { hint() {}, gather: () => 25 },
    git: { isBusy: async () => false },
    isLive: () => true,
    pathOf: (path: string) => path,
    log: (line: string) => t.fail(line),
  }
  const upkeep = createUpkeep(needs as unknown as UpkeepNeeds)
  t.teardown(() => upkeep.close())
  return {
    upkeep,
    /** Resolves to what ends the next look, once that is under way. */
    async look() {
      while (looks.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return looks.shift()!
    },
    /** Every further look ends at once. */
    free() {
      isFree = true
    },
  }
}

t.test('a list waits for what another one looks at already', async (t) => {
  const { upkeep, look } = upkeepHere(t)
  upkeep.hint(`${ID}/case.md`, 'change')
  const ended: string[] = []
  const first = upkeep.current().then(() => ended.push('first'))
  const end = await look()
  const second = upkeep.current().then(() => ended.push('second'))
  await delay(20)
  t.strictSame(ended, [], 'neither is told what was before')
  end(done)
  await Promise.all([first, second])
})

t.test('and where it finds a file half-saved, until that stands still', async (t) => {
  const { upkeep, look, free } = upkeepHere(t)
  upkeep.hint(`${ID}/case.md`, 'change')
  const first = upkeep.current()
  const end = await look()
  let isEnded = false
  const second = upkeep.current().then(() => {
    isEnded = true
  })
  await delay(20) // by then it waits for the look
  upkeep.later(ID, 1000) // as a scan does that leaves a file for later
  end({ wait: 5, isHalf: true })
  const again = await look()
  t.notOk(isEnded)
  free()
  again(done)
  await Promise.all([first, second])
})

t.test('but only for so long', async (t) => {
  const { upkeep, look } = upkeepHere(t)
  upkeep.hint(`${ID}/case.md`, 'change')
  const first = upkeep.current()
  const end = await look()
  const began = performance.now()
  await upkeep.current()
  t.ok(performance.now() - began < 5000)
  end(done)
  await first
})

t.test('who asks for a sweep while one is under way shares the next', async (t) => {
  const looks: (() => void)[] = []
  const sweeps = createSweeps({
    catalog: { ids: () => [], known: () => undefined, size: () => 0 },
    ...{ pathOf: String, isLive: () => true, isStopping: () => false, onDiffers() {}, onDone() {} },
    mayBegin: async () => true,
    lookAtNames: () => new Promise<void>((resolve) => looks.push(resolve)),
  })
  const turn = () => new Promise(setImmediate)
  const first = sweeps.sweep()
  await turn()
  const ended: string[] = []
  const others = ['second', 'third'].map((name) => sweeps.sweep().then(() => ended.push(name)))
  looks[0]!()
  await first
  await turn()
  t.equal(looks.length, 2, 'one that begins after they asked')
  t.same(ended, [], 'and that they wait for')
  looks[1]?.()
  await Promise.all(others)
  t.equal(looks.length, 2)
})

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

t.test('the echo of an own write is looked at when its stamp tells, anything else at once', (t) => {
  const settling = createSettling()
  settling.wrote('/cases/one/case.md')
  t.equal(settling.gather('/cases/one/case.md'), 75)
  t.equal(settling.gather('/cases/one/notes.md'), 25)
  t.end()
})

t.test(
  'a moment in which little is done is waited for, and no more once it is not wanted',
  async (t) => {
    const awake = setInterval(() => {}, 1000) // its own timer keeps no process
    t.teardown(() => clearInterval(awake))
    const until = performance.now() + 700
    const busy = setInterval(() => {
      const began = performance.now()
      while (performance.now() - began < 40);
      if (performance.now() > until) clearInterval(busy)
    }, 50)
    const stop = whenQuiet(() => t.fail('it was given up'))
    stop()
    await new Promise<void>((resolve) => void whenQuiet(resolve))
    t.ok(performance.now() > until)
    collectGarbage()
    await new Promise(setImmediate) // ends its session
  },
)
