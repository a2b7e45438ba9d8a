import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listenTo } from './event-lines.mjs'
import { createRandom } from './random.mjs'

/** @typedef {'by rename' | 'in place' | 'in place, new end'} Style */
/** @typedef {{ p50: number, p99: number, saves: number, events: number }} Latency */

const GIVE_UP_MS = 10_000
const BACKGROUND_MS = 100

/**
 * Saves the case.md of one case after the other with a new title, each when the one before was told,
 * and measures from just before the last system call of the save to the arrival of its data line.
 * @param {object} options
 * @param {string} options.url of the stream
 * @param {{ cases: string, ids: string[] }} options.workspace
 * @param {Style} options.style
 * @param {number} options.count
 * @param {boolean} options.busy Ten more saves a second go to other cases meanwhile.
 * @param {number} [options.echoMs] For a stream that tells of each system call: the last line of a
 *   save counts, after which nothing came for so long.
 * @returns {Promise<Latency>}
 */
export async function measureSaves({ url, workspace, style, count, busy, echoMs = 0 }) {
  const random = createRandom(count)
  const { cases, ids } = workspace
  const measured = ids.filter((_, index) => index % 2 === 0)
  const others = ids.filter((_, index) => index % 2 === 1)
  /** @type {number[]} */
  const times = []
  let events = 0
  let awaited = ''
  let arrived = 0
  let wake = () => {}
  const mine = new Set(measured)
  const stream = await listenTo(url, ({ payload }, at) => {
    if (mine.has(payload?.case_id)) events++
    if (payload?.case_id !== awaited || (arrived > 0 && echoMs === 0)) return
    arrived = at
    wake()
  })
  let background = 0
  const timer = busy
    ? setInterval(() => {
        save(join(cases, random.pick(others)), background++ % 2 === 0 ? 'by rename' : 'in place')
      }, BACKGROUND_MS)
    : undefined
  try {
    for (let done = 0; done < count; done++) {
      awaited = random.pick(measured)
      arrived = 0
      const told = new Promise((resolve) => {
        wake = () => resolve(undefined)
      })
      const began = save(join(cases, awaited), style)
      await Promise.race([told, delay(GIVE_UP_MS, undefined, { ref: false })])
      if (arrived === 0) throw new Error(`no event for a save (${style}) of ${awaited}`)
      if (echoMs > 0) await delay(echoMs)
      times.push(arrived - began)
    }
    await delay(echoMs + 500) // an event too many would come by now
  } finally {
    clearInterval(timer)
    stream.close()
  }
  times.sort((a, b) => a - b)
  const at = (/** @type {number} */ part) => Number(times[Math.ceil(times.length * part) - 1])
  return { p50: at(0.5), p99: at(0.99), saves: count, events }
}

let edits = 0

/**
 * Writes another title, or another last line, as an editor does: into a file beside it that takes its
 * name, or into the file itself, which is empty for a moment. Returns when its last system call that
 * counts began.
 * @param {string} folder of the case
 * @param {Style} style
 */
export function save(folder, style) {
  const path = join(folder, 'case.md')
  const edit = `${process.pid} ${edits++}`
  const old = readFileSync(path, 'utf8')
  const text =
    style === 'in place, new end'
      ? old.replace(/.*\n$/, `- [ ] Somebody else has read it, ${edit}\n`)
      : old.replace(/^title: .*$/m, `title: Saved by hand ${edit}`)
  if (style === 'by rename') {
    writeFileSync(`${path}.tmp`, text)
    const began = performance.now()
    renameSync(`${path}.tmp`, path)
    return began
  }
  const file = openSync(path, 'w')
  const began = performance.now()
  writeSync(file, text)
  closeSync(file)
  return began
}
