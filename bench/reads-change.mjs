import { join } from 'node:path'
import { startChild } from './child.mjs'
import { median } from './figures.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/** @import { Sides } from './reads-rates.mjs' */
/** @import { Row, SuiteOptions } from './suite.mjs' */

const STRINGIFY = join(import.meta.dirname, 'stringify-limit.mjs')
const ROUNDS = 25
const GOAL_RATIO = 0.3

/**
 * The first list after a change. What the change adds to it is the time of that list less the time of
 * the next one, which nothing has changed: both send the same number of bytes to the same client.
 * @param {Sides} sides
 * @param {string} work
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function changeRows({ ours, limit, one, folder }, work, { say }) {
  say(`${work}: the first list after a change`)
  const port = Number(new URL(ours.url).port)
  const connection = openRaw(port)
  const list = rawRequest(port, 'GET', '/cases')
  const barePort = Number(new URL(limit.url).port)
  const bare = openRaw(barePort)
  const stringified = rawRequest(barePort, 'GET', '/cases?stringify')
  /** @type {Record<'added' | 'first' | 'bare', number[]>} */
  const times = { added: [], first: [], bare: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const path = String(one[round % one.length])
    const json = { title: `Changed before a list, ${round}` }
    await connection.time(rawRequest(port, 'PUT', path, { json }))
    const first = await connection.time(list)
    times.first.push(first)
    times.added.push(first - (await connection.time(list)))
    times.bare.push(await bare.time(stringified))
  }
  connection.close()
  bare.close()
  const child = startChild([STRINGIFY, join(folder, '0.json'), String(ROUNDS)])
  const { found } = await child.line(/^took (\S+) ms$/m)
  await child.stop('SIGKILL')
  const unit = /** @type {const} */ ('ms')
  return [
    {
      ...{ what: 'the first list after a change: what the change adds', work, unit },
      ...{
        ours: Math.max(0, median(times.added)),
        beside: 'stringifying',
        limit: Number(found[1]),
      },
      goal: { ratio: GOAL_RATIO },
    },
    {
      ...{ what: 'the first list after a change: all of it', work, unit },
      ...{ ours: median(times.first), beside: 'stringifying and sending' },
      limit: median(times.bare),
    },
  ]
}
