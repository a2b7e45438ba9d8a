import { stampOf } from '../files/safe-read.ts'
import type { Upkeep } from '../workspace/upkeep.ts'
import { createWatcher, type Trouble, type Watcher } from './watcher.ts'

/** Watches the files for as long as the service lives, and looks after the watcher. */
export interface Vigil {
  health(): { watching: 'ok' | 'starting' | 'degraded'; trouble: Trouble | null }
  /** Whether every change below the folder of cases is heard of. */
  isLive(): boolean
  /** Looks at once whether there is another folder to watch. */
  check(): void
  /** Resolves when the watcher is ready for the first time, or is known not to be. */
  ready: Promise<void>
  close(): Promise<void>
}

export interface VigilNeeds {
  cases: string
  /** The cases that are known. */
  ids(): readonly string[]
  upkeep: Upkeep
  /** Called once a second. */
  onTick(): Promise<void>
  log(line: string): void
}

const TICK_MS = 1000
const SWEEP_MS = 30_000
/** Without the watcher, sweeps are all there is. */
const BLIND_SWEEP_MS = 5000
/** A sweep takes at most this part of the time. */
const MAX_SHARE = 0.1
/**
 * So late a tick means that the machine slept or the event loop hung: the kernel may have dropped what
 * it had to tell. By the clock on the wall, as the other one stands still in sleep.
 */
const DRIFT_MS = 1000

const GONE: Trouble = {
  message: 'the folder of cases is gone: it was moved, or deleted',
  remedy: 'put it back where it was; it is found again by itself',
}

export function createVigil({ cases, ids, upkeep, onTick, log }: VigilNeeds): Vigil {
  let watcher: Watcher | null = null
  let isReady = false
  /** Whether all was looked at since the watcher was ready. */
  let isSwept = false
  let closed = false
  let identity: string | null = null
  let wasThere = false
  let lastTick = Date.now()
  let nextSweep = performance.now() + SWEEP_MS
  let busy: Promise<void> | null = null
  let sweeping: Promise<void> | null = null
  let onClosing = () => {}
  const closing = new Promise<void>((resolve) => {
    onClosing = resolve
  })

  async function sweep(): Promise<void> {
    const began = performance.now()
    nextSweep = Number.POSITIVE_INFINITY // what comes to be known meanwhile asks for another
    const watched = isReady ? watcher : null
    try {
      await upkeep.sweep()
      if (watched === watcher) isSwept = true
    } catch (error) {
      log(`the files could not be looked at: ${String(error)}`)
    }
    const took = performance.now() - began
    const pause = health().watching === 'degraded' ? BLIND_SWEEP_MS : SWEEP_MS
    nextSweep = Math.min(nextSweep, performance.now() + Math.max(pause, took / MAX_SHARE))
  }

  function health(): ReturnType<Vigil['health']> {
    const trouble = watcher?.trouble() ?? (wasThere && identity === null ? GONE : null)
    return { watching: trouble ? 'degraded' : isReady ? 'ok' : 'starting', trouble }
  }

  /** Watches the folder that is there now; one that was moved away and made anew is another. */
  async function follow(): Promise<void> {
    const stamp = await stampOf(cases)
    const now = stamp ? `${stamp.dev}:${stamp.ino}` : null
    if (now === identity && (watcher !== null || now === null)) {
      if (now === null) isReady = true // there is nothing to watch yet
      return
    }
    identity = now
    wasThere ||= now !== null
    await watcher?.close()
    watcher = null
    isReady = now === null
    isSwept = false
    if (now !== null && !closed) await start()
    nextSweep = 0
  }

  async function start(): Promise<void> {
    let isTold = false
    const made = createWatcher({
      ...{ cases, ids, hint: upkeep.hint },
      onMoved: run,
      onFlood() {
        identity = null // folders may have come unheard, too
        isSwept = false
        run()
      },
      onTrouble() {
        const trouble = made.trouble()
        if (trouble && !isTold) log(`${trouble.message}: ${trouble.remedy}`)
        isTold = true
        nextSweep = Math.min(nextSweep, performance.now() + BLIND_SWEEP_MS)
      },
    })
    watcher = made
    await Promise.race([made.ready, closing])
    if (watcher === made) isReady = true
  }

  async function tick(): Promise<void> {
    await follow()
    if (performance.now() >= nextSweep) {
      sweeping ??= sweep().finally(() => {
        sweeping = null
      })
    }
    if (!isSwept) await sweeping // another is slow, and must not keep this from what may come
    await onTick()
  }

  function run(): void {
    busy ??= tick()
      .catch((error: unknown) => log(`the watch over the files failed: ${String(error)}`))
      .finally(() => {
        busy = null
      })
  }

  const timer = setInterval(() => {
    const now = Date.now()
    if (Math.abs(now - lastTick) > TICK_MS + DRIFT_MS) nextSweep = 0
    lastTick = now
    run()
  }, TICK_MS)
  run()
  return {
    health,
    isLive: () => watcher !== null && isSwept && watcher.trouble() === null,
    check: run,
    ready: busy ?? Promise.resolve(),
    async close() {
      closed = true
      onClosing()
      clearInterval(timer)
      await busy
      await sweeping
      await watcher?.close()
    },
  }
}
