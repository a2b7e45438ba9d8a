/** Watches the folders of cases and reports changed cases to the synchronizer. It reads no file. */

import { basename, dirname } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { stampOf } from '../../files/safe-read.ts'
import { type CaseWatches, type CaseWatchesDeps, watchCases } from './case-watches.ts'

/**
 * Watches the folder of all cases and the folders of each case, for as long as the service lives. An event only says
 * which case to read; the synchronizer then compares the files themselves.
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

const ROOT_MISSING: WatchTrouble = {
  message: 'the folder of cases is gone: it was moved, or deleted',
  remedy: 'put it back where it was; it is found again by itself',
}

export function createFolderWatcher(deps: FolderWatcherDeps): FolderWatcher {
  const { cases, onEvent, onRootChange, log } = deps
  const parent = dirname(cases)
  const rootNames = [basename(cases), basename(parent)]
  let caseWatches: CaseWatches | null = null
  let rootWatcher: FSWatcher | null = null
  let isReady = false
  let isClosed = false
  let trouble: WatchTrouble | null = null
  /** Device and inode of the watched folder of cases; null if it is missing. */
  let rootIdentity: string | null = null
  let hasExisted = false
  let generation = 0
  let pendingFollow = Promise.resolve()
  let stopStarting = () => {}

  async function followRoot(): Promise<void> {
    const stamp = await stampOf(cases)
    const identity = stamp ? `${stamp.dev}:${stamp.ino}` : null
    const isMissing = identity === null
    if (isClosed || (identity === rootIdentity && (caseWatches !== null || isMissing))) {
      isReady ||= isMissing // the folder does not exist yet
      return
    }
    rootIdentity = identity
    hasExisted ||= !isMissing
    await stop()
    if (!isMissing) await start()
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
    const watcher = watch(parent, {
      ignored: (path) => path !== parent && path !== cases,
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
    rootIdentity = null
    isReady = false
    onRootChange()
  }

  function onError(error: unknown): void {
    if (trouble !== null) return
    trouble = describeTrouble(error)
    log(`${trouble.message}: ${trouble.remedy}`)
  }

  return {
    followRoot() {
      pendingFollow = pendingFollow.then(followRoot, followRoot) // an earlier error went to its own caller
      return pendingFollow
    },
    watchAgain,
    generation: () => generation,
    isWatching: () => isReady && caseWatches !== null && trouble === null,
    health() {
      const present =
        trouble ?? (hasExisted && isReady && caseWatches === null ? ROOT_MISSING : null)
      return {
        watching: present ? 'degraded' : isReady ? 'ok' : 'starting',
        trouble: present,
      }
    },
    async close() {
      isClosed = true
      stopStarting()
      await Promise.allSettled([pendingFollow])
      await stop()
    },
  }
}

function describeTrouble(error: unknown): WatchTrouble {
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
