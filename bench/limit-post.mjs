/**
 * Posts the requests in a file to a URL, one after the other over one kept connection: `node bench/limit-post.mjs FILE
 * URL`. Prints how many milliseconds that took.
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

const [file = '', url = ''] = process.argv.slice(2)
/** @type {{ headers: Record<string, string>, body: string }[]} */
const requests = JSON.parse(readFileSync(file, 'utf8'))
const agent = new Agent({ keepAlive: true })
const began = performance.now()
for (const { headers, body } of requests) {
  await new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', resolve)
    })
    sending.on('error', reject)
    sending.end(body)
  })
}
console.log(`posted in ${performance.now() - began} ms`)
agent.destroy()
