import { readdirSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import {
  memoryOf,
  openIdle,
  openWorkspace,
  startCasefile,
  startChild,
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
/**
 * How soon the address and the whole list are there after a start, and how much memory an idle service needs.
 * @type {Suite}
 */
export const startsSuite = {
  sizes: [5_000, 10_000, 50_000],
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
      ['then until it watches', 'watching', 'chokidar alone', 'chokidar', { ratio: 1.3 }],
      ['GET meanwhile, the longest', 'pause', 'node -e 0', 'node', { most: 50 }],
    ]
    for (const [what, ours, beside, limit, goal] of rows) {
      /** @param {keyof Round} name */
      const middle = (name) => median(rounds.map((round) => round[name]))
      yield { what, ours: middle(ours), beside, limit: middle(limit), goal }
    }
    yield* memoryRows(workspace, options)
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
  const pause = await untilWatching(second)
  const watching = second.sinceStart() - warm
  await second.stop('SIGTERM')
  const node = await timeOf(['-e', '0'])
  const alone = await startWatcher(cases, options)
  await alone.stop('SIGKILL')
  const chokidar = alone.readyMs - node
  return { read, cold, stat, warm, address: second.addressMs, node, watching, chokidar, pause }
}

/** chokidar alone, once it is ready. @param {string} cases @param {SuiteOptions} options */
async function startWatcher(cases, options) {
  const watcher = startLimit('chokidar', [cases])
  options.onEnd(() => watcher.stop('SIGKILL'))
  const { ms } = await watcher.line(/^ready/m)
  return { ...watcher, readyMs: ms }
}

/** Milliseconds. @param {'read' | 'stat'} mode @param {string} cases */
export async function limitTo(mode, cases) {
  const limit = startLimit(mode, [cases])
  const { ms } = await limit.line(/^done/m)
  await limit.end()
  return ms
}

/**
 * Of a service that was asked for nothing: without cases, and for each folder that it watches.
 * @param {Workspace} workspace @param {SuiteOptions} options @returns {AsyncIterable<Row>}
 */
async function* memoryRows({ root, cases, stateDir }, options) {
  options.say('memory when idle')
  const idle = startChild(['-e', 'setInterval(() => {}, 1e6)'])
  options.onEnd(() => idle.stop('SIGKILL'))
  const nothing = {
    ours: await idleMemory(openWorkspace(0, options), options),
    limit: memoryOf(idle.pid),
  }
  await idle.stop('SIGKILL')
  const ours = await idleMemory({ root, stateDir: `${stateDir}-0` }, options)
  const alone = await startWatcher(cases, options)
  const limit = await settledMemory(alone.pid)
  await alone.stop('SIGKILL')
  const folders = readdirSync(cases, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  ).length
  /** @param {number} all @param {number} least */
  const perFolder = (all, least) => (all - least) / 1024 / folders
  yield {
    what: 'memory (RSS), idle for 35 s, no cases',
    unit: 'bytes',
    ...nothing,
    beside: 'Node alone',
    goal: { most: 75 * 2 ** 20 },
  }
  yield {
    what: 'memory (RSS), idle for 35 s',
    unit: 'bytes',
    ours,
    beside: 'chokidar alone',
    limit,
    goal: {},
  }
  yield {
    what: 'KB of it for each watched folder',
    unit: 'count',
    ours: perFolder(ours, nothing.ours),
    beside: 'chokidar alone',
    limit: perFolder(limit, nothing.limit),
    goal: { most: 7.5 },
  }
}

/** @param {{ root: string, stateDir: string }} workspace @param {SuiteOptions} options */
async function idleMemory(workspace, options) {
  const casefile = await startCasefile(workspace, options)
  await untilWatching(casefile)
  const bytes = await settledMemory(casefile.pid)
  await casefile.stop('SIGTERM')
  return bytes
}

/** @param {number} pid */
async function settledMemory(pid) {
  await delay(SETTLE_MS)
  await untilIdle(pid)
  return memoryOf(pid)
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
      goal: { over: 150 },
    }
  },
}
