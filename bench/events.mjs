import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startIdle, startLimit } from './processes.mjs'
import { createRandom } from './random.mjs'
import { cases, percentile } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

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
  limits: {
    watcher:
      'a Node process with one `fs.watch` on each folder, which writes a line to a stream for each change of a case.md that it hears of',
  },
  async *measure(size, { program, parent, times, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, cases: folder, newStateDir } = workspace
    const casefile = await startIdle({ program, root, stateDir: newStateDir(), onEnd })
    const watcher = startLimit('files', ['watch', folder])
    onEnd(() => watcher.stop('SIGKILL'))
    const { found } = await watcher.line(/^listening on (\S+)$/m)
    for (const style of /** @type {const} */ (['by rename', 'in place'])) {
      say(`saves ${style}`)
      const ours = await saveTimes(`${casefile.url}/events?after=now`, workspace, style, times, 0)
      const limit = await saveTimes(String(found[1]), workspace, style, times, ECHO_MS)
      for (const [name, part, most] of /** @type {const} */ ([
        ['p50', 0.5, 60],
        ['p99', 0.99, 200],
      ])) {
        yield {
          what: `save ${style} → event, ${name}`,
          on: cases(size),
          unit: 'ms',
          ours: percentile(ours, part),
          beside: 'watcher',
          limit: percentile(limit, part),
          goal: { most },
        }
      }
    }
    await watcher.stop('SIGKILL')
    await casefile.stop('SIGTERM')
    workspace.remove()
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
async function saveTimes(url, { cases: folder, ids }, style, count, echoMs) {
  const random = createRandom(count)
  let awaited = ''
  let arrivedAt = 0
  let wake = () => {}
  const stream = await listenTo(url, ({ payload }, at) => {
    if (payload?.case_id !== awaited || arrivedAt > 0) return
    arrivedAt = at
    wake()
  })
  /** @type {number[]} */
  const times = []
  for (let done = 0; done < count; done++) {
    awaited = random.pick(ids)
    arrivedAt = 0
    const arrival = new Promise((resolve) => {
      wake = () => resolve(undefined)
    })
    const began = save(join(folder, awaited), style, `${process.pid} ${url.length} ${done}`)
    await Promise.race([arrival, delay(GIVE_UP_MS, undefined, { ref: false })])
    if (arrivedAt === 0) throw new Error(`no event for a save (${style}) of ${awaited}`)
    times.push(arrivedAt - began)
    if (echoMs > 0) await delay(echoMs)
  }
  stream.close()
  return times
}

/** Writes another title, as an editor does. Returns when the last system call that matters began. @param {string} folder @param {Style} style @param {string} edit */
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

/**
 * Calls back for each line of data of a stream of server-sent events.
 * @param {string} url
 * @param {(event: any, at: number) => void} onEvent
 * @returns {Promise<{ close: () => void }>}
 */
function listenTo(url, onEvent) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      let rest = ''
      response.setEncoding('utf8').on('data', (text) => {
        const at = performance.now()
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines)
          if (line.startsWith('data:')) onEvent(JSON.parse(line.slice(5)), at)
      })
      response.on('error', () => {}) // it was closed here
      resolve({ close: () => request.destroy() })
    })
    request.on('error', reject)
  })
}
