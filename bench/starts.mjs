import { measureHeld } from './starts-held.mjs'
import { startRounds } from './starts-rounds.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

/**
 * How soon there is a whole list after a start, with and without a state folder; when all is watched,
 * and what a process holds that watches everything.
 * @type {Suite}
 */
export const startsSuite = {
  sizes: [1000, 10_000, 50_000],
  limits: {
    reading: 'a Node process, from its start until it has read every .md file with `readFileSync`',
    stat: 'a Node process, from its start until it has called `statSync` for every .md file',
    'stat and watching': 'the same process, until it also has one `fs.watch` on each folder',
    'watching alone': 'the second part of that',
    folders: 'those that have to be watched: `cases/`, each case, `sessions/`, `proof/`',
    watcher: 'another Node process with one `fs.watch` on each folder, which has read nothing',
  },
  async *measure(size, options) {
    options.say(`${size} cases are made`)
    const workspace = makeWorkspace({ parent: options.parent, count: size, seed: size })
    options.onEnd(workspace.remove)
    const { rows, casefile } = await startRounds(workspace, options)
    yield* rows
    yield* await measureHeld(casefile, workspace, options)
    workspace.remove()
  },
}
