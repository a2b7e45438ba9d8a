/**
 * The least that a Node program can do for the same effect, to be measured beside Casefile's webhooks:
 * `node bench/webhook-limit.mjs post FILE URL…` posts the requests in a file to each URL, one after the
 * other over one kept connection, each time that it is asked to; `answer URL` answers a PUT and then
 * posts; `edits CASES URL` has one fs.watch on each case's folder, and posts for each change of a
 * case.md that it hears of.
 */
import { readdirSync, readFileSync, watch } from 'node:fs'
import { Agent, createServer, request } from 'node:http'
import { join } from 'node:path'

const [mode, ...args] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true })

/**
 * @param {string} url
 * @param {string} body
 * @param {Record<string, string>} [headers]
 */
function post(url, body, headers = { 'content-type': 'application/json' }) {
  const given = { ...headers, 'content-length': Buffer.byteLength(body) }
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', agent, headers: given }, (response) => {
      response.resume().on('end', resolve)
    })
    sending.on('error', reject)
    sending.end(body)
  })
}

/** @param {string} id */
const eventOf = (id) => JSON.stringify({ event_type: 'case_updated', payload: { case_id: id } })

/** @param {(path: string) => Promise<unknown> | void} onAsked Called once the answer is on its way. */
function listen(onAsked) {
  const server = createServer((asked, response) => {
    asked.resume().on('end', () => {
      response.end('{}')
      onAsked(asked.url ?? '')
    })
  })
  server.listen(0, '127.0.0.1', () => {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    console.log(`listening on http://127.0.0.1:${port}`)
  })
}

if (mode === 'post') {
  const [file = '', ...urls] = args
  /** @type {{ headers: Record<string, string>, body: string }[]} */
  const requests = JSON.parse(readFileSync(file, 'utf8'))
  listen(async () => {
    await Promise.all(
      urls.map(async (url) => {
        for (const { headers, body } of requests) await post(url, body, headers)
      }),
    )
  })
} else if (mode === 'answer') {
  const [url = ''] = args
  listen((path) => post(url, eventOf(path.split('/').pop() ?? '')))
} else if (mode === 'edits') {
  const [cases = '', url = ''] = args
  for (const id of readdirSync(cases)) {
    watch(join(cases, id), (_, name) => {
      if (name === 'case.md') void post(url, eventOf(id))
    })
  }
  listen(() => {})
}
