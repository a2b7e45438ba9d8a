/** Watches the folders of cases and reports changed cases to the synchronizer. It reads no file. */

import { basename, dirname } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { stampOf } from '../../files/safe-read.ts'
import { type CaseWatches, type CaseWatchesDeps, watchCases } from './case-watches.ts'

/**
 * Watches the folder of all cases and the folders of each case, for as long as the service lives. An event only says
 * where to read; what is true, the files say.
 */
export interface FolderWatcher {
  /** Watches the current folder of cases, which may have been replaced since. */
  followRoot(): Promise<void>
  /** Removes all watches and sets them again, after some folders could not be watched. */
  watchAgain(): void
  /** Increases when watches are set or removed: earlier changes may have caused no event. */
  generation(): number
  /** Whether every change below the folder causes an event. */
  isWatching(): boolean
  health(): WatchHealth
  close(): Promise<void>
}

export interface WatchHealth {
  watching: 'ok' | 'starting' | 'degraded'
  trouble: WatchTrouble | null
}

/** Why some folder is not watched. */
export interface WatchTrouble {
  message: string
  remedy: string
}

export interface FolderWatcherDeps extends Pick<CaseWatchesDeps, 'cases' | 'onEvent'> {
  /** Call `followRoot`: the folder may have been replaced, or watches may be lost. */
  onRootChange(): void
  log(line: string): void
}

const GONE: WatchTrouble = {
  message: 'the folder of cases is gone: it was moved, or deleted',
  remedy: 'put it back where it was; it is found again by itself',
}

export function createFolderWatcher(deps: FolderWatcherDeps): FolderWatcher {
  const { cases, onEvent, onRootChange, log } = deps
  const above = dirname(cases)
  const rootNames = [basename(cases), basename(above)]
  let caseWatches: CaseWatches | null = null
  let rootWatcher: FSWatcher | null = null
  let isReady = false
  let isClosed = false
  let trouble: WatchTrouble | null = null
  let identity: string | null = null
  let wasThere = false
  let generation = 0
  let following = Promise.resolve()
  let stopStarting = () => {}

  async function followRoot(): Promise<void> {
    const stamp = await stampOf(cases)
    const now = stamp ? `${stamp.dev}:${stamp.ino}` : null
    if (isClosed || (now === identity && (caseWatches !== null || now === null))) {
      isReady ||= now === null // the folder does not exist yet
      return
    }
    identity = now
    wasThere ||= now !== null
    await stop()
    if (now !== null) await start()
    isReady = true
    generation++
  }

  async function stop(): Promise<void> {
    isReady = false
    trouble = null
    generation++
    caseWatches?.close()
    caseWatches = null
    await rootWatcher?.close()
    rootWatcher = null
  }

  async function start(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      stopStarting = resolve
    })
    caseWatches = watchCases({ cases, onEvent, onFlood: watchAgain, onError })
    await Promise.race([Promise.all([caseWatches.ready, watchRoot()]), stopped])
  }

  /** chokidar watches the parent folder, to see when the folder of cases is created or deleted. */
  function watchRoot(): Promise<void> {
    const watcher = watch(above, {
      ignored: (path) => path !== above && path !== cases,
      depth: 0,
      followSymlinks: false,
      ignoreInitial: true,
      ignorePermissionErrors: true,
    })
    rootWatcher = watcher
    watcher.on('raw', (event, name) => {
      if (String(event) === 'rename' && rootNames.includes(String(name))) onRootChange()
    })
    watcher.on('error', onError)
    return new Promise((resolve) => watcher.once('ready', resolve))
  }

  /** After a flood the kernel may have dropped events silently, for example for a new folder. */
  function watchAgain(): void {
    if (isClosed) return
    identity = null
    isReady = false
    onRootChange()
  }

  function onError(error: unknown): void {
    if (trouble !== null) return
    trouble = troubleOf(error)
    log(`${trouble.message}: ${trouble.remedy}`)
  }

  return {
    followRoot() {
      following = following.then(followRoot, followRoot) // an earlier error went to its own caller
      return following
    },
    watchAgain,
    generation: () => generation,
    isWatching: () => isReady && caseWatches !== null && trouble === null,
    health() {
      const present = trouble ?? (wasThere && isReady && caseWatches === null ? GONE : null)
      return {
        watching: present ? 'degraded' : isReady ? 'ok' : 'starting',
        trouble: present,
      }
    },
    async close() {
      isClosed = true
      stopStarting()
      await Promise.allSettled([following])
      await stop()
    },
  }
}

function troubleOf(error: unknown): WatchTrouble {
  const code = (error as NodeJS.ErrnoException)?.code ?? ''
  if (code === 'ENOSPC') {
    return {
      message: 'the system allows no more file watches',
      remedy:
        'sudo sysctl fs.inotify.max_user_watches=1048576, then restart; until then changes are found by a look at all files every few seconds',
    }
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    return {
      message: 'the system allows no more open files or inotify instances',
      remedy:
        'raise ulimit -n, or sudo sysctl fs.inotify.max_user_instances=1024, then restart; until then changes are found by a look at all files every few seconds',
    }
  }
  return {
    message: `the files cannot be watched: ${error instanceof Error ? error.message : String(error)}`,
    remedy: 'changes are found by a look at all files every few seconds; restart to watch again',
  }
}
