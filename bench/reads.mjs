import { join } from 'node:path'
import { startCasefile } from './casefile.mjs'
import { startChild } from './child.mjs'
import { SERVER_CORE } from './cores.mjs'
import { atRest } from './process-figures.mjs'
import { changeRows } from './reads-change.mjs'
import { rateRows } from './reads-rates.mjs'
import { recordAnswers } from './reads-record.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Suite } from './suite.mjs' */

const LIMIT = join(import.meta.dirname, 'reads-limit.mjs')
/** So many cases are asked for in turn, where it is one at a time. */
const CASES = 100

/**
 * Requests a second on one core, and the first list after a change.
 * @type {Suite}
 */
export const readsSuite = {
  sizes: [1000, 10_000],
  limits: {
    'ready answers':
      'a bare `node:http` server that sends the same bytes with the same headers, which it has ready',
    'its /health': 'the same process, asked for `GET /health`',
    stringifying: '`JSON.stringify` of the same list in a bare process, nothing sent',
    'stringifying and sending':
      'a bare `node:http` server that calls `JSON.stringify` for each request',
  },
  async *measure(size, options) {
    const { program, parent, say, onEnd } = options
    say(`Casefile is started on ${size} cases`)
    const workspace = makeWorkspace({ parent, count: size, seed: size })
    onEnd(workspace.remove)
    const { root, newStateDir, newFolder } = workspace
    const stateDir = newStateDir()
    const casefile = await startCasefile({ program, root, stateDir, onEnd, core: SERVER_CORE })
    if (!(await atRest(casefile.pid))) say('it did not come to rest')

    const folder = newFolder('answers')
    const one = workspace.ids.slice(0, CASES).map((id) => `/cases/${id}`)
    await recordAnswers(casefile.url, ['/cases', ...one], folder)
    const limit = startChild([LIMIT, folder], SERVER_CORE)
    onEnd(() => limit.stop('SIGKILL'))
    const { found } = await limit.line(/^listening on (\S+)$/m)
    const bare = { url: String(found[1]), pid: limit.pid }
    const sides = { ours: casefile, limit: bare, one, folder }
    const work = `${size.toLocaleString('en')} cases`
    yield* await rateRows(sides, work, options)
    yield* await changeRows(sides, work, options)
    await limit.stop('SIGKILL')
    await casefile.stop('SIGTERM')
    workspace.remove()
  },
}
