import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { limitWork } from '../../src/markdown/work-limit.ts'
import { createWorkerPool, useWorkers } from '../../src/markdown/worker-pool.ts'
import { readRecordFile } from '../../src/workspace/read-record-file.ts'
import { built } from '../fixtures/built.ts'
import { isLong } from '../fixtures/full.ts'

const LIMIT_MS = 20

/** Resolves with what the limit says, and after how long. */
function limited(workMs: () => number) {
  const began = performance.now()
  return new Promise<{ isUsedUp: boolean; ms: number }>((resolve) => {
    limitWork(LIMIT_MS, workMs, (isUsedUp) => resolve({ isUsedUp, ms: performance.now() - began }))
  })
}

t.test('work uses it up', async (t) => {
  const { isUsedUp, ms } = await limited(() => performance.now() / 2)
  t.equal(isUsedUp, true)
  t.ok(ms >= 1.8 * LIMIT_MS, 'what works half of the time has twice as long')
})

t.test('waiting does not, but for very long', async (t) => {
  const over = limited(() => 0)
  t.equal(await Promise.race([over.then(() => 'over'), delay(3 * LIMIT_MS, 'not yet')]), 'not yet')
  const { isUsedUp, ms } = await over
  t.equal(isUsedUp, false)
  t.ok(ms >= 10 * LIMIT_MS)
})

t.test('what is cancelled is never over', async (t) => {
  let isOver = false
  limitWork(
    1,
    () => performance.now(),
    () => {
      isOver = true
    },
  )()
  await delay(50)
  t.equal(isOver, false)
})

const BUSY = pathToFileURL(built('test/fixtures/busy-worker.ts'))
const counts = existsSync('/proc/thread-self/schedstat')

t.test(
  'other threads do not use up the time of a text',
  { skip: isLong ? !counts && 'needs /proc' : 'in the long lane' },
  async (t) => {
    t.teardown(useWorkers())
    const pool = createWorkerPool<{ worked: string }>(BUSY)
    await pool.ask('1')
    const load = Array.from({ length: 3 }, () => new Worker(BUSY, { workerData: 'load' }))
    t.teardown(() => Promise.all(load.map((each) => each.terminate())))
    await Promise.all(load.map((each) => once(each, 'message')))
    const before = process.cpuUsage()
    t.strictSame(await pool.ask('700'), { worked: '700' })
    const { user, system } = process.cpuUsage(before)
    t.ok((user + system) / 1000 > 1600, 'with which it was too complex once')
    await Promise.all(load.map((each) => each.terminate()))
    const began = performance.now()
    t.equal(await pool.ask('60000'), null, 'and what takes more than 2 s by itself is given up')
    const took = performance.now() - began
    t.equal(await pool.ask('60000'), null)
    t.ok(performance.now() - began - took < 500, 'and not tried again at once')
  },
)

t.test('a file that was too complex once is read again at the next look', async (t) => {
  const folder = t.testdir({ 'case.md': '# A\n' })
  const path = join(folder, 'case.md')
  let isBusy = true
  let reads = 0
  const recipe = {
    path,
    file: 'case.md',
    maxBytes: 1000,
    read() {
      reads++
      const code = 'too_complex' as const
      const problems = [{ code, file: 'case.md', line: null, message: 'x' }]
      return isBusy ? { value: null, problems } : { value: 'read', problems: [] }
    },
    fallback: async () => 'fallback',
  }
  const first = await readRecordFile<string>(folder, { known: undefined, pass: null }, recipe)
  t.match(first, { value: 'fallback', stamp: null, problems: [{ code: 'too_complex' }] })
  isBusy = false
  const second = await readRecordFile<string>(folder, { known: first!, pass: null }, recipe)
  t.match(second, { value: 'read', problems: [], readable: true })
  await readRecordFile<string>(folder, { known: second!, pass: null }, recipe)
  t.equal(reads, 2, 'what was read is known by its bytes')
  writeFileSync(path, '# B\n')
  await readRecordFile<string>(folder, { known: second!, pass: null }, recipe)
  t.equal(reads, 3)
})
