import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hostileActs } from './hostile-acts.mjs'
import { openWorkspace, startCasefile, untilIdle, untilWatching } from './processes.mjs'

/** @import { Suite } from './suite.mjs' */

const MOST_MS = 250

/**
 * How long the main thread works without a turn of the event loop while it takes texts at their limits. It is CPU time, so
 * a busy machine does not count.
 * @type {Suite}
 */
export const pausesSuite = {
  sizes: [10],
  async *measure(size, options) {
    const workspace = openWorkspace(size, options)
    const pauses = join(workspace.stateDir, '..', 'pauses')
    writeFileSync(pauses, '')
    const node = ['--import', join(import.meta.dirname, 'pause-probe.mjs')]
    const probe = { node, env: { PAUSES: pauses } }
    const casefile = await startCasefile(workspace, options, undefined, probe)
    await untilWatching(casefile)
    await untilIdle(casefile.pid)
    const longest = async (/** @type {() => Promise<unknown>} */ act) => {
      truncateSync(pauses)
      await act()
      await untilIdle(casefile.pid) // what follows the answer counts too
      await delay(20)
      const found = readFileSync(pauses, 'latin1').split('\n').map(Number)
      return Math.max(1, ...found)
    }
    for (const { what, texts, act } of hostileActs({ ...workspace, url: casefile.url })) {
      const limit = await longest(() => act('x'))
      for (const [on, text] of texts) {
        const ours = await longest(() => act(text))
        options.say(`${what}: ${on}: ${ours.toFixed()} ms`)
        yield { what, on, ours, beside: 'a short text', limit, goal: { most: MOST_MS } }
      }
    }
  },
}
