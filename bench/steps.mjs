import { join } from 'node:path'
import { startCasefile } from './casefile.mjs'
import { startChild } from './child.mjs'
import { openClient } from './client.mjs'
import { median } from './figures.mjs'
import { openRuns } from './runs.mjs'
import { printingRows } from './steps-printing.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Runs } from './runs.mjs' */
/** @import { Row, Suite, SuiteOptions } from './suite.mjs' */

const LIMIT = join(import.meta.dirname, 'steps-limit.mjs')
const ROUNDS = 7
const [FEW, MANY] = [1, 21]
const GOAL_MORE_MS = 20

/**
 * What the runbook adds to the shell that it starts, and to requests while a step prints much.
 * @type {Suite}
 */
export const stepsSuite = {
  sizes: [1000],
  limits: {
    spawn: 'a Node process that starts the same shell with pipes, one after the other',
    'nothing printed': 'the same requests while no session runs',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`Casefile is started on ${size} cases`)
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, newStateDir } = workspace
    const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
    const client = openClient(casefile.url)
    const runs = await openRuns(casefile.url, client)
    yield* await stepRows(runs, options)
    yield* await printingRows({ casefile, workspace, runs }, options)
    runs.close()
    client.close()
    await casefile.stop('SIGTERM')
    workspace.remove()
  },
}

/**
 * A step is the slope between runs of few and of many of them: what a run takes however many steps it
 * has is left out, and told beside it.
 * @param {Runs} runs
 * @param {SuiteOptions} options
 * @returns {Promise<Row[]>}
 */
async function stepRows(runs, { say }) {
  /** @type {Record<'few' | 'many' | 'spawn', number[]>} */
  const times = { few: [], many: [], spawn: [] }
  for (let round = 0; round < ROUNDS; round++) {
    say(`runs of ${FEW} and of ${MANY} steps, round ${round + 1}`)
    const limit = startChild([LIMIT, String(MANY)])
    times.spawn.push(Number((await limit.line(/^took (\S+) ms$/m)).found[1]))
    await limit.stop('SIGKILL')
    times.few.push(await runs.run(await runs.prepare(Array(FEW).fill('true'))))
    times.many.push(await runs.run(await runs.prepare(Array(MANY).fill('true'))))
  }
  const [few, many, spawn] = [median(times.few), median(times.many), median(times.spawn)]
  const common = /** @type {const} */ ({ unit: 'ms', beside: 'spawn', limit: spawn })
  return [
    {
      ...{ what: 'a step that does nothing', work: `${MANY} less ${FEW}`, ...common },
      ...{ ours: (many - few) / (MANY - FEW), goal: { over: GOAL_MORE_MS } },
    },
    { what: 'approve → complete', work: 'one such step', ...common, ours: few },
  ]
}
