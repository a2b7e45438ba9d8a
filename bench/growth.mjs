import { startIdle } from './processes.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { cases, median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite, SuiteOptions } from './suite.mjs' */

const SMALL = 1000
/** Requests at one service, then as many at the other. */
const TURN = 20

/** @typedef {{ what: string, times: number, ratio: number, request: (port: number, id: string, turn: number) => Buffer }} Kind */

/** @type {Kind[]} */
const KINDS = [
  {
    what: 'GET one case, p50',
    times: 5,
    ratio: 1.3,
    request: (port, id) => rawRequest(port, 'GET', `/cases/${id}`),
  },
  {
    what: 'PUT title, p50',
    times: 1,
    ratio: 1.3,
    request: (port, id, turn) =>
      rawRequest(port, 'PUT', `/cases/${id}`, { json: { title: `Changed by a request, ${turn}` } }),
  },
  {
    what: 'POST a case, p50',
    times: 1,
    ratio: 1.3,
    request: (port, _, turn) =>
      rawRequest(port, 'POST', '/cases', { json: { title: `Made by a request, ${turn}` } }),
  },
  {
    what: 'search for one word, p50',
    times: 0.2,
    ratio: 6,
    request: (port) => rawRequest(port, 'GET', '/search?q=invoices'),
  },
]

/**
 * What a request takes among many cases and among few, of two services asked in turns.
 * @type {Suite}
 */
export const growthSuite = {
  sizes: [50_000],
  limits: { 'among 1,000': `another Casefile on ${cases(SMALL)}` },
  async *measure(size, options) {
    const [large, small] = [await openOne(size, options), await openOne(SMALL, options)]
    for (const kind of KINDS) {
      options.say(`${cases(size)}: ${kind.what}`)
      for (const side of [large, small]) await side.time(kind) // the first search may open the index
      /** @type {{ ours: number[], limit: number[] }} */
      const times = { ours: [], limit: [] }
      while (times.ours.length < options.times * kind.times) {
        for (let done = 0; done < TURN; done++) times.limit.push(await small.time(kind))
        for (let done = 0; done < TURN; done++) times.ours.push(await large.time(kind))
      }
      yield {
        what: kind.what,
        on: cases(size),
        unit: 'ms',
        ours: median(times.ours),
        beside: 'among 1,000',
        limit: median(times.limit),
        goal: { ratio: kind.ratio },
      }
    }
    for (const { close } of [large, small]) await close()
  },
}

/** @param {number} size @param {SuiteOptions} options */
async function openOne(size, { program, parent, say, onEnd }) {
  say(`Casefile is started on ${cases(size)}`)
  const workspace = makeWorkspace({ parent, count: size, seed: size })
  onEnd(workspace.remove)
  const { root, ids, newStateDir } = workspace
  const { port, stop } = await startIdle({ program, root, stateDir: newStateDir(), onEnd })
  const connection = openRaw(port)
  let turn = 0
  return {
    /** @param {Kind} kind */
    time({ request }) {
      const id = String(ids[(turn * 7919) % ids.length]) // a prime: spread over all
      return connection.time(request(port, id, turn++))
    },
    async close() {
      connection.close()
      await stop('SIGTERM')
      workspace.remove()
    },
  }
}
