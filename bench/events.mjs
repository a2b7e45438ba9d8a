import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from './case-texts.mjs'
import { openIdle, startLimit } from './processes.mjs'
import { percentiles } from './suite.mjs'

/** @import { Suite } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

/** @typedef {'by rename' | 'in place'} Style */

const GIVE_UP_MS = 10_000
/** The limit writes a line for each system call of a save in place: they all come within this. */
const ECHO_MS = 10

/**
 * How soon a save in an editor is an event.
 * @type {Suite}
 */
export const eventsSuite = {
  sizes: [1000],
  async *measure(size, options) {
    const casefile = await openIdle(size, options)
    const watcher = startLimit('watch', [casefile.cases])
    options.onEnd(() => watcher.stop('SIGKILL'))
    const { found } = await watcher.line(/^listening on (\S+)$/m)
    for (const style of /** @type {const} */ (['by rename', 'in place'])) {
      options.say(`saves ${style}`)
      const { times } = options
      const both = {
        ours: await saveTimes(`${casefile.url}/events?after=now`, casefile, style, times, 0),
        limit: await saveTimes(String(found[1]), casefile, style, times, ECHO_MS),
      }
      for (const [name, part, most] of /** @type {const} */ ([
        ['p50', 0.5, 60],
        ['p99', 0.99, 200],
      ])) {
        const what = `save ${style} → event, ${name}`
        yield { what, ...percentiles(both, part), beside: 'a process that watches', goal: { most } }
      }
    }
  },
}

/**
 * Saves one case after the other, each when the one before has its event. Times run from just before the last system call
 * of the save to the arrival of its line.
 * @param {string} url of the stream
 * @param {Workspace} workspace
 * @param {Style} style
 * @param {number} count
 * @param {number} echoMs Lines of one save may come within this.
 */
async function saveTimes(url, { cases, ids }, style, count, echoMs) {
  const random = createRandom(count)
  let onEvent = (/** @type {string} */ _caseId) => {}
  const close = await listenTo(url, (id) => onEvent(id))
  /** @type {number[]} */
  const times = []
  for (let done = 0; done < count; done++) {
    const id = random.pick(ids)
    const arrival = new Promise((resolve) => {
      onEvent = (caseId) => caseId === id && resolve(performance.now())
    })
    const began = save(join(cases, id), style, `${process.pid} ${url.length} ${done}`)
    const arrivedAt = await Promise.race([arrival, delay(GIVE_UP_MS, null, { ref: false })])
    if (arrivedAt === null) throw new Error(`no event for a save (${style}) of ${id}`)
    times.push(arrivedAt - began)
    if (echoMs > 0) await delay(echoMs)
  }
  close()
  return times
}

/** Writes another title, as an editor does, and returns when its last system call began. @param {string} folder @param {Style} style @param {string} edit */
function save(folder, style, edit) {
  const path = join(folder, 'case.md')
  const text = readFileSync(path, 'utf8').replace(/^title: .*$/m, `title: Saved by hand ${edit}`)
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

/** Calls back with the case of each event of a stream. @param {string} url @param {(caseId: string) => void} onEvent @returns {Promise<() => void>} closes it */
function listenTo(url, onEvent) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      const lines = createInterface(response)
      lines.on('error', () => {}) // it was closed here
      lines.on('line', (line) => {
        if (line.startsWith('data:')) onEvent(JSON.parse(line.slice(5)).payload?.case_id)
      })
      resolve(() => request.destroy())
    })
    request.on('error', reject)
  })
}
