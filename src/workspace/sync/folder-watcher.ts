import { lstatSync, type Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type FSWatcher, watch } from 'chokidar'
import { stampOf } from '../../files/safe-read.ts'
import { UUID } from '../../model/words.ts'
import { isEditorFile } from './editor-files.ts'
import type { EventKind } from './stability.ts'

/**
 * Watches the folder of all cases and the folders of each case, for as long as the service lives. An event only says
 * where to read; what is true, the files say.
 */
export interface FolderWatcher {
  /** Watches the folder that is there now; one that was moved away and made again is another. */
  followRoot(): Promise<void>
  /** Grows when watches are set or given up: changes before that may have made no event. */
  generation(): number
  /** Whether every change below the folder makes an event. */
  isWatching(): boolean
  health(): WatchHealth
  close(): Promise<void>
}

export interface WatchHealth {
  watching: 'ok' | 'starting' | 'degraded'
  trouble: WatchTrouble | null
}

/** Why not every folder is watched. */
export interface WatchTrouble {
  message: string
  remedy: string
}

export interface FolderWatcherDeps {
  /** The real path of the folder of all cases. */
  cases: string
  /** Something happened to this path, relative to `cases`, with forward slashes; an empty one is `cases` itself. */
  onEvent(path: string, kind: EventKind): void
  /** This case has a new folder: what came into it before it was watched made no event. */
  onNewFolder(caseId: string): void
  /** `followRoot` should be called: the folder may be another one, or watches may be lost. */
  onRootChange(): void
  log(line: string): void
}

/** Folders that hold records; artifacts and whatever else a case's folder holds are not watched. */
const INNER = ['sessions', 'proof']
/** The kernel's queue holds a little more by default; one turn of the event loop takes all of it. */
const QUEUE = 16_000

const GONE: WatchTrouble = {
  message: 'the folder of cases is gone: it was moved, or deleted',
  remedy: 'put it back where it was; it is found again by itself',
}

export function createFolderWatcher(deps: FolderWatcherDeps): FolderWatcher {
  const { cases, onEvent, onNewFolder, onRootChange, log } = deps
  /** chokidar watches the folder above too, which tells that `cases` comes and goes. */
  const above = dirname(cases)
  const rootNames = [basename(cases), basename(above)]
  let watcher: FSWatcher | null = null
  /** The folders that it watches, by their paths relative to `cases`, and which folders these were. */
  const folders = new Map<string, string>()
  const renamed = new Set<string>()
  let isReady = false
  let isClosed = false
  let trouble: WatchTrouble | null = null
  let identity: string | null = null
  let wasThere = false
  let burst = 0
  let generation = 0
  let following = Promise.resolve()
  let stopStarting = () => {}

  async function followRoot(): Promise<void> {
    const stamp = await stampOf(cases)
    const now = stamp ? `${stamp.dev}:${stamp.ino}` : null
    if (isClosed || (now === identity && (watcher !== null || now === null))) {
      isReady ||= now === null // there is nothing to watch yet
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
    folders.clear()
    renamed.clear()
    generation++
    await watcher?.close()
    watcher = null
  }

  async function start(): Promise<void> {
    const started = watch(above, {
      ignored: (path, stats) => !isWatched(path) || (stats ? !stats.isDirectory() : false),
      followSymlinks: false,
      ignorePermissionErrors: true,
      atomic: false,
    })
    watcher = started
    started.on('raw', (event, name, details) => {
      const { watchedPath } = details as { watchedPath: string }
      onRaw(String(event) === 'change' ? 'change' : 'rename', name, watchedPath)
    })
    started.on('addDir', (path, stats) => {
      const folder = pathBelow(path)
      if (folder === null || folder === '') return
      folders.set(folder, stats ? identityOf(stats) : '')
      if (isReady) onNewFolder(folder.slice(0, 36))
    })
    started.on('unlinkDir', (path) => folders.delete(pathBelow(path) ?? ''))
    started.on('error', onError)
    await new Promise<void>((resolve) => {
      started.once('ready', resolve)
      stopStarting = resolve
    })
  }

  /** Relative to `cases`; null for the folder above. By length, as chokidar may write the beginning in another way. */
  function pathBelow(path: string): string | null {
    const [name, ...rest] = path.slice(above.length + 1).split(/[/\\]/)
    return name === rootNames[0] ? rest.join('/') : null
  }

  function isWatched(path: string): boolean {
    if (path.length <= above.length) return true
    const [id = '', inner, ...rest] = pathBelow(path)?.split('/') ?? ['none']
    if (id === '') return true
    return UUID.test(id) && (inner === undefined || INNER.includes(inner)) && rest.length === 0
  }

  function onRaw(kind: EventKind, name: string | null, watchedPath: string): void {
    if (burst++ === 0) setImmediate(endBurst)
    const folder = pathBelow(watchedPath)
    if (folder === null) {
      if (kind === 'rename' && rootNames.includes(String(name))) onRootChange()
      return
    }
    const path = [folder, name ?? ''].filter((part) => part !== '').join('/')
    if (kind === 'rename' && (UUID.test(path) || folders.has(path))) {
      if (renamed.size === 0) setImmediate(lookAtRenamed)
      renamed.add(path)
    }
    // what an editor's own files become is told by the name of the file that is saved
    if (name === null || !isEditorFile(name)) onEvent(path, kind)
  }

  function endBurst(): void {
    // the kernel may have dropped more, silently, such as a folder that is new
    if (burst >= QUEUE) restart()
    burst = 0
  }

  function lookAtRenamed(): void {
    let wasReplaced = false
    for (const path of renamed) {
      const stats = statsOf(`${cases}/${path}`)
      if (!stats) continue
      // a link or a file is no case: its name is a problem of the workspace
      if (!stats.isDirectory()) onEvent('', 'rename')
      else if (folders.has(path) && folders.get(path) !== identityOf(stats)) wasReplaced = true
    }
    renamed.clear()
    // chokidar goes on watching a folder that was moved away where another one has its name
    if (wasReplaced) restart()
  }

  function restart(): void {
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
      following = following.then(followRoot)
      return following
    },
    generation: () => generation,
    isWatching: () => isReady && watcher !== null && trouble === null,
    health() {
      const present = trouble ?? (wasThere && isReady && watcher === null ? GONE : null)
      return {
        watching: present ? 'degraded' : isReady ? 'ok' : 'starting',
        trouble: present,
      }
    },
    async close() {
      isClosed = true
      stopStarting()
      await following
      await stop()
    },
  }
}

/** What stands at a path, a link not followed; undefined where nothing does, or that may not be known. */
function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** An inode may be given to a new folder at once, but with another time of birth. */
function identityOf({ ino, birthtimeMs }: { ino: number; birthtimeMs: number }): string {
  return `${ino}:${birthtimeMs}`
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
