/** The processes that are measured: Casefile, and its limits, each on a core of its own where there are two. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openConnection } from './connection.mjs'
import { cases } from './suite.mjs'
import { makeWorkspace } from './workspace.mjs'

/** @import { SuiteOptions } from './suite.mjs' */

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
export const SERVER_CORE = canPin ? 0 : undefined
export const CLIENT_CORE = canPin ? 1 : undefined

const POLL_MS = 10
const LOOK_MS = 250
const QUIET_LOOKS = 6
const MAX_LOOKS = 240

/**
 * A process that prints on its standard output how far it is.
 * @param {string[]} args
 * @param {{ command?: string, cwd?: string, core?: number | undefined, env?: Record<string, string> }} [options] `core`: the only one that it may use.
 */
export function startChild(args, { command = process.execPath, cwd, core, env: more = {} } = {}) {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith('CASEFILE_'))
  const words = [command, ...args]
  if (core !== undefined) words.unshift('taskset', '-c', String(core))
  const began = performance.now()
  const child = spawn(String(words[0]), words.slice(1), {
    cwd,
    env: { ...Object.fromEntries(env), NODE_OPTIONS: '', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed = { stdout: '', stderr: '' }
  child.stderr.setEncoding('utf8').on('data', (text) => {
    printed.stderr += text
  })
  child.stdout.setEncoding('utf8').on('data', (text) => {
    printed.stdout += text
  })
  const ended = once(child, 'close')
  return {
    pid: /** @type {number} */ (child.pid),
    /** Milliseconds since it was started. */
    sinceStart: () => performance.now() - began,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    /**
     * Waits for a line, and returns when it came.
     * @param {RegExp} pattern
     * @returns {Promise<{ ms: number, found: RegExpExecArray }>}
     */
    async line(pattern) {
      for (;;) {
        const found = pattern.exec(printed.stdout)
        if (found) return { ms: performance.now() - began, found }
        const text = await Promise.race([once(child.stdout, 'data'), ended.then(() => null)])
        if (text === null && !pattern.test(printed.stdout))
          throw new Error(`${args.join(' ')} ended: ${printed.stdout}${printed.stderr}`)
      }
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

/** Starts the limit of this mode. @param {string} mode @param {string[]} args @param {number} [core] */
export function startLimit(mode, args, core) {
  return startChild([join(import.meta.dirname, 'limit.mjs'), mode, ...args], { core })
}

/** Milliseconds that a Node process takes from its start to its end. @param {string[]} args */
export function timeOf(args) {
  return startChild(args).end()
}

/** A workspace of so many cases, which is removed at the end. @param {number} size @param {SuiteOptions} options */
export function openWorkspace(size, { parent, say, onEnd }) {
  say(`${cases(size)} are made`)
  const workspace = makeWorkspace({ parent, count: size, seed: size })
  onEnd(workspace.remove)
  return workspace
}

/** @typedef {Awaited<ReturnType<typeof startCasefile>>} Casefile */

/**
 * Starts a service, which is killed at the end; `addressMs` is the time until it printed its address.
 * @param {{ root: string, stateDir: string }} workspace
 * @param {SuiteOptions} options
 * @param {number} [core]
 * @param {{ node: string[], env: Record<string, string> }} [probe] What node and the environment get too.
 */
export async function startCasefile({ root, stateDir }, { program, onEnd }, core, probe) {
  const { node = [], env = {} } = probe ?? {}
  const args = [...node, program, 'serve', '--port', '0', '--root', root, '--state-dir', stateDir]
  const child = startChild(args, { core, env })
  onEnd(() => child.stop('SIGKILL'))
  const { ms: addressMs, found } = await child.line(/^Casefile is listening on (http:\S+)$/m)
  const url = String(found[1])
  const port = Number(new URL(url).port)
  return { ...child, url, port, addressMs, connection: openConnection(port) }
}

/** A service on a new workspace, once it watches everything and is idle. @param {number} size @param {SuiteOptions} options @param {number} [core] */
export async function openIdle(size, options, core) {
  const workspace = openWorkspace(size, options)
  const casefile = await startCasefile(workspace, options, core)
  await untilWatching(casefile)
  await untilIdle(casefile.pid)
  return { ...workspace, ...casefile }
}

/** Returns the milliseconds that the slowest answer took meanwhile. @param {Pick<Casefile, 'connection'>} casefile */
export async function untilWatching({ connection }) {
  for (let slowest = 0; ; ) {
    const began = performance.now()
    const health = await connection.ask('GET', '/health')
    slowest = Math.max(slowest, performance.now() - began)
    if (health.watching === 'degraded') throw new Error(`it cannot watch: ${health.message}`)
    if (health.problems.length > 0) throw new Error(`it has problems: ${JSON.stringify(health)}`)
    if (health.watching === 'ok') return slowest
    await delay(POLL_MS)
  }
}

/** Milliseconds from the start of the process to the end of a list that has all cases. @param {Casefile} casefile @param {number} count */
export async function untilListed({ connection, sinceStart }, count) {
  for (;;) {
    const listed = await connection.ask('GET', '/cases')
    const ms = sinceStart()
    if (listed.length >= count) return ms
  }
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
