/**
 * The least that a Node program can do for the same effect, as a process of its own to be measured
 * beside Casefile: `node bench/limit.mjs CASES [read]`. With `read` it first reads every .md file
 * below the folder; then it watches every folder with one fs.watch each, and writes a line to whoever
 * listens for each change of a case.md.
 */
import { readdirSync, readFileSync, watch } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const [cases = '', read] = process.argv.slice(2)
let bytes = 0
if (read) {
  for (const entry of readdirSync(cases, { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.md')) {
      bytes += readFileSync(join(entry.parentPath, entry.name)).length
    }
  }
  console.log(`read ${bytes} bytes`)
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
