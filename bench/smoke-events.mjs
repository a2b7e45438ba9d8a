import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startLimit } from './child.mjs'
import { listenTo } from './event-lines.mjs'
import { median } from './figures.mjs'
import { save } from './saves.mjs'

/** @import { Figures } from './smoke-verdict.mjs' */
/** @import { Server } from './smoke-starts.mjs' */

const STREAMS = 100
const SAVES = 20
const GIVE_UP_MS = 10_000
/** Casefile leaves a file alone for so long before it reads it (docs/benchmarks.md). */
const SETTLE_MS = 25

/**
 * Some saves: the median until the first of many streams has its event, and the shortest from there until
 * the last one has it.
 * @param {Server} server
 * @returns {Promise<Record<string, Figures>>}
 */
export async function smokeEvents({ casefile, workspace, onEnd }) {
  const bare = startLimit(workspace.cases)
  onEnd(() => bare.stop('SIGKILL'))
  const { found } = await bare.line(/^listening on (\S+)$/m)
  // other cases than ours: Casefile tells of these saves too, and may be late
  const { cases, ids } = workspace
  const limit = await savesHeard(String(found[1]), cases, ids.slice(-SAVES))
  await bare.stop('SIGKILL')
  const ours = await savesHeard(`${casefile.url}/events`, cases, ids.slice(0, SAVES))
  return {
    'save → event': { ours: ours.first, limit: limit.first + SETTLE_MS },
    [`an event to ${STREAMS} streams`]: { ours: ours.spread, limit: limit.spread },
  }
}

/** @param {string} url @param {string} cases @param {readonly string[]} ids */
async function savesHeard(url, cases, ids) {
  let awaited = ''
  /** @type {Map<number, number>} */
  const heard = new Map()
  let wake = () => {}
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, (_, index) =>
      listenTo(url, ({ payload }, at) => {
        if (payload?.case_id !== awaited || heard.has(index)) return
        heard.set(index, at)
        if (heard.size === STREAMS) wake()
      }),
    ),
  )
  /** @type {number[]} */
  const firsts = []
  let spread = Number.POSITIVE_INFINITY
  for (const id of ids) {
    heard.clear()
    awaited = id
    const all = new Promise((resolve) => {
      wake = () => resolve(true)
    })
    const began = save(join(cases, awaited), 'by rename')
    const late = delay(GIVE_UP_MS, false, { ref: false })
    if (!(await Promise.race([all, late]))) throw new Error(`no event for a save of ${awaited}`)
    const times = [...heard.values()]
    firsts.push(Math.min(...times) - began)
    spread = Math.min(spread, Math.max(...times) - Math.min(...times))
  }
  for (const stream of streams) stream.close()
  // not the quickest: a sweep that passes by may find a save at once
  return { first: median(firsts), spread }
}
