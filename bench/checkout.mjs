import { startCasefile } from './casefile.mjs'
import { addBranch, checkoutRows } from './checkout-rounds.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * How soon a `git switch` that changes 2,000 files is told and known.
 * @type {Suite}
 */
export const checkoutSuite = {
  sizes: [10_000],
  limits: {
    'switch and read':
      'the same `git switch` in a workspace like it that nobody watches, then a `readFileSync` of each file that it changed',
    changes: 'one event for each',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`${size} cases are made, twice`)
    const [workspace, other] = [1, 2].map(() => makeWorkspace({ parent, count: size, seed: size }))
    if (!workspace || !other) throw new Error('unreachable')
    onEnd(workspace.remove)
    onEnd(other.remove)
    const changed = addBranch(workspace)
    addBranch(other)
    const { root, newStateDir } = workspace
    const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
    yield* await checkoutRows({ casefile, workspace, other, changed }, options)
    await casefile.stop('SIGTERM')
    workspace.remove()
    other.remove()
  },
}
