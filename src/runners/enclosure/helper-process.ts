/** The helper of an enclosure: a small shell outside of it, which starts the programs inside. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Duplex, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { childrenOf, processStart, processStat, signalProcess } from '../../platform/processes.ts'
import type { InputFile } from '../output/input-file.ts'
import { signalGroup } from '../process/process-group.ts'
import { readyCommand, startCommand } from './helper-script.ts'

/** The ids of the helpers of this service and their watchers: they belong to no run, and end with their enclosure. */
export const helperIds: ReadonlySet<number> = new Set()

const END_WITHIN_MS = 3_000
const POLL_MS = 2

export interface HelperOptions {
  words: readonly string[]
  /** The folder of the pipes. */
  cwd: string
  env: Record<string, string>
  /** The mounts; null without any. */
  table: InputFile | null
  hasSetsid: boolean
  /** Whether its programs are in a process namespace, which ends with the first process in it. */
  ownProcesses: boolean
  withinMs: number
  signal?: AbortSignal | undefined
}

export interface ProgramExit {
  exit: number | null
  signal: string | null
}

/** A program that waits for `go`. */
export interface HeldProgram {
  pid: number
  /** What ended it, also before `go`. */
  exited: Promise<ProgramExit>
  go(): void
}

export interface Helper {
  pid: number
  isAlive(): boolean
  /** Runs start scripts, one at a time. Fails with the helper's words if that never begins. */
  hold(script: string, signal: AbortSignal): Promise<HeldProgram | { failure: string }>
  /** Its program then counts as killed. */
  kill(): void
  /** Ends the helper, and everything in its process namespace, and waits until all are gone. */
  end(): Promise<void>
}

/** The program of the moment. */
interface Present {
  pid: number | null
  /** What the helper says besides its reports. */
  words: string[]
  /** Its id, if it says that itself. */
  begun: Promise<number | null>
  ended: Promise<ProgramExit>
  begin(pid: number | null): void
  end(exit: ProgramExit): void
}

function createPresent(): Present {
  const present = { pid: null, words: [] } as unknown as Present
  present.begun = new Promise((resolve) => {
    present.begin = resolve
  })
  present.ended = new Promise((resolve) => {
    present.end = resolve
  })
  return present
}

