import { setTimeout as delay } from 'node:timers/promises'
import {
  memoryOf,
  openIdle,
  openWorkspace,
  startCasefile,
  startLimit,
  timeOf,
  untilIdle,
  untilListed,
  untilWatching,
} from './processes.mjs'
import { inTurns, median, percentiles } from './suite.mjs'

/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const MAX_ROUNDS = 5
/** No further round begins after this. */
const ENOUGH_MS = 40_000
const COMMANDS = 20
/** After the first rescan: until then V8 has the room that the start needed. */
const SETTLE_MS = 35_000
/** By the number of cases: at most so many bytes when idle. */
const MEMORY = new Map([
  [10_000, 130 * 2 ** 20],
  [50_000, 260 * 2 ** 20],
])

/**
 * How soon the address and the whole list are there after a start, and how much memory an idle service needs.
 * @type {Suite}
 */
export const startsSuite = {
  sizes: [10_000, 50_000],
  async *measure(size, options) {
    const workspace = openWorkspace(size, options)
    const began = performance.now()
    /** @type {Round[]} */
    const rounds = []
    while (rounds.length < MAX_ROUNDS && performance.now() - began < ENOUGH_MS) {
      options.say(`starts, round ${rounds.length + 1}`)
      rounds.push(await startRound(workspace, rounds.length, options))
    }
    /** @type {[what: string, ours: keyof Round, beside: string, limit: keyof Round, goal: Row['goal']][]} */
    const rows = [
      ['cold start → the whole list', 'cold', 'readFileSync of every file', 'read', { ratio: 5 }],
      ['warm start → the whole list', 'warm', 'statSync of every file', 'stat', { ratio: 2.5 }],
      ['warm start → address', 'address', 'node -e 0', 'node', { most: 400 }],
    ]
    for (const [what, ours, beside, limit, goal] of rows) {
      /** @param {keyof Round} name */
      const middle = (name) => median(rounds.map((round) => round[name]))
      yield { what, ours: middle(ours), beside, limit: middle(limit), goal }
    }
    yield await memoryRow(workspace, options)
  },
}

/** @typedef {Awaited<ReturnType<typeof startRound>>} Round */

/** Both starts on a state folder of this round, and their limits. @param {Workspace} workspace @param {number} round @param {SuiteOptions} options */
async function startRound({ root, cases, ids, stateDir }, round, options) {
  const folders = { root, stateDir: `${stateDir}-${round}` }
  const [read, first] = [await limitTo('read', cases), await startCasefile(folders, options)]
  const cold = await untilListed(first, ids.length)
  await untilWatching(first)
  await first.stop('SIGTERM')
  const [stat, second] = [await limitTo('stat', cases), await startCasefile(folders, options)]
  const warm = await untilListed(second, ids.length)
  await untilWatching(second)
  await second.stop('SIGTERM')
  return { read, cold, stat, warm, address: second.addressMs, node: await timeOf(['-e', '0']) }
}

/** Milliseconds. @param {'read' | 'stat'} mode @param {string} cases */
export async function limitTo(mode, cases) {
  const limit = startLimit(mode, [cases])
  const { ms } = await limit.line(/^done/m)
  await limit.end()
  return ms
}

/** Of a warm service that was asked for nothing. @param {Workspace} workspace @param {SuiteOptions} options @returns {Promise<Row>} */
async function memoryRow({ root, cases, ids, stateDir }, options) {
  options.say('memory when idle')
  const casefile = await startCasefile({ root, stateDir: `${stateDir}-0` }, options)
  await untilWatching(casefile)
  await delay(SETTLE_MS)
  await untilIdle(casefile.pid)
  const ours = memoryOf(casefile.pid)
  await casefile.stop('SIGTERM')

  const watcher = startLimit('watch', [cases])
  options.onEnd(() => watcher.stop('SIGKILL'))
  await watcher.line(/^listening on /m)
  await delay(SETTLE_MS)
  await untilIdle(watcher.pid)
  const most = MEMORY.get(ids.length)
  return {
    what: 'memory (RSS), idle for 35 s',
    unit: 'bytes',
    ours,
    beside: 'a process that watches',
    limit: memoryOf(watcher.pid),
    goal: most === undefined ? {} : { most },
  }
}

/**
 * A command that needs no running service, from its start to its end with all that it prints.
 * @type {Suite}
 */
export const cliSuite = {
  sizes: [1000],
  async *measure(size, options) {
    // leaves the state folder of a workspace in use
    const { root, stateDir, stop } = await openIdle(size, options)
    await stop('SIGTERM')
    options.say('casefile list, in turns with Node alone')
    const list = () => timeOf([options.program, 'list', '--root', root, '--state-dir', stateDir])
    await list()
    const times = await inTurns(COMMANDS, () => timeOf(['-e', '0']), list)
    yield {
      what: 'casefile list, no service',
      ...percentiles(times),
      beside: 'node -e 0',
      goal: { over: 200 },
    }
  },
}
