import { join } from 'node:path'
import { spreadOf } from './figures.mjs'
import { save } from './saves.mjs'
import { startPosting } from './webhook-posting.mjs'
import { openReceiver } from './webhook-receiver.mjs'

/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Side } from './webhook-side.mjs' */

/** @typedef {'by rename' | 'in place'} Style */
/** @typedef {{ answer: number[], saves: Record<Style, number[]> }} Times */

const GIVE_UP_MS = 10_000
/** The limit tells of each system call: the posts of one save in place come within this. */
const ECHO_MS = 10
const PARTS = /** @type {const} */ (['p50', 'p99'])
const STYLES = /** @type {const} */ (['by rename', 'in place'])

/** Those of a save's event in the suite "watch": the way on to the receiver is to add nothing to see. */
const GOALS = { 'by rename': { p50: 60, p99: 200 }, 'in place': { p50: 160, p99: 400 } }

/**
 * How soon a change, made by a request or by hand, is at a receiver. Each is made when the one before
 * has arrived.
 * @param {Side} side
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
export async function measureArrivals(side, { say, onEnd, saves }) {
  const { client, workspace } = side
  const arrivals = await openArrivals(onEnd)
  say('changes by requests, then saves, each until it has arrived')
  const { json: webhook } = await client.ask('POST', '/webhooks', { url: arrivals.url })
  const ours = {
    answer: await timesOf(saves, () => changeByRequest(side, arrivals, side.retitle)),
    saves: await timesOfSaves(side, arrivals, { count: saves, echoMs: 0 }),
  }
  await client.ask('DELETE', `/webhooks/${webhook.id}`)

  say('the same for the limits')
  const answering = await startPosting(['answer', arrivals.url], onEnd)
  const ask = (/** @type {string} */ id) => answering.client.ask('PUT', `/cases/${id}`, {})
  const answer = await timesOf(saves, () => changeByRequest(side, arrivals, ask))
  await answering.stop()
  const watching = await startPosting(['edits', workspace.cases, arrivals.url], onEnd)
  const options = { count: saves, echoMs: ECHO_MS }
  const least = { answer, saves: await timesOfSaves(side, arrivals, options) }
  await watching.stop()
  return rowsOf(ours, least)
}

/**
 * @param {Times} ours
 * @param {Times} least
 * @returns {Row[]}
 */
function rowsOf(ours, least) {
  const common = /** @type {const} */ ({ work: 'one receiver', unit: 'ms' })
  return [
    ...PARTS.map((part) => ({
      ...{ ...common, what: `answer to PUT title → arrival, ${part}`, beside: 'answering' },
      ...{ ours: spreadOf(ours.answer)[part], limit: spreadOf(least.answer)[part] },
    })),
    ...STYLES.flatMap((style) =>
      PARTS.map((part) => ({
        ...{ ...common, what: `save ${style} → arrival, ${part}`, beside: 'watching' },
        ...{ ours: spreadOf(ours.saves[style])[part], limit: spreadOf(least.saves[style])[part] },
        goal: { value: GOALS[style][part] },
      })),
    ),
  ]
}

/**
 * @param {number} count
 * @param {() => Promise<number>} once
 */
async function timesOf(count, once) {
  const times = []
  while (times.length < count) times.push(await once())
  return times
}

/**
 * @param {Side} side
 * @param {Arrivals} arrivals
 * @param {(id: string) => Promise<{ answered: number }>} ask
 */
async function changeByRequest(side, arrivals, ask) {
  const id = side.nextCase()
  const arriving = arrivals.of(id, 0)
  const { answered } = await ask(id)
  return (await arriving) - answered
}

/**
 * @param {Side} side
 * @param {Arrivals} arrivals
 * @param {{ count: number, echoMs: number }} options
 * @returns {Promise<Times['saves']>}
 */
async function timesOfSaves({ workspace, nextCase }, arrivals, { count, echoMs }) {
  const once = async (/** @type {Style} */ style) => {
    const id = nextCase()
    const arriving = arrivals.of(id, style === 'in place' ? echoMs : 0)
    const began = save(join(workspace.cases, id), style)
    return (await arriving) - began
  }
  return {
    'by rename': await timesOf(count, () => once('by rename')),
    'in place': await timesOf(count, () => once('in place')),
  }
}

/** A receiver that says when the event of a case arrived. @param {SuiteOptions['onEnd']} onEnd */
async function openArrivals(onEnd) {
  let awaited = ''
  let onArrival = (/** @type {number} */ _) => {}
  const receiver = await openReceiver({
    onEnd,
    onGot({ at, body }) {
      if (JSON.parse(body).payload.case_id === awaited) onArrival(at)
    },
  })
  return {
    url: receiver.url,
    /**
     * The time of the next one; of the last one after which none came for so long.
     * @param {string} id
     * @param {number} echoMs
     * @returns {Promise<number>}
     */
    of: (id, echoMs) =>
      new Promise((resolve, reject) => {
        const late = () => reject(new Error(`nothing arrived of a change of ${id}`))
        let timer = setTimeout(late, GIVE_UP_MS)
        awaited = id
        onArrival = (at) => {
          clearTimeout(timer)
          if (echoMs === 0) resolve(at)
          else timer = setTimeout(resolve, echoMs, at)
        }
      }),
  }
}

/** @typedef {Awaited<ReturnType<typeof openArrivals>>} Arrivals */
