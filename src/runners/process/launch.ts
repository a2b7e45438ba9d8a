import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import type { PipeSupply } from '../output/output-pipe.ts'
import { findProgram, whyNotFound } from './find-program.ts'
import type { Guard } from './guard.ts'
import { signalGroup } from './process-group.ts'
import { openStandardPipes, type StandardInput, type StandardStreams } from './standard-pipes.ts'

/** What a launcher needs is a few milliseconds; a mount of a dead file server may take for ever. */
const READY_WITHIN_MS = 30_000
const READY = 'ready\n'

/** What the launcher has to say is for us alone, on descriptor 3. */
const ASIDE = 'exec 4>&2 2>&3'

/**
 * Holds the program until we say so on descriptor 3, which it does not inherit. If we are gone by then
 * there is nothing to read, and it never runs. The folder is entered here: one that was entered
 * before the mounts were made is not below them.
 */
const HOLD = `
cd -P -- "$1" || exit
shift
unset OLDPWD
echo ready >&3
read -r _ <&3 || exit
exec 2>&4 3<&- 4>&-
exec "$@"`

export interface LaunchOptions {
  /** The program and its arguments. No shell interprets them unless this names one. */
  argv: readonly string[]
  cwd: string
  /** All of the environment but PWD: nothing of this process is inherited. */
  env: Record<string, string>
  guard?: Guard
  stdin: StandardInput
  /** A folder of ours that exists, see `openStandardPipes`. */
  scratch?: string
  pipes?: PipeSupply
  /** Ends the wait for the launcher; nothing runs then. */
  signal?: AbortSignal
}

export interface Launched extends StandardStreams {
  /** Of the program too, and of a process group of its own. */
  pid: number
  child: ChildProcess
  /** Lets the program run; until then it is held. To be called once. */
  begin(): void
}

/**
 * Why nothing was started: `ENOENT` (the program, or `cwd`, does not exist), `EACCES`, `E2BIG`, …;
 * or `ELAUNCH: ` and what the launcher said, where the guard's mounts could not be made, or why it was ended.
 */
export interface NotLaunched {
  startError: string
}

/** Starts a process that becomes the program, under the guard, as soon as `begin` is called. */
export async function launch(options: LaunchOptions): Promise<Launched | NotLaunched> {
  const [name, ...args] = options.argv
  if (name === undefined) throw new TypeError('argv is empty: it must name a program')
  const where = { path: options.env.PATH, cwd: options.cwd }
  const program = await findProgram(name, where)
  if (program === null) return { startError: await whyNotFound(name, where) }

  const started = await start(wordsFor([program, ...args], options), options)
  return 'startError' in started ? started : whenReady(started, options.signal)
}

function wordsFor(argv: string[], { cwd, guard }: LaunchOptions): string[] {
  const shell = (script: string, ...args: string[]) => [
    '/bin/sh',
    '-c',
    script,
    'launcher',
    ...args,
  ]
  if (guard?.kind !== 'mount') return shell(`${ASIDE}${HOLD}`, resolve(cwd), ...argv)
  return shell(`${ASIDE}; exec "$@"`, ...guard.wrap(shell(HOLD, resolve(cwd), ...argv)))
}

type Started = Omit<Launched, 'begin'>

async function start(words: string[], options: LaunchOptions): Promise<Started | NotLaunched> {
  const [file = '', ...args] = words
  const { cwd, env } = options
  const pipes = await openStandardPipes(options.stdin, options.scratch, options.pipes)
  try {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: [...pipes.stdio, 'pipe'] })
    const streams = pipes.streamsOf(child)
    if (child.pid !== undefined && streams) return { child, pid: child.pid, ...streams }
    const [error] = await once(child, 'error')
    throw error
  } catch (error) {
    pipes.closeOurs()
    return { startError: startErrorCode(error) }
  } finally {
    pipes.closeTheirs()
  }
}

/** Node emits some failures to start and throws others (E2BIG, a NUL byte in an argument). */
function startErrorCode(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code !== undefined && (syscall?.startsWith('spawn') || code === 'ERR_INVALID_ARG_VALUE')) {
    return code
  }
  throw error
}

async function whenReady(started: Started, signal?: AbortSignal): Promise<Launched | NotLaunched> {
  const { pid, child, stdin, stdout, stderr } = started
  const hold = child.stdio[3] as Duplex
  // Whoever is ended while it is held reads nothing any more.
  hold.on('error', () => {})
  const said = await sayingOf(hold, pid, signal)
  if (said.endsWith(READY)) return { ...started, begin: () => void hold.end('\n') }

  for (const stream of [hold, stdin, stdout, stderr]) stream?.destroy()
  return { startError: `ELAUNCH: ${said.trim().replace(/\s+/g, ' ')}` }
}

/** All up to the word that it is ready, or to its end, which comes in time. */
function sayingOf(hold: Duplex, pid: number, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(said)
    }
    const end = (why: string) => {
      signalGroup(pid, 'SIGKILL')
      said += why
      done()
    }
    const onAbort = () => end('stopped before it was ready')
    const late = `not ready within ${READY_WITHIN_MS / 1000} s`
    const timer = setTimeout(() => end(late), READY_WITHIN_MS)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    hold.once('close', done)
    hold.on('data', (bytes: Buffer) => {
      said += bytes
      if (said.endsWith(READY)) done()
    })
  })
}
