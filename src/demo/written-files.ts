import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/**
 * Returns a function that lists the files written in a folder since its last call, as sorted relative paths.
 * Ignores git's own files.
 */
export async function createWrittenFiles(folder: string): Promise<() => Promise<string[]>> {
  let known = await stampsOf(folder)
  return async () => {
    const present = await stampsOf(folder)
    const written = [...present].filter(([path, stamp]) => known.get(path) !== stamp)
    known = present
    return written.map(([path]) => relative(folder, path)).sort()
  }
}

async function stampsOf(folder: string, stamps = new Map<string, string>()) {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (entry.name !== '.git') await stampsOf(path, stamps)
    } else {
      const { ino, size, mtimeMs } = await lstat(path)
      stamps.set(path, `${ino} ${size} ${mtimeMs}`)
    }
  }
  return stamps
}
