import { join } from 'node:path'
import { startChild } from './child.mjs'
import { openRaw, rawRequest } from './raw-connection.mjs'

/** @import { Figures } from './smoke-verdict.mjs' */
/** @import { Server } from './smoke-starts.mjs' */

const LIMIT = join(import.meta.dirname, 'writes-limit.mjs')
const ROUNDS = 3
const WRITES = 15

/**
 * The quickest of some writes, in turns with the same by a bare process in folders of its own.
 * @param {Server} server
 * @returns {Promise<Record<string, Figures>>}
 */
export async function smokeWrites({ casefile, workspace, other }) {
  const port = Number(new URL(casefile.url).port)
  const { ids } = workspace
  let turn = 0
  const title = () => `Written by a request, ${turn++} ${performance.now()}`
  const requests = {
    put: () =>
      rawRequest(port, 'PUT', `/cases/${ids[turn % ids.length]}`, { json: { title: title() } }),
    create: () => rawRequest(port, 'POST', '/cases', { json: { title: title(), description } }),
  }
  /** @param {'put' | 'create'} mode @returns {Promise<Figures>} */
  const quickest = async (mode) => {
    const best = { ours: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY }
    const connection = openRaw(port)
    for (let round = 0; round < ROUNDS; round++) {
      best.limit = Math.min(best.limit, await bareWrite(mode, other.cases))
      for (let write = 0; write < WRITES; write++) {
        best.ours = Math.min(best.ours, await connection.time(requests[mode]()))
      }
    }
    connection.close()
    return best
  }
  return { 'PUT title': await quickest('put'), 'create a case': await quickest('create') }
}

const description =
  'The login form times out under load, and the log says nothing about it.\n'.repeat(17)

/** @param {'put' | 'create'} mode @param {string} cases */
async function bareWrite(mode, cases) {
  const child = startChild([LIMIT, mode, cases, String(WRITES), '1'])
  const { found } = await child.line(/^\{.*\}$/m)
  await child.stop('SIGKILL')
  return Math.min(...JSON.parse(found[0]).times)
}
