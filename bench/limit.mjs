/**
 * The least that a Node program can do for the same effect, as a process of its own to be measured
 * beside Casefile: `node bench/limit.mjs CASES [read|stat]`. With `read` it first reads every .md file
 * below the folder, with `stat` it asks for the times and the size of each; then it watches every folder
 * with one fs.watch each, and writes a line to whoever listens for each change of a case.md.
 */
import { readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const [cases = '', first] = process.argv.slice(2)
if (first) {
  let bytes = 0
  for (const entry of readdirSync(cases, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.md')) continue
    const path = join(entry.parentPath, entry.name)
    bytes += first === 'read' ? readFileSync(path).length : statSync(path).size
  }
  const { user, system } = process.cpuUsage()
  console.log(`${first} ${bytes} bytes in ${(user + system) / 1000} ms of processor time`)
}

const began = performance.now()
/** @type {Set<import('node:http').ServerResponse>} */
const streams = new Set()
watchFolder(cases, '')
for (const entry of readdirSync(cases, { withFileTypes: true })) {
  if (!entry.isDirectory()) continue
  const folder = join(cases, entry.name)
  watchFolder(folder, entry.name)
  for (const inner of readdirSync(folder, { withFileTypes: true })) {
    if (inner.isDirectory()) watchFolder(join(folder, inner.name), entry.name)
  }
}
console.log(`watching after ${performance.now() - began} ms`)

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.flushHeaders()
  streams.add(response)
})
server.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  console.log(`listening on http://127.0.0.1:${address.port}`)
})

/**
 * @param {string} path
 * @param {string} id
 */
function watchFolder(path, id) {
  watch(path, (_, name) => {
    if (name !== 'case.md') return
    for (const stream of streams) stream.write(`data: {"payload":{"case_id":"${id}"}}\n\n`)
  })
}
