import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { Duplex, Readable } from 'node:stream'
import { firstChild } from '../../platform/processes.ts'
import {
  openStandardPipes,
  type StandardInput,
  type StandardStreams,
} from '../output/standard-pipes.ts'
import { findProgram, whyNotFound } from './find-program.ts'
import { signalGroup } from './process-group.ts'
import type { Sandbox, SandboxCommand } from './sandbox.ts'

/** The launcher needs a few milliseconds, but a mount on a dead file server may hang forever. */
const READY_WITHIN_MS = 30_000
const READY = 'ready\n'

/**
 * The start barrier: says on standard error, which only this service reads until then, that it is ready. Then waits for
 * a line on descriptor 3 before it executes the program with descriptor 4 as standard error; the program inherits neither
 * of the two. If this service is gone, the read ends and the program never runs. The script enters the folder itself,
 * because one entered before the mounts were made would not be below them.
 */
const START_BARRIER = `
cd -P -- "$1" || exit
shift
unset OLDPWD
echo ready >&2
read -r _ <&3 || exit
exec 2>&4 3<&- 4>&-
exec "$@"`

export interface LaunchOptions {
  /** The program and its arguments. No shell is involved unless this names one. */
  argv: readonly string[]
  cwd: string
  /** The whole environment except PWD: nothing is inherited from this process. */
  env: Record<string, string>
  sandbox?: Sandbox
  stdin: StandardInput
  /** An existing folder of the service, see `openStandardPipes`. */
  scratch?: string
  /** Aborts the wait for the launcher; then nothing runs. */
  signal?: AbortSignal
}

export interface Launched extends StandardStreams {
  /** The process id of the launcher, which the program keeps; also its process group. `child` may be its parent. */
  pid: number
  child: ChildProcess
  /** Releases the start barrier. Call it once. */
  begin(): void
}

/**
 * Why nothing was started: `ENOENT` (the program or `cwd` does not exist), `EACCES`, `E2BIG`, …; or `ELAUNCH: `
 * with the launcher's message if the sandbox could not be set up or the wait was aborted.
 */
export interface NotLaunched {
  startError: string
}

/** Starts a process in the sandbox that waits until `begin` is called, and then becomes the program. */
export async function launch(options: LaunchOptions): Promise<Launched | NotLaunched> {
  const [name, ...args] = options.argv
  if (name === undefined) throw new TypeError('argv is empty: it must name a program')
  const where = { path: options.env.PATH, cwd: options.cwd }
  const program = await findProgram(name, where)
  if (program === null) return { startError: await whyNotFound(name, where) }

  const { sandbox, signal } = options
  const before = sandbox?.before?.(resolve(options.cwd)) ?? []
  const isInside = sandbox?.kind === 'mount' && sandbox.ownProcesses
  for (let tries = 1; ; tries++) {
    const started = await start([...before, program, ...args], options)
    if ('startError' in started) return started
    const ready = await waitUntilReady(started, isInside ? firstChild : (pid) => pid, signal)
    const isGone = 'startError' in ready && MOUNT_GONE.test(ready.startError)
    if (!isGone || tries === TRIES) return ready
  }
}

/** Something was unmounted on this machine after the mounts were listed, and before they were made read-only. */
const MOUNT_GONE = /^ELAUNCH: .*mount point does not exist/
const TRIES = 3

function commandFor(
  argv: string[],
  { cwd, sandbox }: LaunchOptions,
): Promise<SandboxCommand> | SandboxCommand {
  const folder = resolve(cwd)
  if (sandbox?.kind === 'mount') return sandbox.wrap(START_BARRIER, [folder], argv)
  return { words: ['/bin/sh', '-c', START_BARRIER, 'launcher', folder, ...argv], table: null }
}

type Started = Omit<Launched, 'begin'>

async function start(argv: string[], options: LaunchOptions): Promise<Started | NotLaunched> {
  const { cwd, env } = options
  const [command, opened] = await Promise.allSettled([
    commandFor(argv, options),
    openStandardPipes(options.stdin, options.scratch),
  ])
  if (opened.status === 'rejected') throw opened.reason
  const pipes = opened.value
  const table = command.status === 'fulfilled' ? command.value.table : null
  try {
    if (command.status === 'rejected') throw command.reason
    const [file = '', ...args] = command.value.words
    const [input, output, errors] = pipes.stdio
    const child: ChildProcess = spawn(file, args, {
      cwd,
      env,
      detached: true,
      stdio: [input, output, 'pipe', 'pipe', errors, ...(table === null ? [] : [table.descriptor])],
    })
    child.on('error', () => {}) // comes late if no descriptors are left, and nothing else may listen by then
    const streams = pipes.streamsOf(child)
    if (child.pid !== undefined && streams) return { child, pid: child.pid, ...streams }
    const [error] = await once(child, 'error')
    throw error
  } catch (error) {
    pipes.closeOurs()
    return { startError: startErrorCode(error) }
  } finally {
    pipes.closeTheirs()
    table?.close()
  }
}

/** Node emits some start failures and throws others (E2BIG, a NUL byte in an argument). */
function startErrorCode(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code !== undefined && (syscall?.startsWith('spawn') || code === 'ERR_INVALID_ARG_VALUE')) {
    return code
  }
  throw error
}

/** `launcherOf` gives the process that becomes the program, by that which was started. */
async function waitUntilReady(
  started: Started,
  launcherOf: (pid: number) => number | null,
  signal?: AbortSignal,
): Promise<Launched | NotLaunched> {
  const { child, stdin, stdout, stderr } = started
  const messages = child.stdio[2] as Readable
  const barrier = child.stdio[3] as Duplex
  // a process killed while it waits closes both
  for (const stream of [messages, barrier]) stream.on('error', () => {})
  const said = await readMessages(messages, () => launcherOf(started.pid) ?? started.pid, signal)
  const pid = said.endsWith(READY) ? launcherOf(started.pid) : null
  if (pid !== null) {
    messages.destroy()
    return { ...started, pid, begin: () => void barrier.end('\n') }
  }
  for (const stream of [messages, barrier, stdin, stdout, stderr]) stream?.destroy()
  return { startError: `ELAUNCH: ${said.trim().replace(/\s+/g, ' ')}` }
}

/** The launcher's output up to its ready message, or until it ends or times out. */
function readMessages(
  messages: Readable,
  groupOf: () => number,
  signal?: AbortSignal,
): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
      resolve(said)
    }
    const end = (why: string) => {
      signalGroup(groupOf(), 'SIGKILL')
      said += why
      done()
    }
    const onAbort = () => end('stopped before it was ready')
    const late = `not ready within ${READY_WITHIN_MS / 1000} s`
    const timer = setTimeout(() => end(late), READY_WITHIN_MS)
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    messages.once('close', done)
    messages.on('data', (bytes: Buffer) => {
      said += bytes
      if (said.endsWith(READY)) done()
    })
  })
}
