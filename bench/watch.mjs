import { measureHeld } from './watch-held.mjs'
import { measureStarts } from './watch-starts.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * Starts, watches, memory, and the way from a save to its event (issue "Files under human hands").
 * @type {Suite}
 */
export const watchSuite = {
  sizes: [1000, 5000, 20_000],
  limits: {
    reading: 'a Node process, from its start until it has read every .md file with `readFileSync`',
    'reading and watching': 'the same process, until it also has one `fs.watch` on each folder',
    'watching alone': 'the second part of that',
    folders: 'those that have to be watched: `cases/`, each case, `sessions/`, `proof/`',
    watcher:
      'another Node process with one `fs.watch` on each folder, which writes a line to a stream for each change of a case.md that it hears of',
    changes: 'one event for each',
  },
  async *measure(size, options) {
    options.say(`${size} cases are made`)
    const workspace = makeWorkspace({ parent: options.parent, count: size, seed: size })
    options.onEnd(workspace.remove)
    const { rows, casefile } = await measureStarts(workspace, options)
    yield* rows
    yield* await measureHeld(casefile, workspace, options)
    workspace.remove()
  },
}
