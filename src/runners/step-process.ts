import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { type OutputPipe, openOutputPipes } from '../workspace/output/output-pipe.ts'
import { endProcessGroup } from './process-group.ts'

/** How long output may still come in after the process has exited. */
const DRAIN_MS = 250
/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface StepProcessOptions {
  /** The program and its arguments. No shell is involved unless this names one. */
  argv: string[]
  cwd: string
  /** All of the environment: nothing of this process is inherited. */
  env: Record<string, string>
  timeoutMs: number
  signal: AbortSignal
  /** A folder of ours for the names of pipes. Without it the output goes through sockets. */
  scratch?: string
  /** Called once the process runs. If it fails, the process is ended and the failure is rethrown. */
  onStart?(pid: number): Promise<void> | void
  /** Called in the order of arrival, never after the result is there; a failure is treated as above. */
  onOutput(stream: 'stdout' | 'stderr', bytes: Buffer): void
}

export interface StepProcessResult {
  exit: number | null
  signal: string | null
  timedOut: boolean
  aborted: boolean
  durationMs: number
  /** Why nothing was started: `ENOENT` (the program, or `cwd`, does not exist), `EACCES`, `E2BIG`, … */
  startError?: string
}

/**
 * Runs one program in a process group of its own, with nothing on its standard input.
 *
 * A time-out or an abort ends the whole group: TERM, 2 s of grace, KILL. Otherwise what the program
 * left in the background stays alive, and its output is no longer read (`endMarked` finds it).
 * Nothing the program does makes this reject; only `onStart` and `onOutput` can.
 */
export async function runStepProcess(options: StepProcessOptions): Promise<StepProcessResult> {
  const began = performance.now()
  const outcome = { exit: null, signal: null, timedOut: false, aborted: false } as const
  const lasted = () => Math.round(performance.now() - began)
  if (options.signal.aborted) return { ...outcome, aborted: true, durationMs: lasted() }

  const started = await start(options)
  if ('startError' in started) return { ...outcome, ...started, durationMs: lasted() }
  const { child, pid, streams } = started

  const end = endOnDemand(pid, options)
  const failures: unknown[] = []
  const guard = (error: unknown) => {
    failures.push(error)
    end.now('failed')
  }

  let listening = true
  for (const [name, stream] of Object.entries(streams) as ['stdout' | 'stderr', Readable][]) {
    stream.on('data', (bytes: Buffer) => {
      if (!listening || failures.length > 0) return
      try {
        options.onOutput(name, bytes)
      } catch (error) {
        guard(error)
      }
    })
    // A connection reset is how a killed writer looks from here.
    stream.on('error', () => {})
  }
  const closed = Promise.all(Object.values(streams).map(closeOf))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const onStart = Promise.resolve(pid)
    .then((id) => options.onStart?.(id))
    .catch(guard)

  const [exit, signal] = await exited
  const why = await end.settled()
  await drain(closed)
  listening = false
  streams.stdout.destroy()
  streams.stderr.destroy()
  await onStart
  if (failures.length > 0) throw failures[0]
  const durationMs = lasted()
  return { exit, signal, timedOut: why === 'timedOut', aborted: why === 'aborted', durationMs }
}

interface Started {
  child: ChildProcess
  pid: number
  streams: Record<'stdout' | 'stderr', Readable>
}

async function start(options: StepProcessOptions): Promise<Started | { startError: string }> {
  const [program, ...args] = options.argv
  if (program === undefined) throw new TypeError('argv is empty: it must name a program')
  const pipes = options.scratch ? await openOutputPipes(options.scratch) : null
  const [out, err] = pipes ?? []
  try {
    const child = spawn(program, args, {
      cwd: options.cwd,
      env: options.env,
      detached: true,
      stdio: ['ignore', out?.descriptor ?? 'pipe', err?.descriptor ?? 'pipe'],
    })
    const stdout = out?.stream ?? child.stdout
    const stderr = err?.stream ?? child.stderr
    if (child.pid !== undefined && stdout && stderr) {
      return { child, pid: child.pid, streams: { stdout, stderr } }
    }
    const [error] = await once(child, 'error')
    return notStarted(error, pipes)
  } catch (error) {
    return notStarted(error, pipes)
  } finally {
    for (const pipe of pipes ?? []) pipe.closeWriter()
  }
}

function notStarted(error: unknown, pipes: OutputPipe[] | null): { startError: string } {
  for (const pipe of pipes ?? []) pipe.stream.destroy()
  return { startError: startErrorCode(error) }
}

/** Node emits some failures to start and throws others (E2BIG, a NUL byte in an argument). */
function startErrorCode(error: unknown): string {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code !== undefined && (syscall?.startsWith('spawn') || code === 'ERR_INVALID_ARG_VALUE')) {
    return code
  }
  throw error
}

type EndReason = 'timedOut' | 'aborted' | 'failed'

/** Ends the group at the first reason; the later ones change nothing. */
function endOnDemand(pid: number, options: Pick<StepProcessOptions, 'timeoutMs' | 'signal'>) {
  let settled = false
  let reason: EndReason | undefined
  let ending: Promise<void> | undefined
  const now = (why: EndReason) => {
    if (settled || reason !== undefined) return
    reason = why
    ending = endProcessGroup(pid)
  }
  const onAbort = () => now('aborted')
  const timer = setTimeout(() => now('timedOut'), Math.min(options.timeoutMs, LONGEST_TIMER_MS))
  options.signal.addEventListener('abort', onAbort, { once: true })
  if (options.signal.aborted) onAbort()
  return {
    now,
    /** Call it once the process has exited: from then on its id may belong to another one. */
    async settled(): Promise<EndReason | undefined> {
      settled = true
      clearTimeout(timer)
      options.signal.removeEventListener('abort', onAbort)
      await ending
      return reason
    },
  }
}

/** Not `once`, which rejects where a stream fails before it closes. */
function closeOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve))
}

/** The last turn lets output in that is there already when a busy event loop makes the timer late. */
async function drain(closed: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  const late = delay(DRAIN_MS, undefined, { signal: timer.signal }).catch(ignoreAbort)
  await Promise.race([closed, late])
  timer.abort()
  await nextTurn()
}

function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error
}
