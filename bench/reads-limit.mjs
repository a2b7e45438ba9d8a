/**
 * A bare server that sends answers it has ready: `node bench/reads-limit.mjs FOLDER`, in which
 * `answers.json` names what another server answered. `?stringify` behind a path makes the body anew
 * from its values each time.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

/** @typedef {{ path: string, headers: Record<string, string>, file: string }} Recorded */

const folder = String(process.argv[2])
/** @type {Recorded[]} */
const recorded = JSON.parse(readFileSync(join(folder, 'answers.json'), 'utf8'))
/** @type {Map<string, { headers: Record<string, string>, body: () => Buffer | string }>} */
const answers = new Map()
for (const { path, headers, file } of recorded) {
  const bytes = readFileSync(join(folder, file))
  answers.set(path, { headers, body: () => bytes })
  if (!Array.isArray(JSON.parse(bytes.toString()))) continue
  const values = JSON.parse(bytes.toString())
  answers.set(`${path}?stringify`, { headers, body: () => `${JSON.stringify(values)}\n` })
}

const server = createServer((request, response) => {
  const answer = answers.get(request.url ?? '')
  response.writeHead(answer ? 200 : 404, answer?.headers)
  response.end(answer?.body())
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${port}`)
})
