import { join } from 'node:path'
import { openConnection, requestBytes } from './connection.mjs'
import { CLIENT_CORE, openIdle, SERVER_CORE, startChild, startLimit } from './processes.mjs'
import { inTurns, percentiles } from './suite.mjs'

/** @import { Load, LoadResult } from './load.mjs' */
/** @import { Suite, SuiteOptions } from './suite.mjs' */

const LOAD = join(import.meta.dirname, 'load.mjs')
const ROUNDS = 5
const SLICE = { warmMs: 500, ms: 1000 }
const CHANGES = 25
/** So many cases are asked for in turn. */
const CASES = 100
/** From here on the client may be what was measured. */
const BUSY = 0.95
/** From this size on the list after a change is measured, and nothing else. */
const LONG = 10_000

/**
 * Requests a second on one core, beside a bare hono app with the same answers; the first list after a change.
 * @type {Suite}
 */
export const readsSuite = {
  sizes: [1000, LONG],
  async *measure(size, options) {
    const { ids, url, port } = await openIdle(size, options, SERVER_CORE)
    const one = ids.slice(0, CASES).map((id) => `/cases/${id}`)
    const hono = startLimit('hono', [url, '/cases', ...one], SERVER_CORE)
    options.onEnd(() => hono.stop('SIGKILL'))
    const { found } = await hono.line(/^listening on http:\/\/127.0.0.1:(\d+)$/m)
    const limitPort = Number(found[1])
    if (size >= LONG) {
      options.say('the list after a change')
      const list = openConnection(limitPort)
      const times = await inTurns(
        CHANGES,
        () => list.time(requestBytes(limitPort, 'GET', '/cases')),
        listsAfterChanges(port, one),
      )
      list.close()
      yield {
        what: 'the list after a change',
        ...percentiles(times),
        beside: 'a bare hono app',
        goal: { most: 60 },
      }
      return
    }
    for (const [what, paths, connections] of /** @type {const} */ ([
      ['GET one case', one, 16],
      ['GET the list, unchanged', ['/cases'], 4],
    ])) {
      options.say(what)
      const load = { paths: [...paths], connections, ...SLICE }
      const rates = await inTurns(
        ROUNDS,
        () => answersPerSecond({ port: limitPort, ...load }, options),
        () => answersPerSecond({ port, ...load }, options),
      )
      yield {
        what,
        unit: 'perSecond',
        ...percentiles(rates),
        beside: 'a bare hono app',
        goal: { share: 0.6 },
      }
    }
  },
}

/** @param {Load} load @param {SuiteOptions} options */
async function answersPerSecond(load, { say }) {
  const child = startChild([LOAD, JSON.stringify(load)], { core: CLIENT_CORE })
  const { found } = await child.line(/^\{.*\}$/m)
  await child.end()
  /** @type {LoadResult} */
  const { perSecond, busy } = JSON.parse(found[0])
  if (busy > BUSY) say(`the client was busy for ${Math.round(busy * 100)} % of the time`)
  return perSecond
}

/** Times the list right after the title of a case changed, from the request to its last byte. @param {number} port @param {string[]} paths */
function listsAfterChanges(port, paths) {
  const connection = openConnection(port)
  let turn = 0
  return async () => {
    const title = `Changed before a list, ${turn}`
    await connection.time(requestBytes(port, 'PUT', `${paths[turn++ % paths.length]}`, { title }))
    return connection.time(requestBytes(port, 'GET', '/cases'))
  }
}
