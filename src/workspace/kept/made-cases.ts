import { availableParallelism } from 'node:os'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Layout } from '../layout.ts'
import { readTrailMemory } from '../trail-memory.ts'
import { type MadeCase, makeCase, type ToldOf } from './made-case.ts'

/** What a thread is to read, with others: each takes the next ids that none has taken. */
export interface Share {
  root: string
  memoryRoot: string
  /** The folder of what is remembered of trails. */
  trails: string
  ids: readonly string[]
  /** How many were taken. */
  taken: Int32Array<SharedArrayBuffer>
}

/** So many at a time: few enough that none is left with much when all others are done. */
const AT_ONCE = 16
/** With fewer for each it takes longer to start a thread than to do without. */
const WORTH_A_THREAD = 1000
const MAX_THREADS = 4
const SLICE_MS = 8
/** All that a thread makes is garbage soon: with more room for it, it is collected less often. */
const YOUNG = { maxYoungGenerationSizeMb: 64 }

interface MadeCasesNeeds {
  layout: Layout
  toldOf: ToldOf
  trails: string
  /** The source of a thread that calls `makeShare`. */
  thread: URL
  /** For tests. */
  perThread?: number
  log(line: string): void
}

/**
 * Reads thousands of cases, on all cores: this thread and others go through the same ids. Gives those that are plain,
 * in no order; what a thread that fails had taken is not among them.
 */
export async function makeCases(
  ids: readonly string[],
  { layout, toldOf, trails, thread, log, perThread = WORTH_A_THREAD }: MadeCasesNeeds,
  made: (cases: readonly MadeCase[]) => void,
): Promise<void> {
  const { root, memoryRoot } = layout
  const taken = new Int32Array(new SharedArrayBuffer(4))
  const count = Math.min(
    ...[MAX_THREADS, availableParallelism()],
    Math.floor(ids.length / perThread) + 1,
  )
  const share: Share = { root, memoryRoot, trails, ids, taken }
  const others = Array.from({ length: count - 1 }, () => inThread(thread, share, made, log))
  let began = performance.now()
  for (const cases of makeShare(share, layout, toldOf)) {
    made(cases)
    if (others.length === 0 && performance.now() - began < SLICE_MS) continue
    await setImmediate()
    began = performance.now()
  }
  await Promise.all(others)
}

/** The part of one thread, as it comes. */
export function* makeShare(
  { ids, taken, trails }: Share,
  layout: Layout,
  toldOf: ToldOf,
): Iterable<MadeCase[]> {
  const remembered = readTrailMemory(trails)
  for (;;) {
    const from = Atomics.add(taken, 0, AT_ONCE)
    if (from >= ids.length) return
    yield ids
      .slice(from, from + AT_ONCE)
      .map((id) => makeCase(layout, id, toldOf, remembered))
      .filter((made) => made !== null)
  }
}

/** Resolves when the thread has posted its last cases, which an empty post says, or has failed. */
function inThread(
  source: URL,
  share: Share,
  made: (cases: readonly MadeCase[]) => void,
  log: (line: string) => void,
): Promise<void> {
  return new Promise((resolve) => {
    const worker = new Worker(source, { workerData: share, resourceLimits: YOUNG })
    worker.on('message', (cases: MadeCase[]) => {
      if (cases.length > 0) made(cases)
      else resolve()
    })
    worker.on('error', (error) => log(`a thread that reads cases failed: ${error}`))
    worker.on('exit', () => resolve())
  })
}
