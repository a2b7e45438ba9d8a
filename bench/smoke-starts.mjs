import { startLimit } from './child.mjs'
import { getBody } from './get-body.mjs'
import { atRest, memoryOf } from './process-figures.mjs'
import { startRound } from './starts-rounds.mjs'

/** @import { Casefile } from './casefile.mjs' */
/** @import { Figures } from './smoke-verdict.mjs' */
/** @import { SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

/**
 * @typedef {object} Server
 * @property {Casefile} casefile
 * @property {Workspace} workspace
 * @property {Workspace} other For a bare process to write in.
 * @property {SuiteOptions['onEnd']} onEnd
 */

const ROUNDS = 3

/**
 * The quickest of some starts.
 * @param {Workspace} workspace
 * @param {Pick<SuiteOptions, 'program' | 'onEnd'>} options
 * @returns {Promise<Record<string, Figures>>}
 */
export async function smokeStarts(workspace, options) {
  /** @type {Awaited<ReturnType<typeof startRound>>[]} */
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const done = await startRound(workspace, options)
    await done.casefile.stop('SIGTERM')
    rounds.push(done)
  }
  const least = (/** @type {(round: typeof rounds[0]) => number} */ figure) =>
    Math.min(...rounds.map(figure))
  return {
    'cold start / reading': {
      ...{ ours: least(({ cold }) => cold.ms), limit: least(({ read }) => read.ms) },
    },
    'warm start / stat': {
      ...{ ours: least(({ warm }) => warm.ms), limit: least(({ stat }) => stat.ms) },
    },
    'watcher ready / bare watch': {
      ours: least(({ casefile }) => casefile.watchingMs - casefile.addressMs),
      limit: least(({ watch }) => watch),
    },
  }
}

/** What it holds at rest, after a list. @param {Server} server @returns {Promise<Record<string, Figures>>} */
export async function smokeMemory({ casefile, workspace, onEnd }) {
  await getBody(`${casefile.url}/cases`)
  await atRest(casefile.pid)
  const ours = memoryOf(casefile.pid)
  const bare = startLimit(workspace.cases)
  onEnd(() => bare.stop('SIGKILL'))
  await bare.line(/^listening on /m)
  await atRest(bare.pid)
  const limit = memoryOf(bare.pid)
  await bare.stop('SIGKILL')
  return { 'memory / bare watch': { ours, limit } }
}
