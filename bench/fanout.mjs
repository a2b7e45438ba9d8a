import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startCasefile } from './casefile.mjs'
import { startChild } from './child.mjs'
import { spreadOf } from './figures.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */

const LIMIT = join(import.meta.dirname, 'fanout-limit.mjs')
const READER = join(import.meta.dirname, 'fanout-reader.mjs')
const STREAMS = 100
const EVENTS = 1000
/** With fewer saves than this, fewer events. */
const SAVES = 300
const GOAL_RATIO = 2

/**
 * How soon an event is on each of many streams.
 * @type {Suite}
 */
export const fanoutSuite = {
  sizes: [1000],
  limits: {
    'raw write':
      'a bare `node:http` server that writes the same bytes to each stream when it is asked to, with nothing on the disk',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`Casefile is started on ${size} cases`)
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, ids, newStateDir, newFolder } = workspace
    const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
    const folder = newFolder('fanout')
    const event = join(folder, 'event')
    writeFileSync(event, EVENT(String(ids[0])))
    const limit = startChild([LIMIT, event])
    onEnd(() => limit.stop('SIGKILL'))
    const bare = String((await limit.line(/^listening on (\S+)$/m)).found[1])
    const events = Math.ceil((EVENTS * Math.min(options.saves, SAVES)) / SAVES)
    const file = join(folder, 'arrivals.json')
    for (const clients of [1, 16]) {
      say(`${events} events by ${clients} at a time to ${STREAMS} streams`)
      const least = await fanOut(bare, { ids, events, clients, file, onEnd })
      const ours = await fanOut(casefile.url, { ids, events, clients, file, onEnd })
      yield* rowsOf(ours, least, { events, clients })
    }
    await limit.stop('SIGKILL')
    await casefile.stop('SIGTERM')
    workspace.remove()
  },
}

/** As Casefile sends it, for a change of a title. @param {string} id */
const EVENT = (id) =>
  `event: case_updated\nid: 1000\ndata: {"event_type":"case_updated","timestamp":"2026-11-20T16:28:01.122Z","payload":{"case_id":"${id}","fields":["title"]}}\n\n`

/** @typedef {{ spread: number[], all: number[] }} Times */

/** @type {(ours: Times, least: Times, options: { events: number, clients: number }) => Row[]} */
function rowsOf(ours, least, { events, clients }) {
  const by = clients === 1 ? 'one client' : `${clients} clients`
  const work = `${events.toLocaleString('en')} events by ${by}, ${STREAMS} streams`
  const common = /** @type {const} */ ({ work, unit: 'ms', beside: 'raw write' })
  const of = (/** @type {keyof Times} */ times, /** @type {'p50' | 'p99'} */ part) => ({
    ours: spreadOf(ours[times])[part],
    limit: spreadOf(least[times])[part],
  })
  return [
    {
      ...{ what: 'event on the first stream → on each, p99', ...common, ...of('spread', 'p99') },
      goal: { ratio: GOAL_RATIO },
    },
    { what: 'PUT title → event on each stream, p50', ...common, ...of('all', 'p50') },
    { what: 'PUT title → event on each stream, p99', ...common, ...of('all', 'p99') },
  ]
}

/**
 * Makes events by requests, each client one after the other; the k-th event of each stream is the same.
 * @param {string} url
 * @param {{ ids: string[], events: number, clients: number, file: string, onEnd: SuiteOptions['onEnd'] }} options
 * @returns {Promise<Times>}
 */
async function fanOut(url, { ids, events, clients, file, onEnd }) {
  const args = [`${url}/events?after=now`, String(STREAMS), String(events), file]
  const reader = startChild([READER, ...args])
  onEnd(() => reader.stop('SIGKILL'))
  await reader.line(/^open$/m)
  const port = Number(new URL(url).port)
  const connections = Array.from({ length: clients }, () => openRaw(port))
  /** @type {number[]} */
  const sent = []
  await Promise.all(
    connections.map(async (connection) => {
      while (sent.length < events) {
        const json = { title: `Changed by a request, ${edits++}` }
        const request = rawRequest(port, 'PUT', `/cases/${ids[edits % ids.length]}`, { json })
        sent.push(Number(process.hrtime.bigint()) / 1e6)
        await connection.time(request)
      }
    }),
  )
  await reader.line(/^done$/m)
  await reader.stop('SIGKILL')
  for (const connection of connections) connection.close()
  /** @type {number[][]} */
  const arrivals = JSON.parse(readFileSync(file, 'utf8'))
  return {
    spread: arrivals.flatMap((times) => times.map((at) => at - Math.min(...times))),
    all: arrivals.flatMap((times, index) => times.map((at) => at - Number(sent[index]))),
  }
}

let edits = 0
