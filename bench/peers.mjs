import { openClient } from './client.mjs'
import { startBacklog } from './peers-backlog.mjs'
import { startJsonServer } from './peers-json-server.mjs'
import { startIdle } from './processes.mjs'
import { createRandom } from './random.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { median, cases as named } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */

/**
 * @typedef {'get' | 'list' | 'create' | 'update'} Action
 * @typedef {{ id: string, title: string, description: string, state: string, tags: string[] }} Case
 * @typedef {Pick<Case, 'title' | 'description' | 'tags'>} Texts
 * @typedef {{ url: string, requests: Requests, stop: () => Promise<void> }} Peer
 * @typedef {{ cases: readonly Case[], parent: string, onEnd: SuiteOptions['onEnd'] }} PeerOptions
 * @typedef {(options: PeerOptions) => Promise<Peer | { missing: string }>} Start
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

/** Each with as many cases as it is measured with, and how much of its time Casefile may take. @type {Record<string, { fits: (size: number) => boolean, start: Start, reads: number, writes: number }>} */
const PEERS = {
  'backlog.md': { fits: (size) => size <= 5000, start: startBacklog, reads: 0.02, writes: 0.02 },
  'json-server': { fits: (size) => size > 5000, start: startJsonServer, reads: 1, writes: 0.2 },
}

/**
 * The same requests to other programs that hold the same texts.
 * @type {Suite}
 */
export const peersSuite = {
  sizes: [1000, 10_000],
  limits: {
    'backlog.md':
      'the HTTP API of `backlog browser` (Backlog.md 1.52.0), with the same titles, descriptions, states and tags as its tasks, in a git repository; without its look at other branches and remotes',
    'json-server':
      'json-server 0.17.4, with the cases as `GET /cases` gives them in its db.json; an update is its PATCH',
  },
  async *measure(size, { program, parent, times, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, newStateDir } = workspace
    const { url, stop } = await startIdle({ program, root, stateDir: newStateDir(), onEnd })
    const client = openClient(url)
    const cases = await client.ask('GET', '/cases')
    client.close()
    for (const [name, { fits, start, reads, writes }] of Object.entries(PEERS)) {
      if (!fits(size)) continue
      say(`${named(size)}: ${name}`)
      const peer = await start({ cases, parent, onEnd })
      if ('missing' in peer) {
        say(`${name} is left out: ${peer.missing}`)
        continue
      }
      for (const action of ACTIONS) {
        const goal = { ratio: action === 'get' || action === 'list' ? reads : writes }
        const [ours, limit] = await timesOf(
          action,
          cases,
          [{ url, requests: requestsTo(cases) }, peer],
          times,
        )
        yield {
          what: `${action}, p50`,
          on: named(size),
          unit: 'ms',
          ours,
          beside: name,
          limit,
          goal,
        }
      }
      await peer.stop()
    }
    await stop('SIGTERM')
    workspace.remove()
  },
}

/**
 * The same requests to both sides in turns, on one kept connection each. The medians.
 * @param {Action} action
 * @param {readonly Case[]} cases
 * @param {[Pick<Peer, 'url' | 'requests'>, Pick<Peer, 'url' | 'requests'>]} sides
 * @param {number} count
 * @returns {Promise<[number, number]>}
 */
async function timesOf(action, cases, sides, count) {
  const random = createRandom(cases.length)
  const both = sides.map(({ url, requests }) => {
    const port = Number(new URL(url).port)
    return { port, requests, connection: openRaw(port), times: /** @type {number[]} */ ([]) }
  })
  const began = performance.now()
  for (let round = 0; round <= count; round++) {
    if (round > FEWEST && performance.now() - began > ENOUGH_MS) break
    const index = random.below(cases.length)
    for (const side of round % 2 === 0 ? both : both.toReversed()) {
      const [method, path, json] = requestOf(side.requests, action, index, round, cases)
      const ms = await side.connection.time(rawRequest(side.port, method, path, { json }))
      if (round > 0) side.times.push(ms) // the first opens the connection
    }
  }
  for (const { connection } of both) connection.close()
  const [ours = Number.NaN, limit = Number.NaN] = both.map(({ times }) => median(times))
  return [ours, limit]
}

/** @param {Requests} to @param {Action} action @param {number} index @param {number} round @param {readonly Case[]} cases @returns {Request} */
function requestOf(to, action, index, round, cases) {
  const { title = '', description = '', tags = [] } = cases[index] ?? {}
  switch (action) {
    case 'get':
      return to.get(index)
    case 'list':
      return to.list()
    case 'create':
      return to.create({ title: `${title}, case ${round}`, description, tags })
    case 'update':
      return to.update(index, `${title}, edit ${round}`)
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
