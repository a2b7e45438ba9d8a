import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { endpointsOf } from '../../src/http/endpoints.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { isFull } from '../fixtures/full.ts'
import { contractOf } from '../fixtures/fuzz/contract.ts'
import { fuzz } from '../fixtures/fuzz/session.ts'
import { openTestService } from '../fixtures/workspace.ts'

/** Each on a service of its own, so that a run can be replayed without all those before it. */
const REQUESTS_EACH = 1000
const first = Number(process.env.CASEFILE_TEST_SEED)
const seeds = Array.from({ length: isFull ? 100 : 5 }, (_, n) => first + n)
const REQUESTS = seeds.length * REQUESTS_EACH

// what could be given back is no growth
setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** Takes events, refuses them, or is gone for good, by the path. */
async function receiver(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(Number(request.url?.slice(1)) || 200).end()
    })
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test(`${REQUESTS} random requests: each answer is as /openapi.json says`, async (t) => {
  const astray: unknown[] = []
  const onAstray = (error: unknown) => void astray.push(error)
  for (const event of ['unhandledRejection', 'uncaughtException'] as const) {
    process.on(event, onAstray)
    t.teardown(() => process.off(event, onAstray))
  }
  const to = await receiver(t)
  const urls = [`${to}/200`, `${to}/500`, `${to}/410`, 'http://127.0.0.1:2/', 'ftp://x', '', 'x y']
  const document = openApiDocument(endpointsOf({ dev: true }), {
    build: { version: '0', commit: null },
  })
  const contract = contractOf(JSON.parse(JSON.stringify(document)))
  const memory: number[] = []
  let sent = 0
  for (const seed of seeds) {
    await t.test(`CASEFILE_TEST_SEED=${seed}`, async (t) => {
      const app = await openTestService(t, { dev: true })
      const result = await fuzz(app, { contract, seed, requests: REQUESTS_EACH, urls })
      sent += result.sent
      t.strictSame(result.faults, [])
      t.equal(result.sent, REQUESTS_EACH)
      t.equal((await app.request('GET', '/health')).status, 200, 'it lives')
      t.strictSame(app.log.filter(isFailure), [], 'nothing was logged as a failure')
    })
    collect()
    memory.push(process.memoryUsage.rss())
  }
  const { seen } = contract
  t.strictSame(astray, [], 'nothing was thrown past everybody')
  t.equal(sent, REQUESTS, 'all of them were sent')
  t.ok(seen.size > 100, `${seen.size} pairs of operation and status were seen`)
  const grown = (memory.at(-1)! - memory[0]!) / 2 ** 20
  t.ok(grown <= 100, `memory grew by ${grown.toFixed(0)} MiB from the first to the last thousand`)
  const each = memory.map((bytes) => Math.round(bytes / 2 ** 20)).join(' ')
  t.comment(`${sent} requests, ${seen.size} pairs; MiB after each thousand: ${each}`)
})

/** What says that the service is to blame: the stack of an error. */
function isFailure(line: string): boolean {
  return /\n\s+at /.test(line)
}
