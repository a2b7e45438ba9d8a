import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createKeyedMutex } from '../../src/files/keyed-mutex.ts'
import { createDueQueue } from '../../src/workspace/sync/due-queue.ts'
import { createStabilityDetector } from '../../src/workspace/sync/stability.ts'
import { createSynchronizer, type SynchronizerDeps } from '../../src/workspace/sync/synchronizer.ts'

const done = { retryInMs: 0, isHalfSaved: false }
const ID = randomUUID()

/** A synchronizer whose reads of a case end when the test says so, and find it half-saved or not. */
function openSynchronizer(t: Test, scan: object = {}) {
  t.teardown(() => {}) // or tap removes the testdir before the watches are given up
  const cases = join(t.testdir({ memory: { cases: { [ID]: {} } } }), 'memory', 'cases')
  const reads: ((found: typeof done) => void)[] = []
  let isFree = false
  const queue = createDueQueue()
  const git = { isBusyNow: false, asked: 0 }
  const read: string[] = []
  const synchronizer = createSynchronizer({
    layout: { cases, caseFolder: (id: string) => join(cases, id) },
    catalog: { ids: () => [ID], stamps: () => undefined, size: () => 1 },
    scan: {
      readCase(id: string) {
        read.push(id)
        return new Promise((resolve) => {
          if (isFree) resolve(done)
          else reads.push(resolve)
        })
      },
      compareNames: async () => {},
      readAll: async () => {},
      unknownEntries: () => [],
      canList: () => true,
      ...scan,
    },
    mutex: createKeyedMutex(),
    stability: createStabilityDetector(),
    git: {
      async isBusy() {
        git.asked++
        return git.isBusyNow
      },
      waitUntilIdle: async () => true,
    },
    queue,
    log: (line: string) => t.fail(line),
  } as unknown as SynchronizerDeps)
  t.teardown(() => synchronizer.close())
  return {
    cases,
    synchronizer,
    queue,
    git,
    read,
    /** Resolves to what ends the next read, once that is under way. */
    async nextRead() {
      while (reads.length === 0) await delay(1)
      return reads.shift()!
    },
    /** Every further read ends at once. */
    free() {
      isFree = true
      for (const end of reads.splice(0)) end(done)
    },
  }
}

t.test('a list waits for what is read already', async (t) => {
  const { synchronizer, nextRead, free } = openSynchronizer(t)
  await synchronizer.rescan()
  synchronizer.markDirty(`${ID}/case.md`, 'change')
  const end = await nextRead()
  const ended: string[] = []
  const lists = ['first', 'second'].map((name) =>
    synchronizer.freshenAll().then(() => ended.push(name)),
  )
  await delay(20)
  t.strictSame(ended, [], 'neither gets what was before')
  free()
  end(done)
  await Promise.all(lists)
})

t.test('and where it finds a file half-saved, until that is stable', async (t) => {
  const { synchronizer, queue, nextRead, free } = openSynchronizer(t)
  synchronizer.markDirty(`${ID}/case.md`, 'change')
  const first = synchronizer.freshenAll()
  const end = await nextRead()
  let isEnded = false
  const second = synchronizer.freshenAll().then(() => {
    isEnded = true
  })
  await delay(20) // by then it waits for the read
  queue.add(ID, 1000) // as the reader does that leaves a file for later
  end({ retryInMs: 5, isHalfSaved: true })
  const again = await nextRead()
  t.notOk(isEnded)
  free()
  again(done)
  await Promise.all([first, second])
})

t.test('but only for so long', async (t) => {
  const { synchronizer, nextRead, free } = openSynchronizer(t)
  synchronizer.markDirty(`${ID}/case.md`, 'change')
  const first = synchronizer.freshenAll()
  await nextRead().then((end) => delay(1500).then(() => end(done)))
  const began = performance.now()
  await synchronizer.freshenAll()
  t.ok(performance.now() - began < 5000)
  free()
  await first
})

