import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * A request as it came, with the time of its end.
 * @typedef {{ at: number, headers: import('node:http').IncomingHttpHeaders, body: string }} Got
 */

const GIVE_UP_MS = 60_000

/**
 * A receiver of webhooks in this process, so that times are of one clock. One that hangs takes and
 * reads whatever comes, and never answers.
 * @param {object} options
 * @param {(undo: () => unknown) => void} options.onEnd
 * @param {(got: Got) => void} [options.onGot]
 * @param {boolean} [options.hangs]
 */
export async function openReceiver({ onEnd, onGot = () => {}, hangs = false }) {
  let count = 0
  /** @type {{ count: number, wake: () => void } | null} */
  let waiter = null
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('error', () => {}) // a sender that was told to stop cuts what hangs
    request.on('end', () => {
      onGot({ at: performance.now(), headers: request.headers, body })
      count++
      if (!hangs) response.writeHead(204).end()
      if (waiter && count >= waiter.count) waiter.wake()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onEnd(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/hook`,
    /** How many came so far. */
    count: () => count,
    /** Resolves once so many came in all. @param {number} wanted */
    async until(wanted) {
      if (count >= wanted) return
      await new Promise((resolve, reject) => {
        const late = () => reject(new Error(`only ${count} of ${wanted} deliveries came`))
        const timer = setTimeout(late, GIVE_UP_MS)
        waiter = {
          count: wanted,
          wake() {
            clearTimeout(timer)
            resolve(undefined)
          },
        }
      })
      waiter = null
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof openReceiver>>} Receiver */
