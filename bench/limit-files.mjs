/**
 * The least that a Node process can do with the files of a workspace: `node bench/limit-files.mjs read|stat|watch|find
 * CASES [WORD]`. `read` reads every .md file, `stat` asks for the times and the size of each, `find` counts the
 * files that have the word. `watch` has one fs.watch on each folder, and writes a line to whoever listens for each
 * change of a case.md.
 */
import { readdirSync, readFileSync, statSync, watch } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'

const [mode, cases = '', word = ''] = process.argv.slice(2)
const entries = readdirSync(cases, { recursive: true, withFileTypes: true })

if (mode === 'watch') {
  /** @type {Set<import('node:http').ServerResponse>} */
  const streams = new Set()
  const watchFolder = (/** @type {string} */ path, /** @type {string} */ id) =>
    watch(path, (_, name) => {
      if (name !== 'case.md') return
      for (const stream of streams) stream.write(`data: {"payload":{"case_id":"${id}"}}\n\n`)
    })
  watchFolder(cases, '')
  for (const entry of entries) {
    if (entry.isDirectory()) watchFolder(join(entry.parentPath, entry.name), entry.name)
  }
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    streams.add(response)
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    console.log(`listening on http://127.0.0.1:${port}`)
  })
} else {
  let count = 0
  for (const entry of entries) {
    if (!entry.isFile() || !entry.name.endsWith('.md')) continue
    const path = join(entry.parentPath, entry.name)
    if (mode === 'stat') count += statSync(path).size
    else if (mode === 'read') count += readFileSync(path).length
    else if (readFileSync(path, 'utf8').toLowerCase().includes(word)) count++
  }
  console.log(`${mode} ${count}`)
}
