import { requestBytes } from './connection.mjs'
import { openIdle } from './processes.mjs'
import { cases, percentiles } from './suite.mjs'

/** @import { Suite } from './suite.mjs' */

const SMALL = 1000
/** Requests at one service, then as many at the other. */
const TURN = 20

/** @typedef {(port: number, id: string, turn: number) => Buffer} Ask */

/** What is asked, for each of `--times` how often, and how many times as long it may take. @type {[string, number, number, Ask][]} */
const KINDS = [
  ['GET one case', 5, 1.3, (port, id) => requestBytes(port, 'GET', `/cases/${id}`)],
  [
    'PUT title',
    1,
    1.3,
    (port, id, turn) => requestBytes(port, 'PUT', `/cases/${id}`, titled(turn)),
  ],
  ['POST a case', 1, 1.3, (port, _, turn) => requestBytes(port, 'POST', '/cases', titled(turn))],
  ['search for one word', 0.2, 6, (port) => requestBytes(port, 'GET', '/search?q=invoices')],
]

/**
 * What a request takes among many cases and among few, of two services asked in turns.
 * @type {Suite}
 */
export const growthSuite = {
  sizes: [50_000],
  async *measure(size, options) {
    const [large, small] = [await openIdle(size, options), await openIdle(SMALL, options)]
    const sides = /** @type {const} */ ([
      ['limit', small],
      ['ours', large],
    ])
    for (const [what, times, ratio, ask] of KINDS) {
      options.say(what)
      /** @type {{ ours: number[], limit: number[] }} */
      const both = { ours: [], limit: [] }
      for (const [, { connection, port, ids }] of sides) {
        await connection.time(ask(port, String(ids[1]), -1)) // the first search may make the index
      }
      for (let asked = 0; asked < options.times * times; asked += TURN) {
        for (const [side, { connection, port, ids }] of sides) {
          for (let turn = asked; turn < asked + TURN; turn++) {
            const id = String(ids[(turn * 7919) % ids.length]) // a prime: spread over all
            both[side].push(await connection.time(ask(port, id, turn)))
          }
        }
      }
      yield {
        what: `${what}, p50`,
        ...percentiles(both),
        beside: `the same among ${cases(SMALL)}`,
        goal: { ratio },
      }
    }
  },
}

/** @param {number} turn */
function titled(turn) {
  return { title: `By request ${turn}` }
}