/** Rejects with the error of the system if no process can be made. `failure` is what it said before it was ready. */
export async function openHelper(options: HelperOptions): Promise<Helper | { failure: string }> {
  const { words, cwd, env, table, hasSetsid, ownProcesses } = options
  const [file = '', ...args] = words
  const child = spawn(file, args, {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe', 'ignore', table?.descriptor ?? 'ignore'],
  })
  child.on('error', () => {}) // none may end this service
  if (child.pid === undefined) throw (await once(child, 'error'))[0]
  const { pid } = child
  const life = child.stdin as Writable
  const control = child.stdio[3] as Duplex
  for (const stream of [life, control, child.stderr!]) stream.on('error', () => {})
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const silent = new Promise<void>((resolve) => child.stderr!.once('close', resolve))

  control.write(readyCommand(hasSetsid))
  /** See the watcher in `helper-script.ts`. */
  const note = (line: string) => ownProcesses || life.write(`${line}\n`)
  const endLife = () => life.end(ownProcesses ? '' : 'done\n')
  note(env.CASEFILE_RUN ?? '-')

  let said = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    said += bytes
  })
  let present: Present | null = null
  let isBash = false
  let onReady = () => {}
  let onWatching = () => {}
  const ready = Promise.all([
    new Promise<void>((resolve) => {
      onReady = resolve
    }),
    new Promise<void>((resolve) => {
      onWatching = resolve
    }),
  ])
  readLines(control, (line) => {
    const [word, rest = ''] = line.split(' ')
    if (word === 'begun') present?.begin(Number(rest) || null)
    else if (word === 'exit') present?.end(exitOf(Number(rest), present.words, isBash))
    else if (word === 'watching') onWatching()
    else if (word === 'ready') {
      isBash = rest === 'bash'
      onReady()
    } else present?.words.push(line)
  })

  const kill = () => {
    if (isRunning(child)) child.ref()
    child.kill('SIGKILL')
  }
  const end = async () => {
    endLife()
    control.destroy()
    const isGone = exited.then(() => true)
    const isLate = delay(END_WITHIN_MS, false, { ref: false })
    if (isRunning(child)) child.ref()
    if (!(await Promise.race([isGone, isLate]))) kill()
    if (ownProcesses) await isNamespaceOver()
  }

  let first: number | null = null
  async function isNamespaceOver(): Promise<boolean> {
    const deadline = performance.now() + END_WITHIN_MS
    while (isRunningAt(first) && performance.now() < deadline) await delay(POLL_MS)
    return !isRunningAt(first)
  }
  let ids: number[] = []
  const failed = Promise.all([exited, silent]).then(() => said)
  const failure = await whyNotReady(options, ready, failed)
  if (failure !== null) {
    kill()
    await end()
    return { failure }
  }
  try {
    first = childrenOf(pid)[0] ?? null
    ids = [pid, ...(first === null ? [] : [first, ...childrenOf(first)])]
  } catch (error) {
    await end() // too many files are open
    throw error
  }
  const known = helperIds as Set<number>
  for (const id of ids) known.add(id)
  void exited.then(() => {
    for (const id of ids) known.delete(id)
    if (present?.pid) signalGroup(present.pid, 'SIGKILL')
    present?.end({ exit: null, signal: 'SIGKILL' })
    endLife()
  })
  // it must not keep this service from ending, which ends it
  child.unref()
  const handles = [life, control, child.stderr] as unknown as { ref(): void; unref(): void }[]
  for (const handle of handles) handle.unref()

  /** Until the program before has ended. */
  let turn: Promise<void> = Promise.resolve()
  const programs = () => childrenOf(pid, first)

  async function holdNext(script: string, signal: AbortSignal, onEnd: () => void) {
    if (!isRunning(child) || signal.aborted) {
      onEnd()
      return { failure: 'its helper has ended' }
    }
    const own = createPresent()
    present = own
    handles[1]!.ref()
    control.write(startCommand(script))
    void own.ended.then(() => {
      present = null
      handles[1]!.unref()
      onEnd()
    })
    const failed = own.ended.then(async () => {
      const words = own.words.join(' ')
      // all that a shell says where the namespace has ended, and where there are too many processes
      const isOver = ownProcesses && /fork/i.test(words) && (await isNamespaceOver())
      return { failure: isOver ? ALL_KILLED : words }
    })
    const begun = await Promise.race([own.begun, failed])
    if (begun !== null && typeof begun === 'object') return begun
    // the helper does nothing with such a line if the script has ended
    const say = (word: ':' | '') => void control.write(`${word}\n`)
    try {
      own.pid = begun ?? programs()[0] ?? null
    } finally {
      if (own.pid === null || signal.aborted) say('')
    }
    if (own.pid === null) return { failure: 'it was killed before it began' }
    note(`${own.pid}:${encodeURIComponent(processStart(own.pid) ?? '')}`)
    return { pid: own.pid, exited: own.ended, go: () => say(':') }
  }

  return {
    pid,
    isAlive: () => isRunning(child),
    kill,
    async hold(script, signal) {
      let stop = () => {}
      const stopped = new Promise<{ failure: string }>((resolve) => {
        stop = () => resolve({ failure: 'stopped before it was ready' })
      })
      signal.addEventListener('abort', stop, { once: true })
      if (signal.aborted) stop()
      try {
        const before = turn
        let onEnd = () => {}
        turn = new Promise<void>((resolve) => {
          onEnd = resolve
        })
        const held = before.then(() => holdNext(script, signal, onEnd))
        held.catch(() => {}) // nothing waits for it once it is stopped
        return await Promise.race([held, stopped])
      } finally {
        signal.removeEventListener('abort', stop)
        if (signal.aborted) for (const id of programs()) signalProcess(id, 'SIGKILL')
      }
    },
    end,
  }
}

const ALL_KILLED = 'an earlier step killed all processes of the run, as kill -9 -1 does'

/** Null once it is ready. */
async function whyNotReady(
  { withinMs, signal }: HelperOptions,
  ready: Promise<unknown>,
  failed: Promise<string>,
): Promise<string | null> {
  const limit = AbortSignal.timeout(withinMs)
  const stop = AbortSignal.any([limit, ...(signal ? [signal] : [])])
  const stopped = new Promise<string>((resolve) => {
    const why = () => resolve(limit.aborted ? LATE : STOPPED)
    stop.addEventListener('abort', why, { once: true })
    if (stop.aborted) why()
  })
  const words = failed.then((said) => said.trim().replace(/\s+/g, ' ') || 'it ended')
  return Promise.race([ready.then(() => null), words, stopped])
}

export const STOPPED = 'the check was stopped'
export const LATE = 'it was not ready in time'

function readLines(stream: Duplex, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    for (const line of lines) onLine(line)
  })
}

/**
 * A shell reports 128 and its number for a program that a signal ended, and an exit with that code alike. It says something
 * only of the signal; dash not of SIGINT and SIGPIPE, bash not of SIGTERM either.
 */
function exitOf(code: number, words: readonly string[], isBash: boolean): ProgramExit {
  const number = code - 128
  const found = Object.entries(constants.signals).find(([, each]) => each === number)?.[0]
  const isSignal = words.length > 0 || (isBash && found === 'SIGTERM')
  return found && isSignal ? { exit: null, signal: found } : { exit: code, signal: null }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null
}

/** A zombie has ended, and so has all of its process namespace. */
function isRunningAt(pid: number | null): boolean {
  const state = pid === null ? undefined : processStat(pid)?.state
  return state !== undefined && state !== 'Z' && state !== 'X'
}
