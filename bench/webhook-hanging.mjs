import { spreadOf } from './figures.mjs'
import { openReceiver } from './webhook-receiver.mjs'

/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Side } from './webhook-side.mjs' */

const HANGING = 10
/** Longer than the 15 s after which a request has failed, and the 5 s until it is made again. */
const PHASE_MS = 22_000
const BLOCK = 25
/** Before anything counts. */
const WARM_UP = 100

/** "A slow receiver delays nobody else"; what two runs of the same differ by is no delay. */
const GOAL = { ratio: 1.25 }
const ARRIVAL_GOAL = { value: 1000 }

/** @typedef {{ sent: number, answered: number, arrived: number }} Change */
/** @typedef {Record<'none' | 'ten', Change[]>} Changes */

/**
 * What ten receivers that hang cost everybody else. Of two services one has them, in turns, and some
 * changes are made at the one, then at the other: so whatever else the machine does meets both.
 * @param {[Side, Side]} sides
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function measureHanging([one, other], options) {
  const first = await watched(one, options)
  const second = await watched(other, options)
  options.say('changes to warm up')
  for (const each of [first, second]) await each.change(WARM_UP)
  /** @type {Changes} */
  const changes = { none: [], ten: [] }
  for (const having of [second, first]) {
    const without = having === second ? first : second
    options.say(`changes at a service with ${HANGING} receivers that hang, and at one without`)
    const release = await having.hang()
    for (const end = performance.now() + PHASE_MS; performance.now() < end; ) {
      changes.none.push(...(await without.change(BLOCK)))
      changes.ten.push(...(await having.change(BLOCK)))
    }
    await release()
  }
  for (const each of [first, second]) await each.unregister()

  return [
    ...rowsOf(changes, 'PUT title → answer', 'answered', {}),
    ...rowsOf(changes, 'PUT title → arrival at one that answers', 'arrived', ARRIVAL_GOAL),
  ]
}

/**
 * @param {Changes} changes
 * @param {string} what
 * @param {'answered' | 'arrived'} until
 * @param {import('./suite.mjs').Goal} p99Goal
 * @returns {Row[]}
 */
function rowsOf({ none, ten }, what, until, p99Goal) {
  const spread = (/** @type {Change[]} */ all) =>
    spreadOf(all.map((each) => each[until] - each.sent))
  const [ours, limit] = [spread(ten), spread(none)]
  const common = /** @type {const} */ ({ work: `${HANGING} that hang`, unit: 'ms' })
  const beside = 'none that hang'
  return [
    { ...common, what: `${what}, p50`, ours: ours.p50, beside, limit: limit.p50, goal: GOAL },
    {
      ...{ ...common, what: `${what}, p99`, ours: ours.p99, beside, limit: limit.p99 },
      goal: { ...GOAL, ...p99Goal },
    },
  ]
}

/**
 * A service with one receiver that answers.
 * @param {Side} side
 * @param {SuiteOptions} options
 */
async function watched(side, { onEnd }) {
  /** @type {Map<string, Change>} */
  const awaited = new Map()
  const receiver = await openReceiver({
    onEnd,
    onGot({ at, body }) {
      const change = awaited.get(JSON.parse(body).payload.case_id)
      if (change) change.arrived = at
    },
  })
  const register = async (/** @type {string} */ url) =>
    (await side.client.ask('POST', '/webhooks', { url })).json.id
  const unregister = (/** @type {string} */ id) => side.client.ask('DELETE', `/webhooks/${id}`)
  const own = await register(receiver.url)

  /** One after the other; returns when all have arrived. @param {number} count */
  async function change(count) {
    const all = receiver.until(receiver.count() + count)
    for (let done = 0; done < count; done++) {
      const id = side.nextCase()
      const change = { sent: 0, answered: 0, arrived: 0 }
      awaited.set(id, change)
      const { sent, answered } = await side.retitle(id)
      Object.assign(change, { sent, answered })
    }
    await all
    const changes = [...awaited.values()]
    awaited.clear()
    return changes
  }

  return {
    change,
    unregister: () => unregister(own),
    /** Gives the way to end it. */
    async hang() {
      const receivers = await Promise.all(
        Array.from({ length: HANGING }, () => openReceiver({ onEnd, hangs: true })),
      )
      const ids = await Promise.all(receivers.map(({ url }) => register(url)))
      await change(1)
      await Promise.all(receivers.map((each) => each.until(1)))
      return async () => {
        // the first, the one after it, and the first again
        if (receivers.some((each) => each.count() < 3)) throw new Error('one was not tried again')
        await Promise.all(ids.map(unregister))
      }
    },
  }
}
