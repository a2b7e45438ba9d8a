import { watch } from 'chokidar'

/**
 * Calls `onChange` once it watches, and when an entry of the folder changes, not what is in its folders. Returns a function
 * that stops it.
 */
export function watchEntries(
  folder: string,
  onChange: () => void,
  log: (line: string) => void,
): () => Promise<void> {
  const watcher = watch(folder, {
    ignored: (path) => path !== folder,
    depth: 0,
    followSymlinks: false,
    ignoreInitial: true,
    ignorePermissionErrors: true,
  })
  watcher.on('ready', onChange)
  watcher.on('raw', onChange)
  watcher.on('error', (error) => log(`${folder} is not watched: ${String(error)}`))
  return () => watcher.close()
}
