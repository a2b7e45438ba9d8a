import { writeFileSync } from 'node:fs'
import t from 'tap'
import { stampOf } from '../../src/files/safe-read.ts'
import { createStillCases } from '../../src/workspace/still-cases.ts'
import { openTestService } from '../fixtures/workspace.ts'

t.test('without stamps a case is untouched only while all is heard and nothing was', async (t) => {
  const app = await openTestService(t)
  const { id } = await app.newCase()
  const other = await app.newCase()
  await app.service.store.read(id)
  let isListening = true
  const due = new Set<string>()
  const { catalog, layout } = app.service
  const still = createStillCases({
    ...{ catalog, pathOf: layout.caseFolder, surelyWatchedMs: 0 },
    isListening: () => isListening,
    isDue: (each) => due.has(each),
  })
  while (!still.isStill(id)) await app.service.store.read(id)
  t.ok(still.isUntouched(id))
  t.notOk(still.isUntouched(other.id), 'one whose stamps were not taken')
  due.add(id)
  t.notOk(still.isUntouched(id), 'one that was heard of')
  due.delete(id)
  isListening = false
  t.notOk(still.isUntouched(id), 'while something may be missed')
  isListening = true
  t.ok(still.isUntouched(id))
  writeFileSync(app.file(id, 'case.md'), '# Another\n')
  t.notOk(still.isStill(id))
  t.notOk(still.isStill('no-such-case'))

  const young = createStillCases({
    ...{ catalog, pathOf: layout.caseFolder, isListening: () => true, isDue: () => false },
  })
  while (!young.isStill(other.id)) await app.service.store.read(other.id)
  t.ok((await stampOf(app.file(other.id)))!.ctimeMs > Date.now() - 5000)
  t.notOk(young.isUntouched(other.id), 'whose folder may not be watched yet')
})
