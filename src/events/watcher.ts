import { basename, join, relative, sep } from 'node:path'
import { watch } from 'chokidar'
import { UUID } from '../model/words.ts'
import { isEditorFile } from '../workspace/editor-files.ts'
import type { HintKind } from '../workspace/settling.ts'

/** Hears of changes below the folder of all cases, and says how well. What it hears is a hint only. */
export interface Watcher {
  /** Resolves when every folder is watched, or cannot be. */
  ready: Promise<void>
  /** Why not every folder is watched; null while all are. */
  trouble(): Trouble | null
  /** How many changes were heard of since this was asked last. */
  heard(): number
  close(): Promise<void>
}

export interface Trouble {
  message: string
  remedy: string
}

export interface WatcherNeeds {
  /** Its real path; it must be there. */
  cases: string
  /** Something happened to this path, relative to `cases`, with forward slashes. */
  hint(path: string, kind: HintKind): void
  /** A folder came, whose first changes may have been missed. */
  onFolder(path: string): void
  onTrouble(): void
}

/** Folders that hold records; artifacts and whatever else a case's folder holds are not watched. */
const WATCHED = ['sessions', 'proof']

/**
 * Watches folders, never single files: of 5,000 cases that takes 10,000 watches in place of 35,000.
 * The `raw` event is the one that tells every change, two within 20 ms included; for a new folder
 * there is only `addDir` (architecture.md).
 */
export function createWatcher({ cases, hint, onFolder, onTrouble }: WatcherNeeds): Watcher {
  let trouble: Trouble | null = null
  let heard = 0
  const place = (path: string) => relative(cases, path).split(sep).join('/')
  const watcher = watch(cases, {
    followSymlinks: false,
    ignoreInitial: true,
    ignorePermissionErrors: true,
    ignored: (path, stats) =>
      !isWatched(place(path)) || (stats !== undefined && !stats.isDirectory()),
  })
  watcher.on('raw', (event, name, details) => {
    heard++
    const { watchedPath } = details as { watchedPath?: string }
    if (watchedPath === undefined || !name) return
    const path = place(join(watchedPath, String(name)))
    // what these become is told by its own name
    if (!isEditorFile(basename(path))) hint(path, event === 'change' ? 'change' : 'rename')
  })
  watcher.on('addDir', (path) => onFolder(place(path)))
  watcher.on('error', (error) => {
    if (trouble === null) trouble = troubleOf(error)
    onTrouble()
  })
  return {
    ready: new Promise((resolve) => watcher.once('ready', resolve)),
    trouble: () => trouble,
    heard() {
      const count = heard
      heard = 0
      return count
    },
    close: () => watcher.close(),
  }
}

function isWatched(path: string): boolean {
  const [id = '', folder, ...deeper] = path.split('/')
  if (path === '') return true
  return UUID.test(id) && deeper.length === 0 && (folder === undefined || WATCHED.includes(folder))
}

function troubleOf(error: unknown): Trouble {
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