t.test('while git changes files nothing is read, and then all of it', async (t) => {
  const { synchronizer, git, read, free } = openSynchronizer(t)
  free()
  git.isBusyNow = true
  synchronizer.markDirty(`${ID}/case.md`, 'change')
  while (git.asked < 4) await delay(5)
  await synchronizer.freshen(ID)
  await synchronizer.freshenAll()
  t.strictSame(read, [])
  git.isBusyNow = false
  while (read.length === 0) await delay(5)
  t.strictSame(read, [ID])
})

t.test('who asks for a rescan while one is under way shares the next', async (t) => {
  const listings: (() => void)[] = []
  const { synchronizer } = openSynchronizer(t, {
    compareNames: () => new Promise<void>((resolve) => listings.push(resolve)),
  })
  const turn = () => new Promise(setImmediate)
  const first = synchronizer.rescan()
  await turn()
  const ended: string[] = []
  const others = ['second', 'third'].map((name) =>
    synchronizer.rescan().then(() => ended.push(name)),
  )
  listings[0]!()
  await first
  await turn()
  t.equal(listings.length, 2, 'one that begins after they asked')
  t.same(ended, [], 'and that they wait for')
  listings[1]?.()
  await Promise.all(others)
  t.equal(listings.length, 2)
})

t.test('what cannot be read is queued again, and keeps nothing else from being read', async (t) => {
  const [bad, good] = [randomUUID(), randomUUID()]
  const read: string[] = []
  const log: string[] = []
  const queue = createDueQueue()
  const { cases } = openSynchronizer(t)
  const synchronizer = createSynchronizer({
    layout: { cases, caseFolder: (id: string) => join(cases, id) },
    scan: {
      async readCase(id: string) {
        if (id === bad) throw new Error('EIO')
        read.push(id)
        return done
      },
      unknownEntries: () => [],
      canList: () => true,
    },
    mutex: createKeyedMutex(),
    stability: createStabilityDetector(),
    git: { isBusy: async () => false },
    queue,
    log: (line: string) => log.push(line),
  } as unknown as SynchronizerDeps)
  t.teardown(() => synchronizer.close())
  for (const id of [bad, good]) synchronizer.markDirty(`${id}/case.md`, 'change')
  while (read.length === 0 || log.length === 0) await delay(5)
  t.strictSame(read, [good])
  t.match(log, [`${bad} could not be read: Error: EIO`])
  t.ok(queue.has(bad))
})

t.test('a case that comes is read, and whatever is saved in it', async (t) => {
  const { cases, synchronizer, read, free } = openSynchronizer(t)
  free()
  synchronizer.start()
  await synchronizer.watched()
  t.equal(synchronizer.health().watching, 'ok')
  const id = randomUUID()
  mkdirSync(join(cases, id))
  while (read.length === 0) await delay(5)
  await delay(100)
  const before = read.length
  writeFileSync(join(cases, id, 'case.md'), '')
  while (read.length === before) await delay(5)
  t.strictSame(new Set(read), new Set([id]), 'and no other')
})

t.test('the due queue gives each item once, in time, one batch after the other', async (t) => {
  const queue = createDueQueue()
  t.teardown(() => queue.close())
  queue.add('before the start', 0)
  const batches: string[][] = []
  let end = () => {}
  queue.start((due) => {
    batches.push(due.sort())
    return new Promise((resolve) => {
      end = resolve
    })
  })
  const batch = async (count: number) => {
    while (batches.length < count) await delay(1)
    return batches[count - 1]
  }
  t.strictSame(await batch(1), ['before the start'])
  queue.add('a', 5000)
  queue.add('a', 0)
  queue.add('b', 0)
  queue.add('gone', 0)
  queue.add('later', 60_000)
  queue.delete('gone')
  await delay(20)
  t.equal(batches.length, 1, 'not while it works')
  end()
  t.strictSame(await batch(2), ['a', 'b'])
  end()
  t.strictSame(queue.items(), ['later'])
  t.ok(queue.has('later'))
})

t.test('the echo of an own write is read when its stamp tells, anything else at once', (t) => {
  const stability = createStabilityDetector()
  stability.noteOwnWrite('/cases/one/case.md')
  t.equal(stability.gatherMs('/cases/one/case.md'), 75)
  t.equal(stability.gatherMs('/cases/one/notes.md'), 25)
  t.end()
})
