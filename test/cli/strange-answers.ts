import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { takeOwnership } from '../../src/state/owner/ownership.ts'
import { cliHere } from '../fixtures/cli-here.ts'

t.test('an answer that lacks members is an error in one sentence', async (t) => {
  const cli = cliHere(t, { memory: { cases: {} } })
  const service = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(request.url === '/health' ? '{"status":"ok"}' : '{}')
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  t.teardown(() => void service.close())
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const memoryRoot = join(cli.root, 'memory')
  const owner = await takeOwnership({ memoryRoot, stateDir: cli.env.CASEFILE_STATE_DIR })
  t.teardown(() => owner.release())
  owner.announce(url)
  for (const line of [
    'webhook add http://127.0.0.1:9000/',
    'webhook list',
    'list',
    'new A',
    'sync',
    'show x',
  ]) {
    const { code, stderr } = await cli.run(...line.split(' '))
    t.not(code, 0, line)
    t.match(stderr, /^casefile: The service at http:\S+ gave an answer that/, line)
    t.notMatch(stderr, /^ +at /m, line)
  }
})
