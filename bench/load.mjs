/**
 * As many requests as a server answers in a time: `node bench/load.mjs FILE`, a process of its own. The
 * file holds a `Load` as JSON; a `LoadResult` is written to standard output.
 */
import { readFileSync } from 'node:fs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/**
 * @typedef {object} Load
 * @property {number} port
 * @property {string[]} paths Asked for one after the other.
 * @property {Record<string, string>} headers
 * @property {number} status That all answers must have.
 * @property {number} connections Each has one request at a time on its way.
 * @property {number} warmMs Not counted.
 * @property {number} ms
 *
 * @typedef {{ requests: number, ms: number, all: number, busyMs: number }} LoadResult `requests`
 *   were answered in `ms`, `all` since the start. `busyMs` is its own processor time: where it comes near
 *   to `ms`, the client is what was measured.
 */

/** @type {Load} */
const load = JSON.parse(readFileSync(String(process.argv[2]), 'utf8'))
const { port, headers } = load
const requests = load.paths.map((path) => rawRequest(port, 'GET', path, { headers }))
let turn = 0
let answers = 0
let isOver = false

for (let index = 0; index < load.connections; index++) {
  const connection = openRaw(port)
  const next = () =>
    connection.send(/** @type {Buffer} */ (requests[turn++ % requests.length]), got, fail)
  /** @param {import('./raw-connection.mjs').RawAnswer} answer */
  const got = ({ status }) => {
    if (status !== load.status) throw new Error(`answered ${status}, not ${load.status}`)
    answers++
    if (isOver) connection.close()
    else next()
  }
  next()
}

/** @param {Error} error */
function fail(error) {
  throw error
}

setTimeout(() => {
  const [began, from, cpu] = [performance.now(), answers, process.cpuUsage()]
  setTimeout(() => {
    const { user, system } = process.cpuUsage(cpu)
    const ms = performance.now() - began
    const requests = answers - from
    console.log(JSON.stringify({ requests, ms, all: answers, busyMs: (user + system) / 1000 }))
    isOver = true
  }, load.ms)
}, load.warmMs)
