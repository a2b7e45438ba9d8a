import { setTimeout as delay } from 'node:timers/promises'
import { createRandom } from './case-texts.mjs'
import { openConnection } from './connection.mjs'
import { openWorkspace, startCasefile, untilListed } from './processes.mjs'
import { limitTo } from './starts.mjs'

/** @import { Suite } from './suite.mjs' */

const ROUNDS = 80
const CLIENTS = 16
/** The kill comes so long after the load has begun, at most. */
const LOAD_MS = 400

/**
 * How long a start takes after a `kill -9` in the middle of writes.
 * @type {Suite}
 */
export const crashSuite = {
  sizes: [1000],
  async *measure(size, options) {
    const workspace = openWorkspace(size, options)
    const random = createRandom(size)
    const times = []
    for (let round = 0; round <= ROUNDS; round++) {
      if (round % 10 === 0) options.say(`start ${round}`)
      const casefile = await startCasefile(workspace, options)
      const ms = await untilListed(casefile, size)
      if (round > 0) times.push(ms) // the first is no start after a kill
      const load = Array.from({ length: CLIENTS }, () => writeTitles(casefile.port, workspace.ids))
      await delay(20 + random.below(LOAD_MS))
      await casefile.stop('SIGKILL')
      await Promise.all(load)
    }
    yield {
      what: `start → the whole list after kill -9, worst of ${times.length}`,
      on: `${CLIENTS} clients writing`,
      ours: Math.max(...times),
      beside: 'statSync of every file',
      limit: await limitTo('stat', workspace.cases),
      goal: { most: 2000 },
    }
  },
}

/** Until the service is killed. @param {number} port @param {readonly string[]} ids */
async function writeTitles(port, ids) {
  const { ask } = openConnection(port)
  try {
    for (let turn = Math.floor(Math.random() * ids.length); ; turn++) {
      const title = `Changed at ${performance.now()}`
      await ask('PUT', `/cases/${ids[turn % ids.length]}`, { title })
    }
  } catch {}
}
