import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type { PipeSupply } from '../output/output-pipe.ts'
import type { Guard } from './guard.ts'
import { launch } from './launch.ts'
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
  /** Made for several processes together. */
  pipes?: PipeSupply
  guard?: Guard
  /** Whether what it left in the background in its group ends when it exits. */
  endsGroup?: boolean
  /** What it reads from its standard input; without it there is nothing to read. */
  input?: string
  /** The program begins once this has resolved. If it fails, nothing runs and the failure is rethrown. */
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
  /** Why nothing was started, see `NotLaunched`. */
  startError?: string
}

/**
 * Runs one program in a process group of its own.
 *
 * A time-out or an abort ends the whole group: TERM, 2 s of grace, KILL. Otherwise what the program
 * left in the background stays alive, unless `endsGroup` is set, and its output is no longer read (`endRun` finds it).
 * Nothing the program does makes this reject; only `onStart` and `onOutput` can.
 */
export async function runStepProcess(options: StepProcessOptions): Promise<StepProcessResult> {
  const began = performance.now()
  const outcome = { exit: null, signal: null, timedOut: false, aborted: false } as const
  const lasted = () => Math.round(performance.now() - began)
  if (options.signal.aborted) return { ...outcome, aborted: true, durationMs: lasted() }

  const stdin = options.input === undefined ? 'none' : { text: options.input }
  const started = await launch({ ...options, stdin })
  if ('startError' in started) {
    if (options.signal.aborted) return { ...outcome, aborted: true, durationMs: lasted() }
    return { ...outcome, ...started, durationMs: lasted() }
  }
  const { child, pid, stdout, stderr } = started
  const streams = { stdout, stderr }

  const end = endOnDemand(pid, options)
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
    // A connection reset is how a killed writer looks from here.
    stream.on('error', () => {})
  }
  const closed = Promise.all(Object.values(streams).map(closeOf))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const onStart = Promise.resolve(pid)
    .then((id) => options.onStart?.(id))
    .then(started.begin)
    .catch(fail)

  const [exit, signal] = await exited
  const why = await end.settled()
  await drain(closed)
  listening = false
  for (const stream of [started.stdin, stdout, stderr]) stream?.destroy()
  await onStart
  if (failures.length > 0) throw failures[0]
  const durationMs = lasted()
  return { exit, signal, timedOut: why === 'timedOut', aborted: why === 'aborted', durationMs }
}

type EndReason = 'timedOut' | 'aborted' | 'failed'

/** Ends the group at the first reason; the later ones change nothing. */
function endOnDemand(
  pid: number,
  options: Pick<StepProcessOptions, 'timeoutMs' | 'signal' | 'endsGroup'>,
) {
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
    /** Call it as soon as the process has exited: from then on its id may belong to another one. */
    async settled(): Promise<EndReason | undefined> {
      settled = true
      clearTimeout(timer)
      options.signal.removeEventListener('abort', onAbort)
      if (options.endsGroup) ending ??= endProcessGroup(pid)
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
