import { startCasefile } from './casefile.mjs'
import { startLimit } from './child.mjs'

/** @import { Row, SuiteOptions } from './suite.mjs' */
/** @import { Workspace } from './workspace.mjs' */

const MAX_ROUNDS = 3
/** No further round is begun after this. */
const ENOUGH_MS = 15_000

/**
 * How long a start takes without and with a state folder. In rounds, of which the median counts; the
 * process of the last one goes on running.
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 */
export async function measureStarts(workspace, options) {
  const began = performance.now()
  const work = `${workspace.ids.length.toLocaleString('en')} cases`
  /** @type {Awaited<ReturnType<typeof oneRound>>[]} */
  const rounds = []
  do {
    options.say(`${work}: starts, round ${rounds.length + 1}`)
    await rounds.at(-1)?.second.stop('SIGTERM')
    rounds.push(await oneRound(workspace, options))
  } while (rounds.length < MAX_ROUNDS && performance.now() - began < ENOUGH_MS)

  /** @param {(round: typeof rounds[0]) => number} figure */
  const median = (figure) =>
    Number(rounds.map(figure).sort((a, b) => a - b)[(rounds.length - 1) >> 1])
  const common = /** @type {const} */ ({ work, unit: 'ms' })
  const reading = { ...common, beside: 'reading', limit: median(({ limit }) => limit.read) }
  const watching = {
    ...{ ...common, beside: 'reading and watching', limit: median(({ limit }) => limit.both) },
  }
  /** @type {Row[]} */
  const rows = [
    {
      ...{ ...reading, what: 'first start → address', goal: { ratio: 3 } },
      ours: median(({ first }) => first.addressMs),
    },
    {
      ...{ ...watching, what: 'first start → `watching: ok`' },
      ours: median(({ first }) => first.watchingMs),
    },
    {
      ...{ ...reading, what: 'second start → address' },
      ours: median(({ second }) => second.addressMs),
    },
    {
      ...{ ...watching, what: 'second start → `watching: ok`' },
      ours: median(({ second }) => second.watchingMs),
    },
    {
      ...{ ...common, what: 'address → `watching: ok`', beside: 'watching alone' },
      ours: median(({ second }) => second.watchingMs - second.addressMs),
      limit: median(({ limit }) => limit.watch),
      goal: { ratio: 2 },
    },
  ]
  const casefile = rounds[rounds.length - 1]?.second
  if (!casefile) throw new Error('there was no round')
  return { rows, casefile }
}

/**
 * @param {Workspace} workspace
 * @param {SuiteOptions} options
 */
async function oneRound({ root, cases, ids, newStateDir }, { program, onEnd }) {
  const least = startLimit(cases, ['read'])
  onEnd(() => least.stop('SIGKILL'))
  const read = (await least.line(/^read /m)).ms
  const { ms: both, found } = await least.line(/^watching after (\S+) ms/m)
  await least.stop('SIGKILL')

  const stateDir = newStateDir()
  const first = await startCasefile({ program, root, stateDir, onEnd })
  await first.stop('SIGTERM')
  if (first.health.cases !== ids.length || first.health.problems.length > 0) {
    throw new Error(`it has not read what was made: ${JSON.stringify(first.health)}`)
  }
  const second = await startCasefile({ program, root, stateDir, onEnd })
  return { limit: { read, both, watch: Number(found[1]) }, first, second }
}
