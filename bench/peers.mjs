import { createRandom } from './case-texts.mjs'
import { openConnection, requestBytes } from './connection.mjs'
import { startBacklog, startJsonServer } from './peer-programs.mjs'
import { openIdle } from './processes.mjs'
import { percentiles } from './suite.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * @typedef {{ id: string, title: string, description: string, state: string, tags: string[] }} Case
 * @typedef {Pick<Case, 'title' | 'description' | 'tags'>} Texts
 * @typedef {[method: string, path: string, body?: unknown]} Request
 *
 * How a program is asked; a case goes by its place in the list that the peer was filled from.
 * @typedef {object} Requests
 * @property {(index: number) => Request} get
 * @property {() => Request} list
 * @property {(texts: Texts) => Request} create
 * @property {(index: number, title: string) => Request} update
 *
 * @typedef {{ port: number, requests: Requests }} Side
 */

/** No further request is made after this; a peer may take seconds for each. */
const ENOUGH_MS = 15_000
const FEWEST = 3

/** How much of its time Casefile may take for reads and writes. It is filled with as many cases as it can deal with. */
const PEERS = {
  'backlog.md': {
    fits: (/** @type {number} */ size) => size <= 5000,
    start: startBacklog,
    reads: 0.02,
    writes: 0.02,
  },
  'json-server': {
    fits: (/** @type {number} */ size) => size > 5000,
    start: startJsonServer,
    reads: 1,
    writes: 0.2,
  },
}

/**
 * The same requests to other programs that hold the same texts.
 * @type {Suite}
 */
export const peersSuite = {
  sizes: [1000, 10_000],
  async *measure(size, options) {
    const { port, connection } = await openIdle(size, options)
    /** @type {Case[]} */
    const cases = await connection.ask('GET', '/cases')
    for (const [name, { fits, start, reads, writes }] of Object.entries(PEERS)) {
      if (!fits(size)) continue
      options.say(name)
      const peer = await start(cases, options)
      if ('missing' in peer) {
        options.say(`${name} is left out: ${peer.missing}`)
        continue
      }
      for (const action of /** @type {const} */ (['get', 'list', 'create', 'update'])) {
        const sides = { ours: { port, requests: requestsTo(cases) }, limit: peer }
        const times = await timesOf(action, cases, sides, options.times)
        const ratio = action === 'get' || action === 'list' ? reads : writes
        yield { what: `${action}, p50`, ...percentiles(times), beside: name, goal: { ratio } }
      }
    }
  },
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

/**
 * The same requests to both sides in turns, on one kept connection each.
 * @param {keyof Requests} action
 * @param {readonly Case[]} cases
 * @param {{ ours: Side, limit: Side }} sides
 * @param {number} count
 */
async function timesOf(action, cases, { ours, limit }, count) {
  const random = createRandom(cases.length)
  const both = [ours, limit].map(({ port, requests }) => ({
    port,
    requests,
    connection: openConnection(port),
    times: /** @type {number[]} */ ([]),
  }))
  const began = performance.now()
  for (let round = 0; round <= count; round++) {
    if (round > FEWEST && performance.now() - began > ENOUGH_MS) break
    const index = random.below(cases.length)
    for (const side of round % 2 === 0 ? both : both.toReversed()) {
      const [method, path, json] = requestOf(side.requests, action, index, round, cases)
      const ms = await side.connection.time(requestBytes(side.port, method, path, json))
      if (round > 0) side.times.push(ms) // the first opens the connection
    }
  }
  for (const { connection } of both) connection.close()
  const [a, b] = both.map(({ times }) => times)
  return { ours: a ?? [], limit: b ?? [] }
}

/** @param {Requests} to @param {keyof Requests} action @param {number} index @param {number} round @param {readonly Case[]} cases @returns {Request} */
function requestOf(to, action, index, round, cases) {
  const { title = '', description = '', tags = [] } = cases[index] ?? {}
  if (action === 'get') return to.get(index)
  if (action === 'list') return to.list()
  if (action === 'update') return to.update(index, `${title}, edit ${round}`)
  return to.create({ title: `${title}, case ${round}`, description, tags })
}
