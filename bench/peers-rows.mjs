import { median } from './figures.mjs'
import { createRandom } from './random.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/** @import { Goal, Row, SuiteOptions } from './suite.mjs' */

/**
 * @typedef {'get' | 'list' | 'create' | 'update'} Action
 * @typedef {ReturnType<typeof import('./client.mjs').openClient>} Client
 * @typedef {{ id: string, title: string, description: string, state: string, tags: string[] }} Case
 * @typedef {Pick<Case, 'title' | 'description' | 'tags'>} Texts
 *
 * @typedef {object} Peer
 * @property {string} url
 * @property {Requests} requests
 * @property {() => Promise<void>} stop
 *
 * @typedef {{ cases: readonly Case[], parent: string, onEnd: SuiteOptions['onEnd'] }} PeerOptions
 * @typedef {(options: PeerOptions) => Promise<Peer | { missing: string }>} Start
 *
 * @typedef {[method: string, path: string, body?: unknown]} Request
 *
 * How a program is asked; a case goes by its place in the list that the peer was filled from.
 * @typedef {object} Requests
 * @property {(index: number) => Request} get
 * @property {() => Request} list
 * @property {(texts: Texts) => Request} create
 * @property {(index: number, title: string) => Request} update
 */

/** No further request is made after this; a peer may take seconds for each. */
const ENOUGH_MS = 15_000
const FEWEST = 3
/** @type {Action[]} */
const ACTIONS = ['get', 'list', 'create', 'update']

/**
 * The same requests to Casefile and to a peer, in turns on one kept connection each. The median counts.
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.url of Casefile
 * @param {readonly Case[]} options.cases
 * @param {Record<Action, Goal>} options.goals
 * @param {Peer} options.peer
 * @param {number} options.saves
 * @returns {Promise<Row[]>}
 */
export async function measurePeer({ name, url, cases, goals, peer, saves }) {
  const random = createRandom(cases.length)
  const sides = [{ url, requests: requestsTo(cases) }, peer].map(({ url, requests }) => {
    const port = Number(new URL(url).port)
    return { port, requests, connection: openRaw(port), times: /** @type {number[]} */ ([]) }
  })
  /** @type {Row[]} */
  const rows = []
  for (const action of ACTIONS) {
    for (const side of sides) side.times.length = 0
    const began = performance.now()
    for (let round = 0; round <= saves; round++) {
      if (round > FEWEST && performance.now() - began > ENOUGH_MS) break
      const index = random.below(cases.length)
      const ask = requestOf(action, index, round, cases)
      for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
        const [method, path, json] = ask(side.requests)
        const request = rawRequest(side.port, method, path, { json })
        const ms = await side.connection.time(request)
        if (round > 0) side.times.push(ms) // the first opens the connection
      }
    }
    const [ours = 0, limit = 0] = sides.map(({ times }) => median(times))
    rows.push({
      ...{ what: `${action}, p50`, work: `${cases.length.toLocaleString('en')} cases`, unit: 'ms' },
      ...{ ours, beside: name, limit, goal: goals[action] },
    })
  }
  for (const { connection } of sides) connection.close()
  return rows
}

/**
 * @param {Action} action
 * @param {number} index
 * @param {number} round
 * @param {readonly Case[]} cases
 * @returns {(requests: Requests) => Request}
 */
function requestOf(action, index, round, cases) {
  const { title = '', description = '', tags = [] } = cases[index] ?? {}
  switch (action) {
    case 'get':
      return (to) => to.get(index)
    case 'list':
      return (to) => to.list()
    case 'create':
      return (to) => to.create({ title: `${title}, case ${round}`, description, tags })
    case 'update':
      return (to) => to.update(index, `${title}, edit ${round}`)
  }
}

/** @param {readonly Case[]} cases @returns {Requests} */
function requestsTo(cases) {
  return {
    get: (index) => ['GET', `/cases/${cases[index]?.id}`],
    list: () => ['GET', '/cases'],
    create: (texts) => ['POST', '/cases', texts],
    update: (index, title) => ['PUT', `/cases/${cases[index]?.id}`, { title }],
  }
}
