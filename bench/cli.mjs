import { startIdle, timeOf } from './processes.mjs'
import { cases, median } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

const ROUNDS = 20

/**
 * A command that needs no running service, from its start to its end with all that it prints.
 * @type {Suite}
 */
export const cliSuite = {
  sizes: [1000],
  limits: { 'node -e 0': 'Node, which does nothing and ends' },
  async *measure(size, { program, parent, say, onEnd }) {
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    say('casefile list, in turns with Node alone')
    const { root, newStateDir } = workspace
    const stateDir = newStateDir()
    // leaves the state folder of a workspace in use
    const service = await startIdle({ program, root, stateDir, onEnd })
    await service.stop('SIGTERM')
    const command = [program, 'list', '--root', root, '--state-dir', stateDir]
    await timeOf(command)
    const ours = []
    const limit = []
    for (let round = 0; round < ROUNDS; round++) {
      ours.push(await timeOf(command))
      limit.push(await timeOf(['-e', '0']))
    }
    yield {
      what: 'casefile list',
      on: `${cases(size)}, no service`,
      unit: 'ms',
      ours: median(ours),
      beside: 'node -e 0',
      limit: median(limit),
      goal: { over: 200 },
    }
    workspace.remove()
  },
}
