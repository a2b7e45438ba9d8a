/**
 * A bare server that writes the same bytes to every open stream when it is asked with PUT, and then answers:
 * `node bench/fanout-limit.mjs FILE`, with one event in the file as it stands in a stream.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const event = readFileSync(String(process.argv[2]))
/** @type {Set<import('node:http').ServerResponse>} */
const streams = new Set()
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    streams.add(response)
    response.on('close', () => streams.delete(response))
    return
  }
  request.resume().on('end', () => {
    for (const stream of streams) stream.write(event)
    response.setHeader('content-length', 2)
    response.end('{}')
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${port}`)
})
