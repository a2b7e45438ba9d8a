import { closeSync, lstatSync, readdirSync, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSameFile, openRegular } from './descriptors.ts'
import { isTempName } from './temp-files.ts'

/** Longer than this the look takes only where the system let another process run meanwhile. */
const SWIFT_MS = 0.05
const LOOKS = 5

/**
 * A last look before a rename over `path`: null when that is no longer the file `seen`, else what
 * stands beside it, held open in `open`: an editor's new version, which may take the name before we do.
 */
export function openRivals(path: string, seen: Stats, open: Set<number>): number[] | null {
  let rivals: number[] = []
  for (let look = 1; ; look++) {
    for (const rival of rivals) {
      open.delete(rival)
      closeSync(rival)
    }
    const names = rivalNames(path)
    const began = performance.now()
    rivals = names.flatMap((name) => openRegular(name, open, HIDDEN)?.fd ?? [])
    if (!isSameFile(lstatSync(path, { throwIfNoEntry: false }), seen)) return null
    if (performance.now() - began < SWIFT_MS || look === LOOKS) return rivals
  }
}

const MAX_RIVALS = 16
/** Not ours to read, or one too many. */
const HIDDEN = ['EACCES', 'EPERM', 'EMFILE', 'ENFILE']

/** The listing also waits for the renames in this folder that the system has begun. */
function rivalNames(path: string): string[] {
  const [folder, name] = [dirname(path), basename(path)]
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== name && !isTempName(entry.name))
    .map((entry) => entry.name)
    .filter((other) => !other.endsWith('.md') || other.includes(name))
    .slice(0, MAX_RIVALS)
    .map((other) => join(folder, other))
}
