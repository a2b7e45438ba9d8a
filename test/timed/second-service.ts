import { join } from 'node:path'
import t from 'tap'
import { runBuilt, started } from '../fixtures/built-service.ts'

t.test('a second service on the same files ends within 2 s', async (t) => {
  t.teardown(() => {}) // or tap removes the testdir before the service has ended
  const dir = t.testdir({ root: {}, state: {}, elsewhere: {} })
  const words = ['serve', '--root', join(dir, 'root'), '--port', '0', '--state-dir']
  const first = await started([...words, join(dir, 'state')], {})
  t.teardown(() => first.stop('SIGKILL'))
  for (const state of ['state', 'elsewhere']) {
    const second = await runBuilt([...words, join(dir, state)])
    t.match(second, { code: 1, stderr: new RegExp(`\\b${first.pid}\\b`) })
    t.ok(second.ms < 2000, `${Math.round(second.ms)} ms`)
  }
})
