/** Watches the memory root with chokidar and reports changed cases to the refresher. It reads no file. */

import { readdirSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { FSWatcher } from 'chokidar'
import { hasCode } from '../../files/errno.ts'
import { isOpenFolder } from '../../files/folder-names.ts'
import { stampOf } from '../../files/safe-read.ts'
import { forEachLimited } from '../../files/yielding.ts'
import { UUID } from '../../model/name-patterns.ts'
import type { Layout } from '../layout.ts'
import { isEditorFile } from './editor-files.ts'

/**
 * Watches the memory root, the folder of all cases, and of each case its folder, `sessions` and `proof`. An event only
 * says which case to read; the refresher then compares the files themselves.
 */
export interface FolderWatcher {
  /** Watches the current folders, which may have been replaced since. */
  followRoot(): Promise<void>
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

export interface FolderWatcherDeps {
  /** Real paths. */
  layout: Pick<Layout, 'memoryRoot' | 'cases'>
  /** Called for a change at this path, relative to `cases`; an empty path is `cases` itself. */
  onEvent(path: string): void
  /** Call `followRoot`: the root may have been replaced, or events may be lost. */
  onRootChange(): void
  log(line: string): void
}

const ROOT_MISSING: WatchTrouble = {
  message: 'the folder of cases is gone: it was moved, or deleted',
  remedy: 'put it back where it was; it is found again by itself',
}
/** The kernel's default queue is a little larger; one event-loop turn reads all of it. */
const QUEUE = 16_000

export function createFolderWatcher(deps: FolderWatcherDeps): FolderWatcher {
  const { layout, onEvent, onRootChange, log } = deps
  const { memoryRoot, cases } = layout
  let watches: Watches | null = null
  let isReady = false
  let isClosed = false
  let trouble: WatchTrouble | null = null
  /** Devices, inodes and permission of the watched root; null if it is missing, undefined if it must be watched again. */
  let rootIdentity: string | null | undefined
  let hasExisted = false
  let generation = 0
  let pendingFollow = Promise.resolve()
  let stopStarting = () => {}

  async function followRoot(): Promise<void> {
    const stamps = [await stampOf(memoryRoot), await stampOf(cases)]
    const isMissing = stamps.includes(null)
    const folders = stamps.map((each) => `${each?.dev}:${each?.ino}`)
    // a folder without permission cannot be watched
    const identity = isMissing ? null : [...folders, await isOpenFolder(cases)].join()
    if (isClosed || identity === rootIdentity) return
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
    const before = watches
    watches = null
    await before?.close()
  }

  async function start(): Promise<void> {
    const stopped = new Promise<void>((resolve) => {
      stopStarting = resolve
    })
    watches = watchFolders({
      memoryRoot,
      cases,
      onEvent,
      onRootChange,
      onFlood: watchAgain,
      onError,
    })
    await Promise.race([watches.ready, stopped])
  }

  /** After a flood the kernel may have dropped events silently, for example for a new folder. */
  function watchAgain(): void {
    if (isClosed) return
    rootIdentity = undefined
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
    generation: () => generation,
    isWatching: () => isReady && watches !== null && trouble === null,
    health() {
      const present = trouble ?? (hasExisted && isReady && watches === null ? ROOT_MISSING : null)
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

interface Watches {
  /** Resolves when every folder is watched or cannot be. */
  ready: Promise<void>
  close(): Promise<void>
}

interface WatchesDeps extends Pick<FolderWatcherDeps, 'onEvent' | 'onRootChange'> {
  memoryRoot: string
  cases: string
  /** Called when so many events arrived that the kernel may have dropped some. */
  onFlood(): void
  onError(error: unknown): void
}

/**
 * chokidar without its listings. It lists a folder at each of its events, which takes seconds in a folder of 10,000
 * cases and, when two listings overlap, gives up folders that are new (docs/decisions.md).
 */
class ChokidarFolders extends FSWatcher {
  /** chokidar asks here before it lists a folder. */
  override _throttle(...[action, path, ms]: Parameters<FSWatcher['_throttle']>) {
    return action === 'readdir' ? false : super._throttle(action, path, ms)
  }

  /** chokidar keeps paths that it resolved, each in dozens of pieces: half a KB for a folder. This one is the same. */
  override _getWatchHelpers(folder: string) {
    return Object.assign(super._getWatchHelpers(folder), { fullWatchPath: folder })
  }

  override _getWatchedDir(folder: string) {
    const known = this._watched.get(folder)
    if (known) return known
    const entry = super._getWatchedDir(folder)
    entry.path.charCodeAt(0) // joins the pieces
    return entry
  }

  /** Resolves when a folder is watched, or cannot be, for example as it is gone. */
  async watch(folder: string): Promise<void> {
    await this._nodeFsHandler._addToNodeFs(folder, true, undefined, 0)
  }

  /** Forgets the folder that was at this path, as another may take its place. */
  end(folder: string): void {
    this._closeFile(folder)
    this._watched.delete(folder)
    this._watched.get(dirname(folder))?.items.delete(basename(folder))
  }
}

function watchFolders(deps: WatchesDeps): Watches {
  const { memoryRoot, cases, onEvent, onRootChange, onFlood, onError } = deps
  /** Cases with a folder that may have come, gone, or been replaced. */
  const renamed = new Set<string>()
  let following = Promise.resolve()
  let isClosed = false
  let burst = 0

  const chokidar = new ChokidarFolders({
    ignored: (_, stats) => stats?.isDirectory() === false,
    atomic: false,
    followSymlinks: false,
    ignoreInitial: true,
    ignorePermissionErrors: true,
  })
  chokidar.on('raw', (_, name, at) => onRaw(name, (at as { watchedPath: string }).watchedPath))
  chokidar.on('error', onError)

  function onRaw(name: string | null, folder: string): void {
    if (burst++ === 0) setImmediate(endBurst)
    if (folder === memoryRoot) {
      if (name === basename(cases) || name === basename(memoryRoot)) onRootChange()
      return
    }
    const path = [folder.slice(cases.length + 1), name].filter(Boolean).join('/')
    const id = path.replace(/\/(?:sessions|proof)$/, '')
    if (UUID.test(id)) {
      // deferred, so that events do not pile up during system calls
      if (renamed.size === 0) {
        setImmediate(() => {
          following = following.then(followRenamed)
        })
      }
      renamed.add(id)
    }
    // temporary files of editors are renamed to the saved file, which has its own event
    if (name === null || !isEditorFile(name)) onEvent(path)
  }

  function endBurst(): void {
    if (burst >= QUEUE && !isClosed) onFlood()
    burst = 0
  }

  async function followRenamed(): Promise<void> {
    const ids = [...renamed]
    renamed.clear()
    await forEachLimited(ids, async (id) => {
      const folder = `${cases}/${id}`
      for (const each of [folder, ...innerFolders(folder)]) chokidar.end(each)
      await watchCase(id)
      onEvent(id) // what happened in it before is not reported
    })
  }

  /** A folder is watched before those inside, and all before they are read, so that nothing is missed. */
  async function watchCase(id: string): Promise<void> {
    if (isClosed) return
    const folder = `${cases}/${id}`
    await chokidar.watch(folder)
    await Promise.all(innerFolders(folder).map((inner) => chokidar.watch(inner)))
  }

  async function watchAll(): Promise<void> {
    await chokidar.watch(memoryRoot)
    await chokidar.watch(cases)
    const ids = namesIn(cases).filter((name) => UUID.test(name))
    await forEachLimited(ids, watchCase)
  }

  const ready = watchAll()
  return {
    ready,
    async close() {
      isClosed = true
      await Promise.allSettled([ready, following])
      await chokidar.close()
    },
  }
}

/** Other folders of a case are not watched. */
function innerFolders(folder: string): string[] {
  return [`${folder}/sessions`, `${folder}/proof`]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
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
