import { join } from 'node:path'
import t from 'tap'
import { runBuilt, startBuilt, started } from '../fixtures/built-service.ts'
import { cliHere } from '../fixtures/cli-here.ts'

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

t.test('an owner that was stopped is named by its pid, and not waited for', async (t) => {
  const cli = cliHere(t)
  const stateDir = cli.env.CASEFILE_STATE_DIR
  const service = await startBuilt(t, { root: cli.root, stateDir })
  process.kill(service.pid, 'SIGSTOP')
  const said = await cli.run('list')
  const began = performance.now()
  const env = { CASEFILE_STATE_DIR: `${stateDir}-other` }
  const second = await cli.apart.runWith({ env }, 'serve', '--port', '0')
  const took = performance.now() - began
  process.kill(service.pid, 'SIGCONT')
  t.match(said, { code: 1, stderr: new RegExp(`Process ${service.pid} owns .*does not answer`) })
  t.match(said.stderr, `have it go on (kill -CONT ${service.pid})`)
  t.match(second, { code: 1, stderr: `this memory root: process ${service.pid} (not answering)` })
  t.notMatch(second.stderr, /waiting/)
  t.ok(took < 4500, `with another state folder: ${took} ms`) // what is waited for has 5 s at least
})
