import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from './figures.mjs'
import { startPosting } from './webhook-posting.mjs'
import { openReceiver } from './webhook-receiver.mjs'

/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Got, Receiver } from './webhook-receiver.mjs' */
/** @import { Side } from './webhook-side.mjs' */

const ROUNDS = 3
const MOST_RECEIVERS = 5
const EVENTS_PER_CASE = 4
const AT_ONCE = 8

/**
 * How soon receivers that were paused while much was changed have it all. In rounds, each in turns
 * with the limit, of which the median counts.
 * @param {Side} side
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function measureBurst(side, options) {
  const { client, workspace } = side
  const events = workspace.ids.length * EVENTS_PER_CASE
  const receivers = await Promise.all(
    Array.from({ length: MOST_RECEIVERS }, () => openKeeping(options.onEnd)),
  )
  const sizes = [1, MOST_RECEIVERS]
  const rounds = await Promise.all(
    sizes.flatMap((size) =>
      Array.from({ length: ROUNDS }, async () => ({
        size,
        ids: await Promise.all(receivers.slice(0, size).map((each) => paused(side, each))),
        ours: 0,
        limit: 0,
      })),
    ),
  )

  options.say(`${events} events while all webhooks are paused`)
  await makeChanges(side)
  for (const round of rounds) {
    options.say(`they are sent to ${round.size} receivers, and then by the limit`)
    const used = receivers.slice(0, round.size)
    for (const each of used) each.got.length = 0
    round.ours = await untilAllCame(used, events, () =>
      Promise.all(round.ids.map((id) => client.ask('PATCH', `/webhooks/${id}`, { active: true }))),
    )
    for (const { got } of used) mustBeInOrder(got, events)
    for (const id of round.ids) await client.ask('DELETE', `/webhooks/${id}`)

    const file = join(workspace.root, '..', 'requests.json')
    writeFileSync(file, JSON.stringify(receivers[0]?.got.map(sendable)))
    const urls = used.map(({ url }) => url)
    const posting = await startPosting(['post', file, ...urls], options.onEnd)
    round.limit = await untilAllCame(used, events, () => posting.client.ask('GET', '/'))
    await posting.stop()
  }

  return sizes.flatMap((size) => {
    const those = rounds.filter((round) => round.size === size)
    const [ours, limit] = [median(those.map((r) => r.ours)), median(those.map((r) => r.limit))]
    const work = size === 1 ? 'one receiver' : `${size} receivers`
    const rate = (/** @type {number} */ ms) => Math.round((1000 * events * size) / ms)
    return /** @type {Row[]} */ ([
      {
        ...{ what: `${events.toLocaleString('en')} events, resumed → the last one arrives`, work },
        ...{ unit: 'ms', ours, beside: 'posting', limit },
      },
      {
        ...{ what: 'the same, in deliveries a second', work, unit: 'count' },
        ...{ ours: rate(ours), beside: 'posting', limit: rate(limit) },
      },
    ])
  })
}

/** A receiver that keeps what comes. @param {SuiteOptions['onEnd']} onEnd */
async function openKeeping(onEnd) {
  /** @type {Got[]} */
  const got = []
  return { got, ...(await openReceiver({ onEnd, onGot: (each) => got.push(each) })) }
}

/** @param {Side} side @param {Receiver} receiver @returns {Promise<string>} */
async function paused({ client }, { url }) {
  const { json } = await client.ask('POST', '/webhooks', { url })
  await client.ask('PATCH', `/webhooks/${json.id}`, { active: false })
  return json.id
}

/** Four of the events that webhooks get, for each case. @param {Side} side */
async function makeChanges({ client }) {
  const { json: cases } = await client.ask('GET', '/cases')
  const left = [...cases]
  const work = async () => {
    for (let each = left.pop(); each; each = left.pop()) {
      const path = `/cases/${each.id}`
      const proof = { type: 'operator-note', content: 'Tried it, works.', session_id: null }
      const { json } = await client.ask('POST', `${path}/proof`, proof)
      await client.ask('PUT', `${path}/proof/${json.id}/verify`)
      await client.ask('PUT', path, { title: `${each.title}, tried` })
      const state = each.state === 'BLOCKED' ? 'OPEN' : 'BLOCKED'
      await client.ask('PUT', `${path}/state`, { state })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}

/**
 * @param {Receiver[]} receivers
 * @param {number} events
 * @param {() => Promise<unknown>} begin
 */
async function untilAllCame(receivers, events, begin) {
  const all = receivers.map((each) => each.until(each.count() + events))
  const began = performance.now()
  await Promise.all([begin(), ...all])
  return performance.now() - began
}

/** @param {readonly Got[]} got @param {number} events */
function mustBeInOrder(got, events) {
  const numbers = got.map(({ headers }) =>
    Number(/^evt_(\d+)_/.exec(`${headers['webhook-id']}`)?.[1]),
  )
  const isInOrder = numbers.every(
    (number, index) => index === 0 || number > Number(numbers[index - 1]),
  )
  if (numbers.length !== events || !isInOrder) {
    throw new Error(`not once each, in order: ${numbers.length} of ${events}`)
  }
}

/** The same bytes, but for what belongs to a connection. @param {Got} got */
function sendable({ headers: { host, connection, ...headers }, body }) {
  return { headers, body }
}
