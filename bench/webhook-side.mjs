import { startCasefile } from './casefile.mjs'
import { openClient } from './client.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { SuiteOptions } from './suite.mjs' */

/**
 * Casefile on a workspace of its own.
 * @param {number} size
 * @param {SuiteOptions} options
 */
export async function openSide(size, { program, parent, onEnd }) {
  const workspace = makeWorkspace({ parent, count: size, seed: size })
  onEnd(workspace.remove)
  const { root, newStateDir } = workspace
  const casefile = await startCasefile({ program, root, stateDir: newStateDir(), onEnd })
  const client = openClient(casefile.url)
  let turn = 0
  let edits = 0
  return {
    workspace,
    client,
    /** One case after the other. */
    nextCase: () => String(workspace.ids[turn++ % workspace.ids.length]),
    /** Changes a title by a request; says when that was sent and answered. @param {string} id */
    retitle: (id) =>
      client.ask('PUT', `/cases/${id}`, { title: `Changed by a request ${edits++}` }),
    async stop() {
      client.close()
      await casefile.stop('SIGTERM')
      workspace.remove()
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof openSide>>} Side */
