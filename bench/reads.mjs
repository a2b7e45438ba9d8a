import { join } from 'node:path'
import { CLIENT_CORE, SERVER_CORE, startChild, startIdle, startLimit } from './processes.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { cases, median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Load, LoadResult } from './load.mjs' */
/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */

const LOAD = join(import.meta.dirname, 'load.mjs')
const ROUNDS = 5
const SLICE = { warmMs: 500, ms: 1000 }
/** So many cases are asked for in turn. */
const CASES = 100
/** From here on the client may be what was measured. */
const BUSY = 0.95
/** For a list after a change: at the larger size alone. */
const LONG = 10_000

/**
 * Requests a second on one core, beside a bare hono app with the same answers; the first list after a change.
 * @type {Suite}
 */
export const readsSuite = {
  sizes: [1000, LONG],
  limits: {
    'bare hono': 'a hono app on @hono/node-server with no middleware that has the same bytes ready',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`Casefile is started on ${size} cases`)
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, ids, newStateDir } = workspace
    const stateDir = newStateDir()
    const casefile = await startIdle({ program, root, stateDir, onEnd, core: SERVER_CORE })
    const one = ids.slice(0, CASES).map((id) => `/cases/${id}`)
    const hono = startLimit('hono', [casefile.url, '/cases', ...one], SERVER_CORE)
    onEnd(() => hono.stop('SIGKILL'))
    const { found } = await hono.line(/^listening on http:\/\/127.0.0.1:(\d+)$/m)
    const ports = { ours: casefile.port, limit: Number(found[1]) }
    if (size < LONG) {
      yield await rateRow('GET one case', size, ports, { paths: one, connections: 16 }, options)
      const list = { paths: ['/cases'], connections: 4 }
      yield await rateRow('GET the list, unchanged', size, ports, list, options)
    } else {
      yield await changeRow(size, ports, one, options)
    }
    await hono.stop('SIGKILL')
    await casefile.stop('SIGTERM')
    workspace.remove()
  },
}

/** @typedef {{ ours: number, limit: number }} Ports */

/**
 * Slices of a second in turns, of which the median counts.
 * @param {string} what
 * @param {number} size
 * @param {Ports} ports
 * @param {Pick<Load, 'paths' | 'connections'>} asked
 * @param {SuiteOptions} options
 * @returns {Promise<Row>}
 */
async function rateRow(what, size, ports, asked, { say }) {
  say(`${cases(size)}: ${what}`)
  /** @type {{ ours: number[], limit: number[] }} */
  const rates = { ours: [], limit: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of /** @type {const} */ (['limit', 'ours'])) {
      const load = JSON.stringify({ port: ports[side], ...asked, ...SLICE })
      const child = startChild([LOAD, load], CLIENT_CORE)
      const { found } = await child.line(/^\{.*\}$/m)
      await child.stop('SIGKILL')
      /** @type {LoadResult} */
      const { perSecond, busy } = JSON.parse(found[0])
      if (busy > BUSY) say(`the client was busy for ${Math.round(busy * 100)} % of the time`)
      rates[side].push(perSecond)
    }
  }
  return {
    what,
    on: cases(size),
    unit: 'perSecond',
    ours: median(rates.ours),
    beside: 'bare hono',
    limit: median(rates.limit),
    goal: { share: 0.6 },
  }
}

/**
 * The list right after the title of a case changed, from the request to its last byte.
 * @param {number} size
 * @param {Ports} ports
 * @param {string[]} one
 * @param {SuiteOptions} options
 * @returns {Promise<Row>}
 */
async function changeRow(size, ports, one, { say }) {
  say(`${cases(size)}: the list after a change`)
  const [ours, limit] = [openRaw(ports.ours), openRaw(ports.limit)]
  /** @type {{ ours: number[], limit: number[] }} */
  const times = { ours: [], limit: [] }
  for (let round = 0; round < 25; round++) {
    const json = { title: `Changed before a list, ${round}` }
    await ours.time(rawRequest(ports.ours, 'PUT', String(one[round % one.length]), { json }))
    times.ours.push(await ours.time(rawRequest(ports.ours, 'GET', '/cases')))
    times.limit.push(await limit.time(rawRequest(ports.limit, 'GET', '/cases')))
  }
  ours.close()
  limit.close()
  return {
    what: 'the list after a change',
    on: cases(size),
    unit: 'ms',
    ours: median(times.ours),
    beside: 'bare hono',
    limit: median(times.limit),
    goal: { most: 60 },
  }
}
