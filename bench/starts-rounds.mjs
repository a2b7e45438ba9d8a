import { launchCasefile, startCasefile, untilWatching } from './casefile.mjs'
import { startLimit } from './child.mjs'
import { median } from './figures.mjs'
import { getBody } from './get-body.mjs'
import { processorMsOf } from './process-figures.mjs'

/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const MAX_ROUNDS = 5
/** No further round is begun after this. */
const ENOUGH_MS = 25_000

/**
 * How long a start takes without and with a state folder. In rounds, of which the median counts; the
 * process of the last one goes on running, and was asked for no list.
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 */
export async function startRounds(workspace, options) {
  const began = performance.now()
  const work = `${workspace.ids.length.toLocaleString('en')} cases`
  /** @type {Awaited<ReturnType<typeof startRound>>[]} */
  const rounds = []
  do {
    options.say(`${work}: starts, round ${rounds.length + 1}`)
    await rounds.at(-1)?.casefile.stop('SIGTERM')
    rounds.push(await startRound(workspace, options))
  } while (rounds.length < MAX_ROUNDS && performance.now() - began < ENOUGH_MS)

  /** @param {(round: typeof rounds[0]) => number} figure */
  const of = (figure) => median(rounds.map(figure))
  const common = /** @type {const} */ ({ work, unit: 'ms' })
  /** @type {Row[]} */
  const rows = [
    {
      ...{ ...common, what: 'cold start → the whole list', ours: of(({ cold }) => cold.ms) },
      ...{ beside: 'reading', limit: of(({ read }) => read.ms), goal: { ratio: 3 } },
    },
    {
      ...{ ...common, what: 'warm start → the whole list', ours: of(({ warm }) => warm.ms) },
      ...{ beside: 'stat', limit: of(({ stat }) => stat.ms), goal: { ratio: 2 } },
    },
    {
      ...{ ...common, what: 'cold start → the whole list: processor time' },
      ...{ ours: of(({ cold }) => cold.processorMs) },
      ...{ beside: 'reading', limit: of(({ read }) => read.processorMs) },
    },
    {
      ...{ ...common, what: 'warm start → the whole list: processor time' },
      ...{ ours: of(({ warm }) => warm.processorMs) },
      ...{ beside: 'stat', limit: of(({ stat }) => stat.processorMs) },
    },
    {
      ...{ ...common, what: 'warm start → address' },
      ...{ ours: of(({ casefile }) => casefile.addressMs) },
      ...{ beside: 'stat', limit: of(({ stat }) => stat.ms) },
    },
    {
      ...{ ...common, what: 'warm start → `watching: ok`' },
      ...{ ours: of(({ casefile }) => casefile.watchingMs) },
      ...{ beside: 'stat and watching', limit: of(({ both }) => both) },
    },
    {
      ...{ ...common, what: 'address → `watching: ok`' },
      ...{ ours: of(({ casefile }) => casefile.watchingMs - casefile.addressMs) },
      ...{ beside: 'watching alone', limit: of(({ watch }) => watch), goal: { ratio: 2 } },
    },
  ]
  const casefile = rounds.at(-1)?.casefile
  if (!casefile) throw new Error('there was no round')
  return { rows, casefile }
}

/**
 * @param {Workspace} workspace
 * @param {Pick<SuiteOptions, 'program' | 'onEnd'>} options
 */
export async function startRound(workspace, { program, onEnd }) {
  const { root, cases, newStateDir } = workspace
  const options = { program, root, stateDir: newStateDir(), onEnd }
  const { first: read } = await limitTo('read', cases, onEnd)
  const cold = await untilListed(options, workspace)
  const { first: stat, both, watch } = await limitTo('stat', cases, onEnd)
  const warm = await untilListed(options, workspace)
  return { read, cold, stat, both, watch, warm, casefile: await startCasefile(options) }
}

/**
 * @param {'read' | 'stat'} what
 * @param {string} cases
 * @param {SuiteOptions['onEnd']} onEnd
 */
async function limitTo(what, cases, onEnd) {
  const limit = startLimit(cases, [what])
  onEnd(() => limit.stop('SIGKILL'))
  const said = await limit.line(new RegExp(`^${what} .* in (\\S+) ms`, 'm'))
  const first = { ms: said.ms, processorMs: Number(said.found[1]) }
  const { ms: both, found } = await limit.line(/^watching after (\S+) ms/m)
  await limit.stop('SIGKILL')
  return { first, both, watch: Number(found[1]) }
}

/**
 * From the start of the process to the end of a list that has all cases. The process ends in good
 * order, once it watches.
 * @param {import('./casefile.mjs').CasefileOptions} options
 * @param {Workspace} workspace
 */
async function untilListed(options, { ids }) {
  const casefile = await launchCasefile(options)
  let [ms, processorMs] = [0, 0]
  let listed = 0
  while (listed < ids.length) {
    const text = await getBody(`${casefile.url}/cases`)
    ms = casefile.sinceStart()
    processorMs = processorMsOf(casefile.pid)
    listed = JSON.parse(text).length
  }
  const health = await untilWatching(casefile.url)
  if (health.problems.length > 0) throw new Error(`it has problems: ${JSON.stringify(health)}`)
  await casefile.stop('SIGTERM')
  return { ms, processorMs }
}
