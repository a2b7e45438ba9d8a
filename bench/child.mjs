import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const LIMIT = fileURLToPath(new URL('limit.mjs', import.meta.url))

/**
 * A Node program that says on its standard output how far it is, with the time of each word since it
 * was started: what Casefile and the limits are both measured as.
 * @param {string[]} args
 * @param {number | undefined} [core] The only one that it may use.
 */
export function startChild(args, core) {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('CASEFILE_'))
  const began = performance.now()
  const words = [process.execPath, ...args]
  if (core !== undefined) words.unshift('taskset', '-c', String(core))
  const child = spawn(String(words[0]), words.slice(1), {
    env: { ...Object.fromEntries(own), NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { stdout: '', stderr: '' }
  /** @type {Set<() => void>} */
  const listeners = new Set()
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said.stderr += text
  })
  child.stdout.setEncoding('utf8').on('data', (text) => {
    said.stdout += text
    for (const listener of [...listeners]) listener()
  })
  const ended = once(child, 'close').then(() => {
    for (const listener of [...listeners]) listener()
  })
  return {
    pid: /** @type {number} */ (child.pid),
    /** Milliseconds since it was started. */
    sinceStart: () => performance.now() - began,
    /**
     * Waits for a line that fits, and says when it came.
     * @param {RegExp} pattern
     * @returns {Promise<{ ms: number, found: RegExpExecArray }>}
     */
    line(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said.stdout)
          const isOver = child.exitCode !== null || child.signalCode !== null
          if (!found && !isOver) return
          listeners.delete(look)
          if (found) resolve({ ms: performance.now() - began, found })
          else reject(new Error(`${args.join(' ')} ended: ${said.stdout}${said.stderr}`))
        }
        listeners.add(look)
        look()
      })
    },
    /** @param {NodeJS.Signals} signal */
    async stop(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/**
 * `limit.mjs` on the folder of all cases.
 * @param {string} cases
 * @param {string[]} args
 */
export function startLimit(cases, args = []) {
  return startChild([LIMIT, cases, ...args])
}
