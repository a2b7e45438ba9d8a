import { startIdle, startLimit } from './processes.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { cases, percentile } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite } from './suite.mjs' */

const ROUNDS = 5
const MANY = 16
/** Requests that do not count; the first writes of the limit do not, either. */
const WARM_UP = 20
/** What a new case says: about as long as what the limit writes. */
const description = 'The login form times out under load, and the log is silent about it.\n'.repeat(
  17,
)

/** @typedef {{ times: number[], ms: number }} Written */
/** @typedef {{ ours: Written, limit: Written }} Both */

/**
 * How long changes by requests take; each is on the disk before its answer.
 * @type {Suite}
 */
export const writesSuite = {
  sizes: [1000],
  limits: {
    'durable write':
      'a Node process that replaces the files of a workspace like it: temporary file, fsync, rename, fsync of the folder',
    'mkdir and write': 'the same in a new folder',
  },
  async *measure(size, { program, parent, times, say, onEnd }) {
    const [workspace, other] = [
      makeWorkspace({ parent, count: size, seed: size }),
      makeWorkspace({ parent, count: size, seed: size }),
    ]
    onEnd(workspace.remove)
    onEnd(other.remove)
    const { root, ids, newStateDir } = workspace
    const { port, stop } = await startIdle({ program, root, stateDir: newStateDir(), onEnd })
    let turn = 0
    const next = {
      put() {
        const json = { title: `Changed by a request, ${turn}` }
        return rawRequest(port, 'PUT', `/cases/${ids[turn++ % ids.length]}`, { json })
      },
      create: () =>
        rawRequest(port, 'POST', '/cases', { json: { title: `Case ${turn++}`, description } }),
    }
    /** Rounds in turns. @param {'put' | 'create'} mode @param {number} clients @returns {Promise<Both>} */
    const measured = async (mode, clients) => {
      say(`${mode}, ${clients} at a time`)
      const both = { ours: nothing(), limit: nothing() }
      const count = Math.ceil((times * (clients === 1 ? 1 : 4)) / ROUNDS)
      await byRequests(port, next[mode], WARM_UP, clients)
      for (let round = 0; round < ROUNDS; round++) {
        add(both.limit, await byLimit([mode, other.cases, String(count), String(clients)]))
        add(both.ours, await byRequests(port, next[mode], count, clients))
      }
      return both
    }

    const [one, many] = [await measured('put', 1), await measured('put', MANY)]
    const created = await measured('create', 1)
    /** @param {string} what @param {Both} both @param {number} part @param {string} beside @param {Row['goal']} goal @returns {Row} */
    const timeRow = (what, both, part, beside, goal) => ({
      what,
      on: cases(size),
      unit: 'ms',
      ours: percentile(both.ours.times, part),
      beside,
      limit: percentile(both.limit.times, part),
      goal,
    })
    yield timeRow('PUT title, 1 client, p50', one, 0.5, 'durable write', { ratio: 2.5 })
    yield timeRow('PUT title, 1 client, p99', one, 0.99, 'durable write', { most: 20 })
    yield {
      what: `PUT title, ${MANY} clients`,
      on: cases(size),
      unit: 'perSecond',
      ours: perSecond(many.ours),
      beside: 'durable write',
      limit: perSecond(many.limit),
      goal: { share: 0.5 },
    }
    yield timeRow('POST a case, p50', created, 0.5, 'mkdir and write', { ratio: 2.5 })
    await stop('SIGTERM')
    workspace.remove()
    other.remove()
  },
}

/** @type {() => Written} */
const nothing = () => ({ times: [], ms: 0 })

/** @param {Written} all @param {Written} more */
function add(all, { times, ms }) {
  all.times.push(...times)
  all.ms += ms
}

/** @param {Written} written */
function perSecond({ times, ms }) {
  return (times.length / ms) * 1000
}

/** @param {string[]} args @returns {Promise<Written>} */
async function byLimit(args) {
  const limit = startLimit('writes', args)
  const { found } = await limit.line(/^\{.*\}$/m)
  await limit.end()
  return JSON.parse(found[0])
}

/** @param {number} port @param {() => Buffer} next @param {number} count @param {number} clients @returns {Promise<Written>} */
async function byRequests(port, next, count, clients) {
  const connections = Array.from({ length: clients }, () => openRaw(port))
  /** @type {number[]} */
  const times = []
  let left = count
  const began = performance.now()
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) times.push(await connection.time(next()))
    }),
  )
  const ms = performance.now() - began
  for (const connection of connections) connection.close()
  return { times, ms }
}
