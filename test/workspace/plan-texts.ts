import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { createPlanTexts } from '../../src/workspace/plan-texts.ts'

const DAY = 24 * 60 * 60 * 1000

t.test('a text comes back by its hash, and by nothing else', async (t) => {
  const folder = join(t.testdir(), 'plans')
  const log: string[] = []
  const plans = createPlanTexts(folder, (line) => log.push(line))
  const text = '\ufeffPlan\r\nmit ß\n'
  await Promise.all([plans.keep(text), plans.keep(text), plans.keep('')])
  t.equal(await plans.read(sha256(text)), text)
  t.strictSame([await plans.has(sha256(text)), await plans.has(sha256(''))], [true, false])
  t.equal(await plans.has('../plans'), false)
  t.strictSame(readdirSync(folder), [sha256(text)])
  for (const other of [sha256(''), '../x', 'x'.repeat(64)]) t.equal(await plans.read(other), null)
  t.strictSame(log, [])
})

t.test('what is old goes at a start, and the oldest of too many', async (t) => {
  const folder = join(t.testdir({ plans: {} }), 'plans')
  const now = Date.now()
  const plans = createPlanTexts(folder, t.fail, { maxKept: 3, now: () => now })
  for (const [text, days] of Object.entries({ a: 91, b: 89, c: 3, d: 2, e: 1 })) {
    await plans.keep(text)
    const time = (now - days * DAY) / 1000
    utimesSync(join(folder, sha256(text)), time, time)
  }
  writeFileSync(join(folder, 'notes.txt'), 'not ours')
  await plans.keep('b')
  await plans.prune()
  t.strictSame(
    readdirSync(folder).sort(),
    ['notes.txt', ...['b', 'd', 'e'].map(sha256)].sort(),
    'b was in use again',
  )
})

t.test('without its folder there is nothing to remove', async (t) => {
  const plans = createPlanTexts(join(t.testdir(), 'plans'), t.fail)
  await plans.prune()
})
