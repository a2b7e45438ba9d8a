import { join } from 'node:path'
import t from 'tap'
import type { Search } from '../src/search/search.ts'
import { openService } from '../src/service.ts'
import { createUndoStack } from '../src/stopping.ts'

t.test('every step of a closing is run, the last one first, whatever fails', async (t) => {
  const done: string[] = []
  const undo = createUndoStack()
  undo.add(() => done.push('first'))
  undo.add(async () => {
    done.push('second')
    throw new Error('one')
  })
  undo.add(
    () => {
      done.push('third')
      throw new Error('two')
    },
    () => done.push('beside it'),
  )
  await t.rejects(undo.close(), { message: '2 parts failed to close: Error: two; Error: one' })
  t.same(done, ['third', 'beside it', 'second', 'first'])
  await t.rejects(undo.close(), AggregateError, 'the same for whoever closes it again')
  t.equal(done.length, 4, 'once')

  const other = createUndoStack()
  other.add(() => Promise.reject(new Error('alone')))
  await t.rejects(other.close(), { message: 'alone' })
})

t.test('a service whose parts fail to close gives the workspace back', async (t) => {
  const dir = t.testdir({ root: {}, state: {} })
  const options = { root: join(dir, 'root'), stateDir: join(dir, 'state') }
  const service = await openService({ ...options, log: () => {} })
  const search = service.search as Search
  const { close } = search
  search.close = async () => {
    await close()
    throw new Error('the search')
  }
  service.sessions.close = () => Promise.reject(new Error('the sessions'))
  const { close: closeRefresher } = service.refresher
  service.refresher.close = async () => {
    await closeRefresher() // its watches would keep the process
    throw new Error('the refresher')
  }
  await t.rejects(service.close(), { message: /^3 parts failed to close: .*the search/ })

  const log: string[] = []
  let calls = 0
  const now = () => {
    calls++
    throw new Error('no clock')
  }
  await t.rejects(openService({ ...options, now, log: (line) => log.push(line) }), /no clock/)
  t.ok(calls > 0, 'nor does one that fails to open keep it')
  t.same(log, [])
  const again = await openService({ ...options, log: () => {} })
  await again.close()
})
