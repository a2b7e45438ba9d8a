import { openConnection, requestBytes } from './connection.mjs'
import { openIdle, openWorkspace, startLimit } from './processes.mjs'
import { percentiles } from './suite.mjs'

/** @import { Suite } from './suite.mjs' */

const ROUNDS = 5
const MANY = 16
/** Requests that do not count; the first writes of the limit do not, either. */
const WARM_UP = 20
/** What a new case says: about as long as what the limit writes. */
const description = 'The login form times out under load, and the log is silent about it.\n'.repeat(
  17,
)

/** @typedef {{ times: number[], ms: number }} Written */

/**
 * How long changes by requests take; each is on the disk before its answer.
 * @type {Suite}
 */
export const writesSuite = {
  sizes: [1000],
  async *measure(size, options) {
    const { ids, port } = await openIdle(size, options)
    const other = openWorkspace(size, options)
    let turn = 0
    const next = {
      put() {
        const title = `Changed by a request, ${turn}`
        return requestBytes(port, 'PUT', `/cases/${ids[turn++ % ids.length]}`, { title })
      },
      create: () => requestBytes(port, 'POST', '/cases', { title: `Case ${turn++}`, description }),
    }
    /** Rounds in turns: all times, and writes per second. @param {'put' | 'create'} action @param {number} clients */
    const measured = async (action, clients) => {
      options.say(`${action}, ${clients} at a time`)
      const count = Math.ceil((options.times * (clients === 1 ? 1 : 4)) / ROUNDS)
      const ours = /** @type {Written[]} */ ([])
      const limit = /** @type {Written[]} */ ([])
      await byRequests(port, next[action], WARM_UP, clients)
      for (let round = 0; round < ROUNDS; round++) {
        limit.push(await byLimit([action, other.cases, String(count), String(clients)]))
        ours.push(await byRequests(port, next[action], count, clients))
      }
      return {
        times: {
          ours: ours.flatMap(({ times }) => times),
          limit: limit.flatMap(({ times }) => times),
        },
        rates: { ours: perSecond(ours), limit: perSecond(limit) },
      }
    }

    const one = await measured('put', 1)
    yield {
      what: 'PUT title, 1 client, p50',
      ...percentiles(one.times),
      beside: 'a durable write',
      goal: { ratio: 2.5 },
    }
    yield {
      what: 'PUT title, 1 client, p99',
      ...percentiles(one.times, 0.99),
      beside: 'a durable write',
      goal: { most: 20 },
    }
    yield {
      what: `PUT title, ${MANY} clients`,
      unit: 'perSecond',
      ...(await measured('put', MANY)).rates,
      beside: 'a durable write',
      goal: { share: 0.4 },
    }
    yield {
      what: 'POST a case, p50',
      ...percentiles((await measured('create', 1)).times),
      beside: 'mkdir and a durable write',
      goal: { ratio: 2.5 },
    }
  },
}

/** @param {readonly Written[]} rounds */
function perSecond(rounds) {
  const count = rounds.reduce((sum, { times }) => sum + times.length, 0)
  return (count * 1000) / rounds.reduce((sum, { ms }) => sum + ms, 0)
}

/** @param {string[]} args @returns {Promise<Written>} */
async function byLimit(args) {
  const limit = startLimit('write', args)
  const { found } = await limit.line(/^\{.*\}$/m)
  await limit.end()
  return JSON.parse(found[0])
}

/** @param {number} port @param {() => Buffer} next @param {number} count @param {number} clients @returns {Promise<Written>} */
async function byRequests(port, next, count, clients) {
  /** @type {number[]} */
  const times = []
  let left = count
  const began = performance.now()
  const work = async () => {
    const connection = openConnection(port)
    while (left-- > 0) times.push(await connection.time(next()))
    connection.close()
  }
  await Promise.all(Array.from({ length: clients }, work))
  return { times, ms: performance.now() - began }
}
