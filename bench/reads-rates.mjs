import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startChild } from './child.mjs'
import { CLIENT_CORE } from './cores.mjs'
import { median } from './figures.mjs'
import { processorMsOf } from './process-figures.mjs'

/** @import { Load, LoadResult } from './load.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */

const LOAD = join(import.meta.dirname, 'load.mjs')
const ROUNDS = 5
const SLICE = { warmMs: 300, ms: 1000 }
/** Of one case; of a list fewer, since a body of many megabytes is enough work for each. */
const CONNECTIONS = { one: 16, list: 4 }
/** From here on the client may be what was measured. */
const BUSY = 0.95

/**
 * Who is asked, and for what: a bare server has the same answers.
 * @typedef {{ url: string, pid: number }} Server
 * @typedef {{ ours: Server, limit: Server, one: string[], folder: string }} Sides
 * @typedef {{ paths: string[], connections: number, headers?: Record<string, string>, status?: number }} Asked
 * @typedef {{ what: string, ours: Asked, beside: string, by: Server, limit: Asked, least?: number }} Kind
 */

/**
 * Requests a second, in slices of a second in turns, and the processor time that the server took for
 * each.
 * @param {Sides} sides
 * @param {string} work
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function rateRows({ ours, limit, one, folder }, work, { say }) {
  /** @type {Row[]} */
  const rows = []
  for (const { what, beside, by, ...asked } of await kindsOf({ ours, limit, one, folder })) {
    say(`${work}: ${what}`)
    /** @type {{ ours: Rate[], limit: Rate[] }} */
    const rates = { ours: [], limit: [] }
    for (let round = 0; round < ROUNDS; round++) {
      rates.limit.push(await rateOf(by, asked.limit, folder, say))
      rates.ours.push(await rateOf(ours, asked.ours, folder, say))
    }
    const of = (/** @type {keyof Rate} */ figure) => ({
      ours: median(rates.ours.map((rate) => rate[figure])),
      limit: median(rates.limit.map((rate) => rate[figure])),
    })
    const goal = asked.least === undefined ? {} : { goal: { least: asked.least } }
    rows.push(
      {
        what: `${what}: requests a second`,
        work,
        unit: 'count',
        beside,
        ...of('aSecond'),
        ...goal,
      },
      { what: `${what}: processor time of each`, work, unit: 'ms', beside, ...of('processorMs') },
    )
  }
  return rows
}

/** @param {Sides} sides @returns {Promise<Kind[]>} */
async function kindsOf({ ours, limit, one }) {
  const few = { paths: one, connections: CONNECTIONS.one }
  const list = { paths: ['/cases'], connections: CONNECTIONS.list }
  const known = async (/** @type {string} */ path) => ({
    ...{ paths: [path], connections: CONNECTIONS.one, status: 304 },
    headers: { 'if-none-match': await etagOf(ours.url + path) },
  })
  const ready = { beside: 'ready answers', by: limit }
  const health = { paths: ['/health'], connections: CONNECTIONS.one }
  const own = { beside: 'its /health', by: ours, limit: health }
  return [
    { what: 'GET one case', ours: few, ...ready, limit: few, least: 0.7 },
    { what: 'GET the list, unchanged', ours: list, ...ready, limit: list, least: 0.9 },
    { what: 'GET the list, If-None-Match', ours: await known('/cases'), ...own, least: 0.8 },
    { what: 'GET one case, If-None-Match', ours: await known(String(one[0])), ...own },
  ]
}

/** @typedef {{ aSecond: number, processorMs: number }} Rate */

/**
 * @param {Server} server
 * @param {Asked} asked
 * @param {string} folder
 * @param {SuiteOptions['say']} say
 * @returns {Promise<Rate>}
 */
async function rateOf({ url, pid }, { headers = {}, status = 200, ...asked }, folder, say) {
  /** @type {Load} */
  const load = { port: Number(new URL(url).port), headers, status, ...asked, ...SLICE }
  const file = join(folder, 'load.json')
  writeFileSync(file, JSON.stringify(load))
  const before = processorMsOf(pid)
  const child = startChild([LOAD, file], CLIENT_CORE)
  const { found } = await child.line(/^\{.*\}$/m)
  await child.stop('SIGKILL')
  /** @type {LoadResult} */
  const { requests, ms, all, busyMs } = JSON.parse(found[0])
  if (busyMs > BUSY * ms) say(`the client was busy for ${Math.round((busyMs / ms) * 100)} %`)
  return { aSecond: (requests / ms) * 1000, processorMs: (processorMsOf(pid) - before) / all }
}

/** @param {string} url */
async function etagOf(url) {
  const response = await fetch(url)
  await response.arrayBuffer()
  return String(response.headers.get('etag'))
}
