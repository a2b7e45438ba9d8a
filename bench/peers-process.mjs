import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

/** @import { SuiteOptions } from './suite.mjs' */

const INSTALL_MS = 180_000
/** A request that comes while a peer still reads may never be answered: it is made again after this. */
const ANSWER_MS = 10_000
const READY_MS = 300_000
const POLL_MS = 250

/** @type {Map<string, Promise<{ folder: string } | { missing: string }>>} */
const installed = new Map()

/**
 * A package of the npm registry in a folder of its own, which is removed at the end of the run.
 * @param {string} spec with its exact version
 * @param {string} parent
 * @param {SuiteOptions['onEnd']} onEnd
 */
export function installPeer(spec, parent, onEnd) {
  const begun = installed.get(spec) ?? install(spec, newFolder(parent, onEnd))
  installed.set(spec, begun)
  return begun
}

/** @param {string} spec @param {string} folder */
async function install(spec, folder) {
  const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  try {
    await promisify(execFile)('npm', ['install', '--prefix', folder, ...options, spec], {
      timeout: INSTALL_MS,
    })
    return { folder: join(folder, 'node_modules') }
  } catch (error) {
    return { missing: `npm cannot install ${spec}: ${String(error).slice(0, 500)}` }
  }
}

/** @param {string} parent @param {SuiteOptions['onEnd']} onEnd */
export function newFolder(parent, onEnd) {
  const folder = mkdtempSync(join(parent, 'casefile-peer-'))
  onEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** A port that is free at the moment. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Starts a peer, and returns once its list has all that it was given.
 * @param {object} options
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {string} options.folder where it runs
 * @param {string} options.url
 * @param {string} options.list the path of its list
 * @param {number} options.count
 * @param {SuiteOptions['onEnd']} options.onEnd
 */
export async function startPeer({ command, args, folder, url, list, count, onEnd }) {
  const child = spawn(command, args, { cwd: folder, stdio: 'ignore' })
  const ended = once(child, 'close')
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  onEnd(stop)
  const began = performance.now()
  while ((await listed(`${url}${list}`)) !== count) {
    if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`)
    if (performance.now() - began > READY_MS) throw new Error(`${command} does not become ready`)
    await delay(POLL_MS)
  }
  return { url, stop }
}

/** How many are in a list; undefined where there is no answer yet. @param {string} url */
async function listed(url) {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
    const list = /** @type {unknown[]} */ (await response.json())
    return response.ok ? list.length : undefined
  } catch {
    return undefined // nobody listens yet, or it still reads
  }
}
