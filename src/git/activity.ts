/** Detects a running checkout, merge or rebase: reads and writes wait for it. */

import { lstatSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf, hasCode } from '../files/errno.ts'
import { findDotGit } from './dot-git.ts'

/** Detects from git's lock files whether git is changing files of the workspace. */
export interface GitActivity {
  /** Whether git changes files or is between two picks of a rebase, as of a moment ago or right now. */
  isBusy(when?: 'lately' | 'now'): Promise<boolean>
  /** Resolves when git is idle, after `ms`, or after `stopWaiting`; false if git still changes files. */
  waitUntilIdle(ms: number): Promise<boolean>
  /** Ends all waiting for git when the service stops. */
  stopWaiting(): void
  /** Whether git was changing files at this time. */
  touched(ctimeMs: number): boolean
  /** Whether git has written its index since: a command that changed a file does so at its end. */
  hasRunSince(ctimeMs: number): boolean
}

const REBASES = ['rebase-merge', 'rebase-apply']
/** An older lock was left by a killed git and is ignored. */
const STALE_LOCK_MS = 60_000
/** The repository may be created or removed at any time. */
const LOOK_AGAIN_MS = 5000
/** Concurrent readers share one check. The end of git's work is noticed at once, as its changes must be served then. */
const GOOD_FOR_MS = 10
const POLL_MS = 25
const KEPT_SPANS = 200
/** Between the picks of a rebase git is considered busy for this time. */
const GAP_MS = 500

interface Span {
  from: number
  to: number
}

/**
 * `folder` is in the repository; without a repository git is never busy. Files that cannot be read count as missing,
 * which is logged once.
 */
export function createGitActivity(folder: string, log: (line: string) => void): GitActivity {
  const spans: Span[] = []
  let gitDir: string | null = null
  /** The `.git` by which it was found; null if that must be looked for again. */
  let dotGit: string | null = null
  let lookAgainAt = Number.NEGATIVE_INFINITY
  let lastIndex = ''
  let lookedAt = Number.NEGATIVE_INFINITY
  let looked = Promise.resolve(false)
  let wasBusy = false
  let hasFailed = false
  let isStopping = false

  function unknown(error: unknown): null {
    if (codeOf(error) === '') throw error
    if (!hasFailed) log(`what git is doing cannot be seen: ${(error as Error).message}`)
    hasFailed = true
    return null
  }

  /** Synchronous, as every request calls it. */
  function statsOf(path: string): Stats | null {
    try {
      return lstatSync(path, { throwIfNoEntry: false }) ?? null
    } catch (error) {
      return hasCode(error, 'ENOTDIR') ? null : unknown(error)
    }
  }

  function isRebasing(git: string): boolean {
    return REBASES.some((name) => statsOf(join(git, name)) !== null)
  }

  /** Names the nearest `.git` folder, or is empty without one; null for a file or a link, which may lead elsewhere later. */
  function nearestDotGit(): string | null {
    for (let top = folder; ; top = dirname(top)) {
      const stats = statsOf(join(top, '.git'))
      if (stats) return stats.isDirectory() ? `${top} ${stats.ino}` : null
      if (top === dirname(top)) return ''
    }
  }

  async function gitFolder(): Promise<string | null> {
    if (performance.now() < lookAgainAt) return gitDir
    const nearest = nearestDotGit()
    if (nearest === null || nearest !== dotGit) {
      gitDir = (await findDotGit(folder, unknown))?.gitDir ?? null
      dotGit = nearest
    }
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
    // git creates the lock, changes files, and renames the lock to the index
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

  function isBusy(when: 'lately' | 'now' = 'lately'): Promise<boolean> {
    const now = performance.now()
    if (when === 'now' || wasBusy || now > lookedAt + GOOD_FOR_MS) {
      lookedAt = now
      looked = look().then((isBusy) => {
        wasBusy = isBusy
        return isBusy
      })
    }
    return looked
  }

  return {
    isBusy,
    async waitUntilIdle(ms) {
      const until = performance.now() + ms
      while (await isBusy('now')) {
        if (performance.now() > until || isStopping) return false
        await delay(POLL_MS)
      }
      return true
    },
    stopWaiting() {
      isStopping = true
    },
    hasRunSince(ctimeMs) {
      const index = gitDir === null ? null : statsOf(join(gitDir, 'index'))
      return index !== null && index.ctimeMs >= ctimeMs
    },
    touched: (ctimeMs) => spans.some(({ from, to }) => from <= ctimeMs && ctimeMs <= to),
  }
}

/** Some file systems have no birth time. The lock is written at its start and end. */
function bornAt({ birthtimeMs, mtimeMs }: Stats): number {
  return birthtimeMs > 0 ? birthtimeMs : mtimeMs
}
