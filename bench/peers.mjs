import { startCasefile } from './casefile.mjs'
import { openClient } from './client.mjs'
import { startBacklog } from './peers-backlog.mjs'
import { startJsonServer } from './peers-json-server.mjs'
import { measurePeer } from './peers-rows.mjs'
import { measureSearch } from './peers-search.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { Goal, Suite } from './suite.mjs' */
/** @import { Action, Start } from './peers-rows.mjs' */

/**
 * Programs that do a part of the same: each with as many cases as it is measured with, and its goals.
 * @type {Record<string, { fits: (size: number) => boolean, start: Start, goals: Record<Action, Goal> }>}
 */
const PEERS = {
  'backlog.md': {
    fits: (size) => size <= 5000,
    start: startBacklog,
    goals: {
      ...{ get: { ratio: 0.02 }, list: { ratio: 0.02 } },
      ...{ create: { ratio: 0.02 }, update: { ratio: 0.02 } },
    },
  },
  'json-server': {
    fits: (size) => size < 1000 || size > 5000,
    start: startJsonServer,
    goals: {
      ...{ get: { ratio: 1 }, list: { ratio: 1 } },
      ...{ create: { ratio: 0.2 }, update: { ratio: 0.2 } },
    },
  },
}

/**
 * The same requests to other programs that hold the same texts, one after the other.
 * @type {Suite}
 */
export const peersSuite = {
  sizes: [1000, 5000, 10_000],
  limits: {
    'backlog.md':
      'the HTTP API of `backlog browser` (Backlog.md 1.52.0), with the same titles, descriptions, states and tags as its tasks, in a git repository; without its look at other branches and remotes, as its page on configuration advises for speed',
    'json-server':
      'json-server 0.17.4, with the cases as `GET /cases` gives them in its db.json; an update is its PATCH',
    ripgrep: 'the Debian package, a process for each search: `rg` over the case.md files',
  },
  async *measure(size, options) {
    options.say(`${size} cases are made`)
    const workspace = makeWorkspace({ parent: options.parent, count: size, seed: size })
    options.onEnd(workspace.remove)
    const { program, onEnd } = options
    const stateDir = workspace.newStateDir()
    const casefile = await startCasefile({ program, root: workspace.root, stateDir, onEnd })
    const client = openClient(casefile.url)
    const { json: cases } = await client.ask('GET', '/cases')
    for (const [name, { fits, start, goals }] of Object.entries(PEERS)) {
      if (!fits(size)) continue
      options.say(`${size} cases: ${name}`)
      const peer = await start({ cases, parent: options.parent, onEnd })
      if ('missing' in peer) options.say(`${name} is left out: ${peer.missing}`)
      else
        yield* await measurePeer({
          name,
          url: casefile.url,
          cases,
          goals,
          peer,
          saves: options.saves,
        })
      if ('stop' in peer) await peer.stop()
    }
    if (PEERS['json-server']?.fits(size)) yield* await measureSearch(client, workspace, options)
    client.close()
    await casefile.stop('SIGTERM')
    workspace.remove()
  },
}
