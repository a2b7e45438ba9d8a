import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from './child.mjs'
import { getBody } from './get-body.mjs'

/** @import { SuiteOptions } from './suite.mjs' */

const POLL_MS = 10

/**
 * @typedef {object} CasefileOptions
 * @property {string} program
 * @property {string} root
 * @property {string} stateDir
 * @property {SuiteOptions['onEnd']} onEnd
 * @property {number | undefined} [core] The only one that it may use.
 */

/**
 * Starts the built program on a workspace, and measures from the start of the process to the line
 * with its address.
 * @param {CasefileOptions} options
 */
export async function launchCasefile({ program, root, stateDir, onEnd, core }) {
  const args = [program, 'serve', '--port', '0', '--root', root, '--state-dir', stateDir]
  const child = startChild(args, core)
  onEnd(() => child.stop('SIGKILL'))
  const { ms: addressMs, found } = await child.line(/^Casefile is listening on (http:\S+)$/m)
  return { ...child, url: String(found[1]), addressMs }
}

/**
 * The same, to `watching: ok` in /health.
 * @param {CasefileOptions} options
 */
export async function startCasefile(options) {
  const casefile = await launchCasefile(options)
  const health = await untilWatching(casefile.url)
  return { ...casefile, watchingMs: casefile.sinceStart(), health }
}

/** Asks for /health until it is well, and returns it. @param {string} url @returns {Promise<any>} */
export async function untilWatching(url) {
  for (;;) {
    const health = JSON.parse(await getBody(`${url}/health`))
    if (health.watching === 'ok') return health
    if (health.watching === 'degraded') throw new Error(`it cannot watch: ${health.message}`)
    await delay(POLL_MS)
  }
}

/** @typedef {Awaited<ReturnType<typeof launchCasefile>>} Casefile */
