import t from 'tap'
import { sha256 } from '../../src/markdown/session-file.ts'
import { openDatabase } from '../../src/state/database.ts'
import { createPlanTexts } from '../../src/state/plans.ts'
import { failCommits } from '../fixtures/state-rows.ts'

const DAY = 24 * 60 * 60 * 1000

t.test('a text comes back by its hash, and by nothing else', async (t) => {
  const database = await openDatabase(t.testdir(), t.fail)
  t.teardown(() => database.close())
  const plans = createPlanTexts(database, t.fail)
  const text = '\ufeffPlan\r\nmit ß \0\n'
  await Promise.all([plans.store(text), plans.store(text), plans.store('')])
  t.equal(plans.read(sha256(text)), text)
  t.strictSame([plans.has(sha256(text)), plans.has(sha256(''))], [true, false])
  for (const other of [sha256(''), '../x', 'x'.repeat(64)]) t.equal(plans.read(other), null)
})

t.test('what is old goes at a start, and the oldest of too many', async (t) => {
  const database = await openDatabase(t.testdir(), t.fail)
  t.teardown(() => database.close())
  let now = 0
  const plans = createPlanTexts(database, t.fail, { maxPlans: 3, now: () => now })
  for (const [text, days] of Object.entries({ a: 91, b: 89, c: 3, d: 2, e: 1 })) {
    now = Date.now() - days * DAY
    await plans.store(text)
  }
  now = Date.now()
  await plans.store('b') // in use again
  plans.prune()
  await database.flushed()
  const left = ['a', 'b', 'c', 'd', 'e'].filter((text) => plans.has(sha256(text)))
  t.strictSame(left, ['b', 'd', 'e'])
})

t.test('where it cannot be stored the log says why, and nothing else comes of it', async (t) => {
  const folder = t.testdir()
  const log: string[] = []
  const database = await openDatabase(folder, () => {})
  t.teardown(() => database.close())
  const undo = failCommits(folder)
  await createPlanTexts(database, (line) => void log.push(line)).store('A plan.')
  undo()
  t.match(log, [/a plan was not stored for comparison: .*database is locked/])
})
