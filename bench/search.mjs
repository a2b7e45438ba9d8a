import { startCasefile } from './casefile.mjs'
import { openClient } from './client.mjs'
import { median } from './figures.mjs'
import { ripgrep } from './peers-search.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite } from './suite.mjs' */
/** @import { Client } from './client.mjs' */

const ROUNDS = 20
/** What is looked for, and the word of it that ripgrep is given. */
const QUERIES = [
  ['one word', 'invoices', 'invoices'],
  ['three words', 'invoices export fails', 'invoices'],
  ['a slip of the finger', 'invoicse', 'invoic'],
  ['a phrase', '"invoices loses the last page"', 'invoices loses the last page'],
  ['a word that no case has', 'nosuchword', 'nosuchword'],
  ['a word and filters', 'invoices type:bug state:OPEN', 'invoices'],
]

/**
 * `GET /search` beside ripgrep, and what the index costs.
 * @type {Suite}
 */
export const searchSuite = {
  sizes: [10_000],
  limits: {
    ripgrep: 'a process for each search: `rg --ignore-case` for one word, over all markdown files',
  },
  async *measure(size, { program, parent, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, newStateDir, cases, ids } = workspace
    const stateDir = newStateDir()
    const limit = async (/** @type {string} */ word) => {
      const times = []
      for (let round = 0; round < ROUNDS; round++) times.push(await ripgrep(word, cases, '*.md'))
      return median(times)
    }
    const first = await limit('invoices')
    const row = (/** @type {Omit<Row, 'unit' | 'beside'>} */ of) => ({
      ...{ unit: /** @type {const} */ ('ms'), beside: 'ripgrep' },
      ...of,
    })
    for (const work of ['there is no index', 'the index is there']) {
      say(`the first search, where ${work}`)
      const casefile = await startCasefile({ program, root, stateDir, onEnd })
      const client = openClient(casefile.url)
      const ours = await timeOf(client, 'invoices')
      yield row({ what: 'first search', work, ours, limit: first })
      if (work === 'the index is there') {
        yield* await searchRows(client)
        yield row({
          what: 'after a change',
          work: 'one word',
          ours: await changed(client),
          limit: first,
        })
      }
      client.close()
      await casefile.stop('SIGTERM')
    }
    workspace.remove()

    async function searchRows(/** @type {Client} */ client) {
      const rows = []
      for (const [work = '', query = '', word = ''] of QUERIES) {
        say(work)
        const ours = []
        for (let round = 0; round < ROUNDS; round++) ours.push(await timeOf(client, query))
        const goal = { value: 20 }
        const times = { ours: median(ours), limit: await limit(word), goal }
        rows.push(row({ what: 'search, p50', work, ...times }))
      }
      return rows
    }

    async function changed(/** @type {Client} */ client) {
      const times = []
      for (let round = 0; round < ROUNDS; round++) {
        await client.ask('PUT', `/cases/${ids[round]}`, { title: `Invoices of round ${round}` })
        times.push(await timeOf(client, 'invoices'))
      }
      return median(times)
    }
  },
}

/** @param {Client} client @param {string} query */
async function timeOf(client, query) {
  const { sent, answered } = await client.ask('GET', `/search?q=${encodeURIComponent(query)}`)
  return answered - sent
}
