import { join } from 'node:path'
import { startChild } from './child.mjs'
import { spreadOf } from './figures.mjs'
import { processorMsOf } from './process-figures.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const LIMIT = join(import.meta.dirname, 'writes-limit.mjs')
const ROUNDS = 5
const MANY = 16
/** Requests that do not count; the first writes of the limit do not, either. */
const WARM_UP = 20

/** @typedef {{ times: number[], ms: number, processorMs: number }} Written */

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
    const all = { ours: none(), limit: none() }
    const count = Math.ceil((saves * (clients === 1 ? 1 : 4)) / ROUNDS)
    await writtenByRequests(casefile, requests[mode], WARM_UP, clients)
    for (let round = 0; round < ROUNDS; round++) {
      add(all.limit, await writtenByLimit([mode, other.cases, String(count), String(clients)]))
      add(all.ours, await writtenByRequests(casefile, requests[mode], count, clients))
    }
    return all
  }
  const [one, many] = [await measured('put', 1), await measured('put', MANY)]
  const [made, manyMade] = [await measured('create', 1), await measured('create', MANY)]
  const [write, make] = ['durable write', 'mkdir and write']
  return [
    time('PUT title, 1 client', 'p50', one, write, { ratio: 2.5 }),
    time('PUT title, 1 client', 'p99', one, write),
    processor('PUT title, 1 client', one, write),
    rate(`PUT title, ${MANY} clients`, many, write, { least: 0.5 }),
    time(`PUT title, ${MANY} clients`, 'p99', many, write),
    time('POST a case, 1 client', 'p50', made, make, { ratio: 2.5 }),
    time('POST a case, 1 client', 'p99', made, make),
    processor('POST a case, 1 client', made, make),
    rate(`POST a case, ${MANY} clients`, manyMade, make),
  ]

  /** @type {(what: string, part: 'p50' | 'p99', all: Both, beside: string, goal?: import('./suite.mjs').Goal) => Row} */
  function time(what, part, { ours, limit }, beside, goal) {
    const figures = { ours: spreadOf(ours.times)[part], limit: spreadOf(limit.times)[part] }
    return { what: `${what}, ${part}`, work, unit: 'ms', beside, ...figures, ...(goal && { goal }) }
  }

  /** @type {(what: string, all: Both, beside: string) => Row} */
  function processor(what, { ours, limit }, beside) {
    const each = (/** @type {Written} */ { times, processorMs }) => processorMs / times.length
    const figures = { ours: each(ours), limit: each(limit) }
    return { what: `${what}: processor time of each`, work, unit: 'ms', beside, ...figures }
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

/** @type {() => Written} */
const none = () => ({ times: [], ms: 0, processorMs: 0 })

/** @type {(all: Written, more: Written) => void} */
function add(all, { times, ms, processorMs }) {
  all.times.push(...times)
  all.ms += ms
  all.processorMs += processorMs
}

/** @type {(args: string[]) => Promise<Written>} */
async function writtenByLimit(args) {
  const limit = startChild([LIMIT, ...args])
  const { found } = await limit.line(/^\{.*\}$/m)
  await limit.stop('SIGKILL')
  return JSON.parse(found[0])
}

/** @type {(casefile: Casefile, next: () => Buffer, count: number, clients: number) => Promise<Written>} */
async function writtenByRequests({ url, pid }, next, count, clients) {
  const port = Number(new URL(url).port)
  const before = processorMsOf(pid)
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
  return { times, ms, processorMs: processorMsOf(pid) - before }
}
