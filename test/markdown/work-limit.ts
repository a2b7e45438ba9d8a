import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { limitWork } from '../../src/markdown/work-limit.ts'

const LIMIT_MS = 200

/** Resolves with what the limit says, and after how long. */
function limited() {
  const began = performance.now()
  return new Promise<{ isUsedUp: boolean; ms: number }>((resolve) => {
    limitWork(LIMIT_MS, (isUsedUp) => resolve({ isUsedUp, ms: performance.now() - began }))
  })
}

t.test('work uses it up', async (t) => {
  const over = limited()
  const end = process.cpuUsage().user + 2 * LIMIT_MS * 1000
  while (process.cpuUsage().user < end) {} // whatever else the machine does
  const { isUsedUp, ms } = await over
  t.equal(isUsedUp, true)
  t.ok(ms >= LIMIT_MS)
})

t.test('waiting does not, but for very long', async (t) => {
  const over = limited()
  t.equal(await Promise.race([over.then(() => 'over'), delay(3 * LIMIT_MS, 'not yet')]), 'not yet')
  const { isUsedUp, ms } = await over
  t.equal(isUsedUp, false)
  t.ok(ms >= 10 * LIMIT_MS)
})

t.test('what is cancelled is never over', async (t) => {
  let isOver = false
  limitWork(1, () => {
    isOver = true
  })()
  await delay(50)
  t.equal(isOver, false)
})
