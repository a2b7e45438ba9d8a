import { startIdle, startLimit } from './processes.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { cases, median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

const ROUNDS = 20
/** What is looked for, and what the limit is given. */
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
  limits: {
    finding:
      'a Node process, from its start until it has read every .md file and looked for one word, or the phrase, in each',
  },
  async *measure(size, { program, parent, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, cases: folder, newStateDir } = workspace
    const { port, stop } = await startIdle({ program, root, stateDir: newStateDir(), onEnd })
    const connection = openRaw(port)
    for (const [on = '', query = '', word = ''] of QUERIES) {
      say(on)
      const request = rawRequest(port, 'GET', `/search?q=${encodeURIComponent(query)}`)
      await connection.time(request) // the first one may make the index
      const ours = []
      for (let round = 0; round < ROUNDS; round++) ours.push(await connection.time(request))
      const limit = []
      for (let round = 0; round < 3; round++) {
        limit.push(await startLimit('files', ['find', folder, word]).end())
      }
      yield {
        what: `search for ${on}, p50`,
        on: cases(size),
        unit: 'ms',
        ours: median(ours),
        beside: 'finding',
        limit: median(limit),
        goal: { most: 20 },
      }
    }
    connection.close()
    await stop('SIGTERM')
    workspace.remove()
  },
}
