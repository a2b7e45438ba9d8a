import { lstatSync, type Stats } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { hasCode } from '../disk/errno.ts'
import { readRegular } from '../disk/safe-read.ts'

/** What git is doing to the files of a workspace, as its own files tell (reliability.md §4.2). */
export interface GitActivity {
  /** Whether git changes files, or is between two picks of a rebase: as it was a moment ago, or just now. */
  isBusy(when?: 'lately' | 'now'): Promise<boolean>
  /** Whether git was changing files at this time. */
  touched(ctimeMs: number): boolean
}

const REBASES = ['rebase-merge', 'rebase-apply']
/** A lock that a killed git left must not hold the service for ever. */
const STALE_LOCK_MS = 60_000
/** The repository may be made, or removed, at any time. */
const LOOK_AGAIN_MS = 5000
/** Many readers at once look once; but that git is done is seen at once, as what it changed is to be served then. */
const GOOD_FOR_MS = 10
const KEPT_SPANS = 200
/** The picks of a rebase follow one another; between them the files are git's as well. */
const GAP_MS = 500

interface Span {
  from: number
  to: number
}

/** `folder` lies in the repository; without one, nothing is ever git's. */
export function createGitActivity(folder: string): GitActivity {
  const spans: Span[] = []
  let gitDir: string | null = null
  let lookAgainAt = Number.NEGATIVE_INFINITY
  let lastIndex = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  let looked = Promise.resolve(false)
  let wasBusy = false

  async function gitFolder(): Promise<string | null> {
    if (performance.now() < lookAgainAt) return gitDir
    gitDir = await findGitFolder(folder)
    lookAgainAt = performance.now() + LOOK_AGAIN_MS
    return gitDir
  }

  function note(from: number, to: number, isRebase: boolean): void {
    const last = spans.at(-1)
    if (last && from - last.to <= (isRebase ? GAP_MS : 0)) last.to = Math.max(last.to, to)
    else spans.push({ from, to })
    if (spans.length > KEPT_SPANS) spans.shift()
  }

  async function look(): Promise<boolean> {
    const git = await gitFolder()
    if (git === null) return false
    const lock = statsOf(join(git, 'index.lock'))
    const index = statsOf(join(git, 'index'))
    const now = Date.now()
    const isFresh = index !== null && now - index.ctimeMs < GAP_MS
    const isRebase = (lock !== null || isFresh) && isRebasing(git)
    // git makes the lock, changes the files, and renames the lock to the index
    const identity = index ? `${index.ino} ${index.ctimeMs}` : ''
    if (index && identity !== lastIndex) {
      if (lastIndex !== '') note(bornAt(index), index.ctimeMs, isRebase)
      lastIndex = identity
    }
    if (lock && Math.abs(now - lock.mtimeMs) < STALE_LOCK_MS) {
      note(bornAt(lock), now, isRebase)
      return true
    }
    return isFresh && isRebase
  }

  return {
    isBusy(when = 'lately') {
      const now = performance.now()
      if (when === 'now' || wasBusy || now > lookedAt + GOOD_FOR_MS) {
        lookedAt = now
        looked = look().then((isBusy) => {
          wasBusy = isBusy
          return isBusy
        })
      }
      return looked
    },
    touched: (ctimeMs) => spans.some(({ from, to }) => from <= ctimeMs && ctimeMs <= to),
  }
}

/** Some file systems keep no time of birth; the lock is written at once and at the end. */
function bornAt({ birthtimeMs, mtimeMs }: Stats): number {
  return birthtimeMs > 0 ? birthtimeMs : mtimeMs
}

function isRebasing(git: string): boolean {
  return REBASES.some((name) => statsOf(join(git, name)) !== null)
}

/** At once: every request asks. Null when nothing is there, or the folder does not let us look. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch (error) {
    if (hasCode(error, 'EACCES')) return null
    throw error
  }
}

/** The nearest repository's own folder; that of a worktree or submodule is named in a file. */
async function findGitFolder(folder: string): Promise<string | null> {
  for (let place = folder; ; place = dirname(place)) {
    const dotGit = join(place, '.git')
    const stats = statsOf(dotGit)
    if (stats?.isDirectory()) return dotGit
    if (stats) {
      const named = await linkedFolder(dotGit)
      if (named) return resolve(place, named)
    }
    if (place === dirname(place)) return null
  }
}

async function linkedFolder(path: string): Promise<string | null> {
  const read = await readRegular(path, { maxBytes: 4096 })
  return read.ok ? (/^gitdir: (.+)/.exec(read.bytes.toString())?.[1]?.trim() ?? null) : null
}
