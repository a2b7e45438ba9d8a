import { openConnection, requestBytes } from './connection.mjs'
import { openIdle, startLimit } from './processes.mjs'
import { median } from './suite.mjs'

/** @import { Suite } from './suite.mjs' */

const ROUNDS = 20
const LIMIT_ROUNDS = 3
/** What is searched for, and what the limit is given. */
const QUERIES = [
  ['one word', 'invoices', 'invoices'],
  ['three words', 'invoices export fails', 'invoices'],
  ['a phrase', '"invoices loses the last page"', 'invoices loses the last page'],
]

/**
 * `GET /search` beside a search without an index.
 * @type {Suite}
 */
export const searchSuite = {
  sizes: [10_000],
  async *measure(size, options) {
    const { cases, port } = await openIdle(size, options)
    const connection = openConnection(port)
    for (const [kind, query = '', text = ''] of QUERIES) {
      options.say(`${kind}`)
      const request = requestBytes(port, 'GET', `/search?q=${encodeURIComponent(query)}`)
      await connection.time(request) // the first one may make the index
      const ours = []
      for (let round = 0; round < ROUNDS; round++) ours.push(await connection.time(request))
      const limit = []
      for (let round = 0; round < LIMIT_ROUNDS; round++) {
        limit.push(await startLimit('find', [cases, text]).end())
      }
      yield {
        what: `search for ${kind}, p50`,
        ours: median(ours),
        beside: 'reading all files to find it',
        limit: median(limit),
        goal: { most: 10 },
      }
    }
    connection.close()
  },
}
