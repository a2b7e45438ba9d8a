import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from './connection.mjs'
import { openIdle, startLimit } from './processes.mjs'
import { percentiles } from './suite.mjs'

/** @import { Suite, SuiteOptions } from './suite.mjs' */

const ROUNDS = 3
/** Titles that each case gets while the webhooks are paused. */
const CHANGES = 4
const AT_ONCE = 8
const GIVE_UP_MS = 60_000

/**
 * How fast one receiver gets all events of a time in which it was paused.
 * @type {Suite}
 */
export const webhooksSuite = {
  sizes: [500],
  async *measure(size, options) {
    const { root, ids, port, connection } = await openIdle(size, options)
    const receiver = await openReceiver(options)
    const hooks = []
    for (let round = 0; round < ROUNDS; round++) {
      const { id } = await connection.ask('POST', '/webhooks', { url: receiver.url })
      await connection.ask('PATCH', `/webhooks/${id}`, { active: false })
      hooks.push(id)
    }
    const events = size * CHANGES
    options.say(`${events} events while the webhooks are paused`)
    await changeTitles(port, ids)
    const file = join(root, '..', 'requests.json')
    const rates = { ours: /** @type {number[]} */ ([]), limit: /** @type {number[]} */ ([]) }
    for (const hook of hooks) {
      options.say('they are sent, and then by the limit')
      receiver.got.length = 0
      const began = performance.now()
      await connection.ask('PATCH', `/webhooks/${hook}`, { active: true })
      await receiver.until(events)
      rates.ours.push((events * 1000) / (performance.now() - began))
      await connection.ask('DELETE', `/webhooks/${hook}`)
      writeFileSync(file, JSON.stringify(receiver.got))
      const posting = startLimit('post', [file, receiver.url])
      const { found } = await posting.line(/^posted in (\S+) ms$/m)
      rates.limit.push((events * 1000) / Number(found[1]))
    }
    yield {
      what: 'webhook deliveries',
      on: `${events.toLocaleString('en')} events, one receiver`,
      unit: 'perSecond',
      ...percentiles(rates),
      beside: 'posting the same bytes',
      goal: { least: 1000 },
    }
  },
}

/** @typedef {{ headers: Record<string, unknown>, body: string }} Got */

/** A receiver that records each request, without the headers that belong to a connection. @param {SuiteOptions} options */
async function openReceiver({ onEnd }) {
  /** @type {Got[]} */
  const got = []
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      const { host: _, connection: __, ...headers } = request.headers
      got.push({ headers, body })
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onEnd(() => server.close().closeAllConnections())
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    got,
    url: `http://127.0.0.1:${port}/hook`,
    /** @param {number} count */
    async until(count) {
      const began = performance.now()
      while (got.length < count) {
        if (performance.now() - began > GIVE_UP_MS) throw new Error(`only ${got.length} came`)
        await delay(2)
      }
    },
  }
}

/** @param {number} port @param {readonly string[]} ids */
async function changeTitles(port, ids) {
  const left = Array.from({ length: CHANGES }, () => ids).flat()
  const work = async () => {
    const { ask, close } = openConnection(port)
    for (let id = left.pop(); id; id = left.pop()) {
      await ask('PUT', `/cases/${id}`, { title: `Changed, ${left.length} to go` })
    }
    close()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}
