import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { whenNeeded } from '../../src/http/when-needed.ts'

t.test('what answers is loaded once, with the first request that needs it', async (t) => {
  const said: string[] = []
  let loads = 0
  let isBroken = true
  const answers: RequestListener = async (incoming, outgoing) => {
    let body = ''
    for await (const part of incoming) body += part
    outgoing.end(`${incoming.url} ${body}`)
  }
  const listener = whenNeeded(
    async () => {
      loads++
      if (isBroken) throw new Error('the file is gone')
      return answers
    },
    (line) => said.push(line),
  )
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close().closeAllConnections())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.equal(loads, 0)

  const refused = await fetch(`${url}/a`)
  t.equal(refused.status, 500)
  t.match(await refused.json(), { status: 500, code: 'internal' })
  t.match(said, [/cannot be loaded: Error: the file is gone/])

  isBroken = false
  const replies = [1, 2, 3].map((n) => fetch(`${url}/${n}`, { method: 'POST', body: `body ${n}` }))
  const texts = await Promise.all((await Promise.all(replies)).map((reply) => reply.text()))
  t.strictSame(texts, ['/1 body 1', '/2 body 2', '/3 body 3'])
  t.equal(loads, 2, 'tried again, and then once for all')
  t.equal(said.length, 1)
})
