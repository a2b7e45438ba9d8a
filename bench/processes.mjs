/** The processes that are measured: Casefile, and its limits, each on a core of its own where there are two. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { get } from 'node:http'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
export const SERVER_CORE = canPin ? 0 : undefined
export const CLIENT_CORE = canPin ? 1 : undefined

const POLL_MS = 10
const LOOK_MS = 250
const QUIET_LOOKS = 6
const MAX_LOOKS = 240

/**
 * A Node process that prints on its standard output how far it is.
 * @param {string[]} args
 * @param {number} [core] The only one that it may use.
 */
export function startChild(args, core) {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('CASEFILE_'))
  const words = [process.execPath, ...args]
  if (core !== undefined) words.unshift('taskset', '-c', String(core))
  const began = performance.now()
  const child = spawn(String(words[0]), words.slice(1), {
    env: { ...Object.fromEntries(kept), NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  /** @type {Set<() => void>} */
  const listeners = new Set()
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed.stderr += text
  })
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed.stdout += text
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
     * Waits for a line, and returns when it came.
     * @param {RegExp} pattern
     * @returns {Promise<{ ms: number, found: RegExpExecArray }>}
     */
    line(pattern) {
      return new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(printed.stdout)
          const isOver = child.exitCode !== null || child.signalCode !== null
          if (!found && !isOver) return
          listeners.delete(look)
          if (found) resolve({ ms: performance.now() - began, found })
          else reject(new Error(`${args.join(' ')} ended: ${printed.stdout}${printed.stderr}`))
        }
        listeners.add(look)
        look()
      })
    },
    /** Resolves with the milliseconds that it ran, once it has ended well. */
    async end() {
      await ended
      const ms = performance.now() - began
      if (child.exitCode === 0) return ms
      throw new Error(`${args.join(' ')} ended with ${child.exitCode}: ${printed.stderr}`)
    },
    /** @param {NodeJS.Signals} signal */
    async stop(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/** Starts one of the programs beside this file. @param {string} name @param {string[]} args @param {number} [core] */
export function startLimit(name, args, core) {
  return startChild([join(import.meta.dirname, `limit-${name}.mjs`), ...args], core)
}

/** Milliseconds that a Node process takes from its start to its end. @param {string[]} args */
export function timeOf(args) {
  return startChild(args).end()
}

/**
 * @typedef {object} CasefileOptions
 * @property {string} program The built program, dist/cli.js.
 * @property {string} root
 * @property {string} stateDir
 * @property {(undo: () => unknown) => void} onEnd
 * @property {number} [core]
 *
 * @typedef {Awaited<ReturnType<typeof startCasefile>>} Casefile
 */

/** Starts a service; `addressMs` is the time until it printed its address. @param {CasefileOptions} options */
export async function startCasefile({ program, root, stateDir, onEnd, core }) {
  const args = [program, 'serve', '--port', '0', '--root', root, '--state-dir', stateDir]
  const child = startChild(args, core)
  onEnd(() => child.stop('SIGKILL'))
  const { ms: addressMs, found } = await child.line(/^Casefile is listening on (http:\S+)$/m)
  const url = String(found[1])
  return { ...child, url, port: Number(new URL(url).port), addressMs }
}

/** The same, once it watches everything and is idle. @param {CasefileOptions} options */
export async function startIdle(options) {
  const casefile = await startCasefile(options)
  await untilWatching(casefile.url)
  await untilIdle(casefile.pid)
  return casefile
}

/** @param {string} url */
export async function untilWatching(url) {
  for (;;) {
    const health = JSON.parse(await getBody(`${url}/health`))
    if (health.watching === 'degraded') throw new Error(`it cannot watch: ${health.message}`)
    if (health.problems.length > 0) throw new Error(`it has problems: ${JSON.stringify(health)}`)
    if (health.watching === 'ok') return
    await delay(POLL_MS)
  }
}

/** Milliseconds from the start of the process to the end of a list that has all cases. @param {Casefile} casefile @param {number} count */
export async function untilListed(casefile, count) {
  for (;;) {
    const text = await getBody(`${casefile.url}/cases`)
    const ms = casefile.sinceStart()
    if (JSON.parse(text).length >= count) return ms
  }
}

/** The body of an answer; on a connection of its own. @param {string} url @returns {Promise<string>} */
export function getBody(url) {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false }, (response) => {
      /** @type {Buffer[]} */
      const parts = []
      response.on('data', (part) => parts.push(part))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(parts).toString()
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`GET ${url} is answered ${response.statusCode}: ${text}`))
      })
    })
    request.on('error', reject)
  })
}

/** Resident memory in bytes. @param {number} pid */
export function memoryOf(pid) {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(kilobytes?.[1]) * 1024
}

/** Waits until a process has all but slept for 1.5 s, for a minute at most. @param {number} pid */
export async function untilIdle(pid) {
  let before = ticksOf(pid)
  for (let look = 0, quiet = 0; look < MAX_LOOKS && quiet < QUIET_LOOKS; look++) {
    await delay(LOOK_MS)
    const now = ticksOf(pid)
    quiet = now - before <= 2 ? quiet + 1 : 0
    before = now
  }
}

/** Clock ticks of 10 ms in which it ran. @param {number} pid */
function ticksOf(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
