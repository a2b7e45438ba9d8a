import { setTimeout as delay } from 'node:timers/promises'
import { openClient } from './client.mjs'
import { getBody, startCasefile, untilListed } from './processes.mjs'
import { createRandom } from './random.mjs'
import { limitTo } from './starts.mjs'
import { cases } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

const ROUNDS = 80
const CLIENTS = 16
/** The kill comes so long after the load has begun, at most. */
const LOAD_MS = 400

/**
 * How long a start takes after a `kill -9` in the middle of writes, and whether a title that was answered is lost.
 * @type {Suite}
 */
export const crashSuite = {
  sizes: [1000],
  limits: {
    stat: 'a Node process, from its start until it has called `statSync` for every .md file',
  },
  async *measure(size, { program, parent, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, ids, newStateDir } = workspace
    const options = { program, root, stateDir: newStateDir(), onEnd }
    const random = createRandom(size)
    /** Of each case: the titles that it may have, the last one answered and what was sent since. @type {Map<string, string[]>} */
    const titles = new Map()
    const times = []
    for (let round = 0; round < ROUNDS; round++) {
      if (round % 10 === 0) say(`kill -9, round ${round + 1} of ${ROUNDS}`)
      const casefile = await startCasefile(options)
      const ms = await untilListed(casefile, size)
      if (round > 0) times.push(ms) // the first is no start after a kill
      mustHave(titles, JSON.parse(await getBody(`${casefile.url}/cases`)))
      const load = writeTitles(casefile.url, ids, titles)
      await delay(20 + random.below(LOAD_MS))
      await casefile.stop('SIGKILL')
      await load
    }
    const last = await startCasefile(options)
    times.push(await untilListed(last, size))
    mustHave(titles, JSON.parse(await getBody(`${last.url}/cases`)))
    await last.stop('SIGTERM')
    yield {
      what: `start → the whole list after kill -9, worst of ${times.length}`,
      on: `${cases(size)}, ${CLIENTS} clients writing`,
      unit: 'ms',
      ours: Math.max(...times),
      beside: 'stat',
      limit: await limitTo('stat', workspace.cases),
      goal: { most: 2000 },
    }
    workspace.remove()
  },
}

/** Until the service dies. Each client has cases of its own. @param {string} url @param {readonly string[]} ids @param {Map<string, string[]>} titles */
async function writeTitles(url, ids, titles) {
  const client = openClient(url)
  const write = async (/** @type {number} */ first) => {
    for (let at = first; ; at = (at + CLIENTS) % (ids.length - (ids.length % CLIENTS))) {
      const id = String(ids[at])
      const title = `Changed at ${performance.now()}`
      titles.set(id, [...(titles.get(id) ?? []), title])
      try {
        await client.ask('PUT', `/cases/${id}`, { title })
      } catch {
        return // killed
      }
      titles.set(id, [title])
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, first) => write(first)))
  client.close()
}

/** @param {Map<string, string[]>} titles @param {{ id: string, title: string }[]} listed */
function mustHave(titles, listed) {
  for (const { id, title } of listed) {
    const possible = titles.get(id)
    if (possible && !possible.includes(title)) {
      throw new Error(`case ${id} has lost a title: it has ${title}, not ${possible.join(' or ')}`)
    }
    titles.set(id, [title])
  }
}
