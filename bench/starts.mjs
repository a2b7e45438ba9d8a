import {
  memoryOf,
  startCasefile,
  startLimit,
  timeOf,
  untilIdle,
  untilListed,
  untilWatching,
} from './processes.mjs'
import { cases, median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const MAX_ROUNDS = 5
/** No further round begins after this. */
const ENOUGH_MS = 40_000
/** By the number of cases: at most so many bytes when idle. */
const MEMORY = new Map([
  [10_000, 130 * 2 ** 20],
  [50_000, 260 * 2 ** 20],
])

/**
 * How soon the address and the whole list are there after a start, and what an idle service holds in memory.
 * @type {Suite}
 */
export const startsSuite = {
  sizes: [10_000, 50_000],
  limits: {
    reading: 'a Node process, from its start until it has read every .md file with `readFileSync`',
    stat: 'a Node process, from its start until it has called `statSync` for every .md file',
    'node -e 0': 'Node, which does nothing and ends',
    watcher: 'a Node process with one `fs.watch` on each folder, which has read nothing',
  },
  async *measure(size, options) {
    options.say(`${size} cases are made`)
    const workspace = makeWorkspace({ parent: options.parent, count: size, seed: size })
    options.onEnd(workspace.remove)
    const began = performance.now()
    /** @type {Awaited<ReturnType<typeof startRound>>[]} */
    const rounds = []
    while (rounds.length < MAX_ROUNDS && performance.now() - began < ENOUGH_MS) {
      options.say(`${size} cases: starts, round ${rounds.length + 1}`)
      rounds.push(await startRound(workspace, options))
    }
    /** @param {(round: typeof rounds[0]) => number} figure */
    const of = (figure) => median(rounds.map(figure))
    const common = /** @type {const} */ ({ on: cases(size), unit: 'ms' })
    yield {
      ...common,
      what: 'cold start → the whole list',
      ours: of(({ cold }) => cold),
      beside: 'reading',
      limit: of(({ read }) => read),
      goal: { ratio: 5 },
    }
    yield {
      ...common,
      what: 'warm start → the whole list',
      ours: of(({ warm }) => warm),
      beside: 'stat',
      limit: of(({ stat }) => stat),
      goal: { ratio: 2.5 },
    }
    yield {
      ...common,
      what: 'warm start → address',
      ours: of(({ address }) => address),
      beside: 'node -e 0',
      limit: of(({ node }) => node),
      goal: { most: 400 },
    }
    yield await memoryRow(workspace, options)
    workspace.remove()
  },
}

/** @param {Workspace} workspace @param {SuiteOptions} options */
async function startRound({ root, cases, ids, newStateDir }, { program, onEnd }) {
  const options = { program, root, stateDir: newStateDir(), onEnd }
  const [read, first] = [await limitTo('read', cases), await startCasefile(options)]
  const cold = await untilListed(first, ids.length)
  await untilWatching(first.url)
  await first.stop('SIGTERM')
  const [stat, second] = [await limitTo('stat', cases), await startCasefile(options)]
  const warm = await untilListed(second, ids.length)
  await untilWatching(second.url)
  await second.stop('SIGTERM')
  return { read, cold, stat, warm, address: second.addressMs, node: await timeOf(['-e', '0']) }
}

/** Milliseconds. @param {'read' | 'stat'} mode @param {string} cases */
export async function limitTo(mode, cases) {
  const limit = startLimit('files', [mode, cases])
  const { ms } = await limit.line(/^(read|stat) /m)
  await limit.end()
  return ms
}

/** Of a service that was started on a state folder in use, and asked for nothing. @param {Workspace} workspace @param {SuiteOptions} options @returns {Promise<Row>} */
async function memoryRow({ root, cases: folder, ids, newStateDir }, { program, say, onEnd }) {
  say(`${ids.length} cases: memory when idle`)
  const options = { program, root, stateDir: newStateDir(), onEnd }
  const first = await startCasefile(options)
  await untilWatching(first.url)
  await first.stop('SIGTERM')
  const casefile = await startCasefile(options)
  await untilWatching(casefile.url)
  await untilIdle(casefile.pid)
  const ours = memoryOf(casefile.pid)
  await casefile.stop('SIGTERM')

  const watcher = startLimit('files', ['watch', folder])
  onEnd(() => watcher.stop('SIGKILL'))
  await watcher.line(/^listening on /m)
  await untilIdle(watcher.pid)
  const limit = memoryOf(watcher.pid)
  await watcher.stop('SIGKILL')
  const most = MEMORY.get(ids.length)
  return {
    what: 'memory (RSS), all watched, idle',
    on: cases(ids.length),
    unit: 'bytes',
    ours,
    beside: 'watcher',
    limit,
    goal: most === undefined ? {} : { most },
  }
}
