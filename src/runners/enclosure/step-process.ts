import type { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { TIME_LIMITS, type TimeLimits } from '../time-limits.ts'
import { launch } from './launch.ts'
import { noSandbox, type Sandbox } from './sandbox.ts'

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface StepProcessOptions {
  /** The program and its arguments. No shell is involved unless this names one. */
  argv: string[]
  cwd: string
  /** See `EnclosedProgram`. */
  within?: string
  /** The whole environment: nothing is inherited from this process. */
  env: Record<string, string>
  timeoutMs: number
  signal: AbortSignal
  /** Without one, the program gets an enclosure for itself alone. */
  sandbox?: Sandbox
  /** Whether its background processes in the group end when it exits. */
  endsGroup?: boolean
  limits?: Pick<TimeLimits, 'terminate' | 'drain'>
  /** Its standard input; empty if not given. */
  input?: string
  /** The program runs once this resolves. If it fails, nothing runs and the error is rethrown. */
  onStart?(pid: number): Promise<void> | void
  /** Called in order of arrival, never after the result is there. An error is treated as above. */
  onOutput(stream: 'stdout' | 'stderr', bytes: Buffer): void
}

export interface StepProcessResult {
  exit: number | null
  signal: string | null
  timedOut: boolean
  aborted: boolean
  durationMs: number
  /** Why nothing was started, see `NotLaunched`. */
  startError?: string
}

/**
 * Runs one program in its own process group. A timeout or an abort ends the whole group: SIGTERM, then SIGKILL. Otherwise background processes stay alive unless `endsGroup` is set, and their output is no longer read
 * (`killRun` ends them later). Nothing the program does makes this reject; only `onStart` and `onOutput` can.
 */
export async function runStepProcess(options: StepProcessOptions): Promise<StepProcessResult> {
  if (options.sandbox) return runIn(options.sandbox, options)
  const sandbox = noSandbox()
  try {
    return await runIn(sandbox, options)
  } finally {
    await sandbox.end()
  }
}

async function runIn(sandbox: Sandbox, options: StepProcessOptions): Promise<StepProcessResult> {
  let began = performance.now()
  const outcome = { exit: null, signal: null, timedOut: false, aborted: false } as const
  const lasted = () => Math.floor(performance.now() - began)
  if (options.signal.aborted) return { ...outcome, aborted: true, durationMs: lasted() }

  const stdin = options.input === undefined ? 'none' : { text: options.input }
  const started = await launch({ ...options, sandbox, stdin })
  if ('startError' in started) {
    if (options.signal.aborted) return { ...outcome, aborted: true, durationMs: lasted() }
    return { ...outcome, ...started, durationMs: lasted() }
  }
  const { pid, stdout, stderr, exited } = started
  const streams = { stdout, stderr }

  const { limits = TIME_LIMITS } = options
  const end = endOnDemand(() => started.end(limits.terminate), options)
  const failures: unknown[] = []
  const fail = (error: unknown) => {
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
        fail(error)
      }
    })
    // a killed writer shows up as a connection reset
    stream.on('error', () => {})
  }
  const closed = Promise.all(Object.values(streams).map(closeOf))
  const onStart = Promise.resolve(pid)
    .then((id) => options.onStart?.(id))
    .then(() => {
      began = performance.now()
      end.startClock()
      started.begin()
    })
    .catch(fail)

  const { exit, signal } = await exited
  const why = await end.settled()
  await drain(closed, limits.drain)
  listening = false
  for (const stream of [stdout, stderr]) stream.destroy()
  await onStart
  if (failures.length > 0) throw failures[0]
  const durationMs = lasted()
  return { exit, signal, timedOut: why === 'timedOut', aborted: why === 'aborted', durationMs }
}

type EndReason = 'timedOut' | 'aborted' | 'failed'

/** Ends the group for the first reason; later ones are ignored. */
function endOnDemand(
  endGroup: () => Promise<void>,
  options: Pick<StepProcessOptions, 'timeoutMs' | 'signal' | 'endsGroup'>,
) {
  let settled = false
  let reason: EndReason | undefined
  let ending: Promise<void> | undefined
  const now = (why: EndReason) => {
    if (settled || reason !== undefined) return
    reason = why
    ending = endGroup()
  }
  const onAbort = () => now('aborted')
  let timer: NodeJS.Timeout | undefined
  options.signal.addEventListener('abort', onAbort, { once: true })
  if (options.signal.aborted) onAbort()
  return {
    now,
    startClock() {
      if (settled) return
      timer = setTimeout(() => now('timedOut'), Math.min(options.timeoutMs, LONGEST_TIMER_MS))
    },
    /** Call it as soon as the process has exited: later its id may belong to another process. */
    async settled(): Promise<EndReason | undefined> {
      settled = true
      clearTimeout(timer)
      options.signal.removeEventListener('abort', onAbort)
      if (options.endsGroup) ending ??= endGroup()
      await ending
      return reason
    },
  }
}

/** Not `once`, which rejects if a stream fails before it closes. */
function closeOf(stream: Readable): Promise<void> {
  return new Promise((resolve) => stream.once('close', resolve))
}

/** The extra turn reads output that had arrived when a busy event loop delayed the timer. */
async function drain(closed: Promise<unknown>, withinMs: number): Promise<void> {
  const timer = new AbortController()
  const late = delay(withinMs, undefined, { signal: timer.signal }).catch(ignoreAbort)
  await Promise.race([closed, late])
  timer.abort()
  await nextTurn()
}

function ignoreAbort(error: unknown): void {
  if ((error as Error).name !== 'AbortError') throw error
}
