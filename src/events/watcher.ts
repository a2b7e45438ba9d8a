import { basename, dirname } from 'node:path'
import { watch } from 'chokidar'
import { type FolderWatchesNeeds, watchFolders } from '../workspace/folder-watches.ts'

/** Hears of changes below the folder of all cases, and says how well. What it hears is a hint only. */
export interface Watcher {
  /** Resolves when every folder is watched, or cannot be. */
  ready: Promise<void>
  /** Why not every folder is watched; null while all are. */
  trouble(): Trouble | null
  close(): Promise<void>
}

export interface Trouble {
  message: string
  remedy: string
}

/** The folder of cases must be there. */
export interface WatcherNeeds extends Omit<FolderWatchesNeeds, 'onError'> {
  /** That folder, or the one that holds it, may be gone or another one. */
  onMoved(): void
  onTrouble(): void
}

/**
 * chokidar hears of the one folder above, which comes and goes with a branch or by hand; what is below
 * the folder of cases is too much for it (folder-watches.ts).
 */
export function createWatcher({ onMoved, onTrouble, ...needs }: WatcherNeeds): Watcher {
  let trouble: Trouble | null = null
  function onError(error: unknown): void {
    trouble ??= troubleOf(error)
    onTrouble()
  }
  const folders = watchFolders({ ...needs, onError })
  const above = dirname(needs.cases)
  const itself = [needs.cases, above].map((path) => basename(path))
  const watcher = watch(above, {
    ...{ depth: 0, followSymlinks: false, ignoreInitial: true, ignorePermissionErrors: true },
    ignored: (path) => path !== above && path !== needs.cases,
  })
  watcher.on('raw', (event, name) => {
    if (event === 'rename' && itself.includes(String(name))) onMoved()
  })
  watcher.on('error', onError)
  const isReady = new Promise<void>((resolve) => watcher.once('ready', resolve))
  return {
    ready: Promise.all([folders.ready, isReady]).then(() => {}),
    trouble: () => trouble,
    async close() {
      folders.close()
      await watcher.close()
    },
  }
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
