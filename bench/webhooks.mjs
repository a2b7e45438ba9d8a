import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openClient } from './client.mjs'
import { startIdle, startLimit } from './processes.mjs'
import { median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Client } from './client.mjs' */
/** @import { Suite } from './suite.mjs' */

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
  limits: {
    posting:
      'a Node process that posts the same bytes to the same receiver, one after the other over one kept connection; nothing is signed or kept on the disk',
  },
  async *measure(size, { program, parent, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, ids, newStateDir } = workspace
    const { url, stop } = await startIdle({ program, root, stateDir: newStateDir(), onEnd })
    const client = openClient(url)
    const receiver = await openReceiver(onEnd)
    const hooks = []
    for (let round = 0; round < ROUNDS; round++)
      hooks.push(await pausedWebhook(client, receiver.url))
    const events = size * CHANGES
    say(`${events} events while the webhooks are paused`)
    await changeTitles(client, ids)
    const file = join(root, '..', 'requests.json')
    const rates = { ours: /** @type {number[]} */ ([]), limit: /** @type {number[]} */ ([]) }
    for (const hook of hooks) {
      say('they are sent, and then by the limit')
      receiver.got.length = 0
      const began = performance.now()
      await client.ask('PATCH', `/webhooks/${hook}`, { active: true })
      await receiver.until(events)
      rates.ours.push((events * 1000) / (performance.now() - began))
      mustBeInOrder(receiver.got)
      await client.ask('DELETE', `/webhooks/${hook}`)
      writeFileSync(file, JSON.stringify(receiver.got))
      const posting = startLimit('post', [file, receiver.url])
      const { found } = await posting.line(/^posted in (\S+) ms$/m)
      await posting.end()
      rates.limit.push((events * 1000) / Number(found[1]))
    }
    yield {
      what: 'webhook deliveries',
      on: `${events.toLocaleString('en')} events, one receiver`,
      unit: 'perSecond',
      ours: median(rates.ours),
      beside: 'posting',
      limit: median(rates.limit),
      goal: { least: 1000 },
    }
    client.close()
    await stop('SIGTERM')
    workspace.remove()
  },
}

/** @typedef {{ headers: Record<string, unknown>, body: string }} Got */

/** A receiver that keeps what it gets, but for what belongs to a connection. @param {(undo: () => unknown) => void} onEnd */
async function openReceiver(onEnd) {
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

/** @param {Client} client @param {string} url @returns {Promise<string>} its id */
async function pausedWebhook(client, url) {
  const { id } = await client.ask('POST', '/webhooks', { url })
  await client.ask('PATCH', `/webhooks/${id}`, { active: false })
  return id
}

/** @param {Client} client @param {readonly string[]} ids */
async function changeTitles(client, ids) {
  const left = Array.from({ length: CHANGES }, () => ids).flat()
  const work = async () => {
    for (let id = left.pop(); id; id = left.pop()) {
      await client.ask('PUT', `/cases/${id}`, { title: `Changed, ${left.length} to go` })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/** @param {readonly Got[]} got */
function mustBeInOrder(got) {
  const numbers = got.map(({ headers }) =>
    Number(/^evt_(\d+)_/.exec(`${headers['webhook-id']}`)?.[1]),
  )
  const isInOrder = numbers.every((number, at) => at === 0 || number > Number(numbers[at - 1]))
  if (!isInOrder) throw new Error('the deliveries did not come once each and in order')
}
