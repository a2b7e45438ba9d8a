import { startCasefile } from './casefile.mjs'
import { spreadOf } from './figures.mjs'
import { atRest } from './process-figures.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */

const SMALL = 1000
/** Requests at one service, then as many at the other. */
const TURN = 20
/** Of those that only read: for each that writes. */
const READS = 5
const GOAL_RATIO = 1.2

/**
 * What a request takes among many cases and among few, of two services asked in turns.
 * @type {Suite}
 */
export const growthSuite = {
  sizes: [50_000],
  limits: { 'among 1,000': `another Casefile on ${SMALL.toLocaleString('en')} cases` },
  async *measure(size, options) {
    const [large, small] = [await openOne(size, options), await openOne(SMALL, options)]
    const work = `${size.toLocaleString('en')} cases`
    for (const kind of KINDS) {
      options.say(`${work}: ${kind.what}`)
      /** @type {{ ours: number[], limit: number[] }} */
      const times = { ours: [], limit: [] }
      const count = options.saves * kind.times
      while (times.ours.length < count) {
        for (let done = 0; done < TURN; done++) times.limit.push(await small.time(kind))
        for (let done = 0; done < TURN; done++) times.ours.push(await large.time(kind))
      }
      yield* rowsOf(kind, work, times)
    }
    for (const { close } of [large, small]) await close()
  },
}

/** @typedef {{ what: string, times: number, method: string, path: (id: string) => string, json?: (turn: number) => unknown }} Kind */

/** @type {Kind[]} */
const KINDS = [
  { what: 'GET one case', times: READS, method: 'GET', path: (id) => `/cases/${id}` },
  {
    ...{ what: 'PUT title', times: 1, method: 'PUT', path: (id) => `/cases/${id}` },
    json: (turn) => ({ title: `Changed by a request, ${turn}` }),
  },
  {
    ...{ what: 'POST a case', times: 1, method: 'POST', path: () => '/cases' },
    json: (turn) => ({ title: `Made by a request, ${turn}` }),
  },
]

/** @type {(kind: Kind, work: string, times: { ours: number[], limit: number[] }) => Row[]} */
function rowsOf({ what }, work, times) {
  const [ours, limit] = [spreadOf(times.ours), spreadOf(times.limit)]
  const common = /** @type {const} */ ({ work, unit: 'ms', beside: 'among 1,000' })
  return [
    {
      ...{ what: `${what}, p50`, ...common, ours: ours.p50, limit: limit.p50 },
      goal: { ratio: GOAL_RATIO },
    },
    { what: `${what}, p99`, ...common, ours: ours.p99, limit: limit.p99 },
  ]
}

/**
 * @param {number} size
 * @param {SuiteOptions} options
 */
async function openOne(size, { program, parent, say, onEnd }) {
  say(`Casefile is started on ${size} cases`)
  const workspace = makeWorkspace({ parent, count: size, seed: size })
  onEnd(workspace.remove)
  const { root, ids, newStateDir } = workspace
  const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
  if (!(await atRest(casefile.pid))) say('it did not come to rest')
  const port = Number(new URL(casefile.url).port)
  const connection = openRaw(port)
  let turn = 0
  return {
    /** @param {Kind} kind */
    time({ method, path, json }) {
      const id = String(ids[(turn * 7919) % ids.length])
      const options = json ? { json: json(turn) } : {}
      turn++
      return connection.time(rawRequest(port, method, path(id), options))
    },
    async close() {
      connection.close()
      await casefile.stop('SIGTERM')
      workspace.remove()
    },
  }
}
