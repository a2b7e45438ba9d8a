/**
 * As many GET requests as a server answers in a time, from a process of its own: `node bench/load.mjs JSON`, which is a
 * `Load`. Prints a `LoadResult`.
 */
import { openConnection, requestBytes } from './connection.mjs'

/**
 * @typedef {object} Load
 * @property {number} port
 * @property {string[]} paths Asked for one after the other.
 * @property {number} connections Each has one request at a time on its way.
 * @property {number} warmMs Not counted.
 * @property {number} ms
 *
 * @typedef {{ perSecond: number, busy: number }} LoadResult `busy` is the share of the time that this process ran:
 *   near 1 the client is what was measured.
 */

/** @type {Load} */
const { port, paths, connections, warmMs, ms } = JSON.parse(String(process.argv[2]))
const requests = paths.map((path) => requestBytes(port, 'GET', path))
let answers = 0

for (let index = 0; index < connections; index++) void askForEver()

setTimeout(() => {
  const [began, from, cpu] = [performance.now(), answers, process.cpuUsage()]
  setTimeout(() => {
    const { user, system } = process.cpuUsage(cpu)
    const took = performance.now() - began
    const perSecond = ((answers - from) / took) * 1000
    console.log(JSON.stringify({ perSecond, busy: (user + system) / 1000 / took }))
    process.exit()
  }, ms)
}, warmMs)

async function askForEver() {
  for (const connection = openConnection(port); ; answers++) {
    await connection.time(/** @type {Buffer} */ (requests[answers % requests.length]))
  }
}
