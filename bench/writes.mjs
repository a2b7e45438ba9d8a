import { startCasefile } from './casefile.mjs'
import { atRest } from './process-figures.mjs'
import { makeWorkspace } from './workspace.mjs'
import { writesRows } from './writes-rounds.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * How long changes by requests take, each of which is on the disk before its answer.
 * @type {Suite}
 */
export const writesSuite = {
  sizes: [1000],
  limits: {
    'durable write':
      'a Node process that replaces the files of a workspace like it: temporary file, fsync, rename, fsync of the folder',
    'mkdir and write': 'the same in a folder made for it',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`Casefile is started on ${size} cases`)
    const [workspace, other] = [1, 2].map(() => makeWorkspace({ parent, count: size, seed: size }))
    if (!workspace || !other) throw new Error('unreachable')
    onEnd(workspace.remove)
    onEnd(other.remove)
    const { root, newStateDir } = workspace
    const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
    if (!(await atRest(casefile.pid))) say('it did not come to rest')
    yield* await writesRows({ casefile, workspace, other }, options)
    await casefile.stop('SIGTERM')
    workspace.remove()
    other.remove()
  },
}
