import { join } from 'node:path'
import { startChild } from './child.mjs'
import { spreadOf } from './figures.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const LIMIT = join(import.meta.dirname, 'writes-limit.mjs')
const ROUNDS = 5
const MANY = 16

/** @typedef {{ times: number[], ms: number }} Written */

/**
 * Rounds of requests and of writes by the limit, in turns.
 * @param {{ casefile: Casefile, workspace: Workspace, other: Workspace }} sides
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function writesRows({ casefile, workspace, other }, { saves, say }) {
  const port = Number(new URL(casefile.url).port)
  const work = `${workspace.ids.length.toLocaleString('en')} cases`
  const title = () => ({ title: `Changed by a request, ${edits++}` })
  let edits = 0
  let turn = 0
  const nextId = () => workspace.ids[turn++ % workspace.ids.length]
  const requests = {
    put: () => rawRequest(port, 'PUT', `/cases/${nextId()}`, { json: title() }),
    create: () => rawRequest(port, 'POST', '/cases', { json: { ...title(), description } }),
  }
  /** @param {'put' | 'create'} mode @param {number} clients */
  const measured = async (mode, clients) => {
    say(`${work}: ${mode}, ${clients} at a time`)
    /** @type {{ ours: Written, limit: Written }} */
    const all = { ours: { times: [], ms: 0 }, limit: { times: [], ms: 0 } }
    const count = Math.ceil((saves * (clients === 1 ? 1 : 4)) / ROUNDS)
    for (let round = 0; round < ROUNDS; round++) {
      add(all.limit, await writtenByLimit([mode, other.cases, String(count), String(clients)]))
      add(all.ours, await writtenByRequests(port, requests[mode], count, clients))
    }
    return all
  }
  const [one, many] = [await measured('put', 1), await measured('put', MANY)]
  const [made, manyMade] = [await measured('create', 1), await measured('create', MANY)]
  const [write, make] = ['durable write', 'mkdir and write']
  return [
    time('PUT title, 1 client', 'p50', one, write, { ratio: 2.5 }),
    time('PUT title, 1 client', 'p99', one, write),
    rate(`PUT title, ${MANY} clients`, many, write, { least: 0.5 }),
    time(`PUT title, ${MANY} clients`, 'p99', many, write),
    time('POST a case, 1 client', 'p50', made, make, { ratio: 2.5 }),
    time('POST a case, 1 client', 'p99', made, make),
    rate(`POST a case, ${MANY} clients`, manyMade, make),
  ]

  /** @type {(what: string, part: 'p50' | 'p99', all: Both, beside: string, goal?: import('./suite.mjs').Goal) => Row} */
  function time(what, part, { ours, limit }, beside, goal) {
    const figures = { ours: spreadOf(ours.times)[part], limit: spreadOf(limit.times)[part] }
    return { what: `${what}, ${part}`, work, unit: 'ms', beside, ...figures, ...(goal && { goal }) }
  }

  /** @type {(what: string, all: Both, beside: string, goal?: import('./suite.mjs').Goal) => Row} */
  function rate(what, { ours, limit }, beside, goal) {
    const aSecond = (/** @type {Written} */ { times, ms }) => (times.length / ms) * 1000
    const figures = { ours: aSecond(ours), limit: aSecond(limit) }
    return {
      ...{ what: `${what}: writes a second`, work, unit: 'count', beside, ...figures },
      ...(goal && { goal }),
    }
  }
}

/** @typedef {{ ours: Written, limit: Written }} Both */

/** What a new case is given to say: about as long as what is replaced. */
const description =
  'The login form times out under load, and the log says nothing about it.\n'.repeat(17)

/** @type {(all: Written, more: Written) => void} */
function add(all, { times, ms }) {
  all.times.push(...times)
  all.ms += ms
}

/** @type {(args: string[]) => Promise<Written>} */
async function writtenByLimit(args) {
  const limit = startChild([LIMIT, ...args])
  const { found } = await limit.line(/^\{.*\}$/m)
  await limit.stop('SIGKILL')
  return JSON.parse(found[0])
}

/** @type {(port: number, next: () => Buffer, count: number, clients: number) => Promise<Written>} */
async function writtenByRequests(port, next, count, clients) {
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
