import { startCasefile } from './casefile.mjs'
import { savesRows } from './events-saves.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * How soon a save in an editor is told.
 * @type {Suite}
 */
export const eventsSuite = {
  sizes: [1000, 10_000, 50_000],
  limits: {
    watcher:
      'a Node process with one `fs.watch` on each folder, which writes a line to a stream for each change of a case.md that it hears of',
    changes: 'one event for each',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`${size} cases are made`)
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, newStateDir } = workspace
    const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
    yield* await savesRows(casefile, workspace, options)
    await casefile.stop('SIGTERM')
    workspace.remove()
  },
}
