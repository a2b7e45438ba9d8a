import { fileURLToPath } from 'node:url'
import { startChild } from './child.mjs'
import { openClient } from './client.mjs'

const PROGRAM = fileURLToPath(new URL('webhook-limit.mjs', import.meta.url))

/**
 * `webhook-limit.mjs`, once it listens.
 * @param {string[]} args
 * @param {(undo: () => unknown) => void} onEnd
 */
export async function startPosting(args, onEnd) {
  const child = startChild([PROGRAM, ...args])
  onEnd(() => child.stop('SIGKILL'))
  const { found } = await child.line(/^listening on (\S+)$/m)
  const client = openClient(String(found[1]))
  return {
    client,
    async stop() {
      client.close()
      await child.stop('SIGKILL')
    },
  }
}
