import { get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from './child.mjs'

/** @import { SuiteOptions } from './suite.mjs' */

const POLL_MS = 10

/**
 * Starts the built program on a workspace, and measures from the start of the process to the line
 * with its address, and to `watching: ok` in /health.
 * @param {object} options
 * @param {string} options.program
 * @param {string} options.root
 * @param {string} options.stateDir
 * @param {SuiteOptions['onEnd']} options.onEnd
 */
export async function startCasefile({ program, root, stateDir, onEnd }) {
  const child = startChild([
    ...[program, 'serve', '--port', '0', '--root', root, '--state-dir', stateDir],
  ])
  onEnd(() => child.stop('SIGKILL'))
  const { ms: addressMs, found } = await child.line(/^Casefile is listening on (http:\S+)$/m)
  const url = String(found[1])
  let health = await json(`${url}/health`)
  while (health.watching !== 'ok') {
    if (health.watching === 'degraded') throw new Error(`it cannot watch: ${health.message}`)
    await delay(POLL_MS)
    health = await json(`${url}/health`)
  }
  return { ...child, url, addressMs, watchingMs: child.sinceStart(), health }
}

/**
 * @param {string} url
 * @returns {Promise<any>}
 */
function json(url) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve(JSON.parse(text)))
    })
    request.on('error', reject)
  })
}

/** @typedef {Awaited<ReturnType<typeof startCasefile>>} Casefile */
