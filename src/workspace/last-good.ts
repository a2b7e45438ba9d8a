import { type Stats, statSync } from 'node:fs'
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { decodeUtf8, readRegular } from './disk/safe-read.ts'

const SAFE_KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/
const MAX_BYTES = 16 * 1024 * 1024
/** `utimes` cuts to microseconds. */
const MTIME_TOLERANCE_MS = 0.01

export interface LastGood {
  /** Queues a copy; of several queued for one key only the newest is written. `mtimeMs` is the file's own. */
  remember(key: string, text: string, mtimeMs: number): void
  recall(key: string): Promise<string | null>
  /** Whether the copy is of the file as it was at this mtime, so that a start need not copy it again. */
  isFresh(key: string, mtimeMs: number): Promise<boolean>
  /** Drops a key, or every key below a folder. */
  forget(prefix: string): Promise<void>
  /** Resolves when all that was queued so far is done. */
  idle(): Promise<void>
}

interface Copy {
  text: string
  mtimeMs: number
}

/**
 * Copies of record files as they last parsed, so that one a person broke is still served after a
 * restart. A copy can be lost without harm, so writes run in the background, one at a time, without
 * fsync; a failed one goes to `onError`, once until one succeeds again. Keys are relative paths of
 * safe characters (`<case-id>/sessions/1.md`); any other throws a RangeError.
 */
export function createLastGood(folder: string, onError: (error: unknown) => void = warn): LastGood {
  const waiting = new Map<string, Copy>()
  let writing: { key: string; copy: Copy } | null = null
  let failing = false
  let queue = Promise.resolve()

  function enqueue(job: () => Promise<void>): Promise<void> {
    queue = queue.then(job).then(
      () => {
        failing = false
      },
      (error) => {
        if (!failing) onError(error)
        failing = true
      },
    )
    return queue
  }

  function remember(key: string, text: string, mtimeMs: number): void {
    const path = pathOf(key)
    const queued = waiting.get(key)
    if (queued) {
      Object.assign(queued, { text, mtimeMs })
      return
    }
    const copy = { text, mtimeMs }
    waiting.set(key, copy)
    enqueue(() => write(key, path, copy))
  }

  async function write(key: string, path: string, copy: Copy): Promise<void> {
    // Forgotten meanwhile, and perhaps queued anew behind that.
    if (waiting.get(key) !== copy) return
    waiting.delete(key)
    writing = { key, copy }
    try {
      await store(path, copy)
    } finally {
      writing = null
    }
  }

  async function store(path: string, copy: Copy): Promise<void> {
    if (isStored(path, copy)) return
    // One name for all is enough for one writer, and leaves nothing to clean up.
    const temp = join(folder, '.writing')
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(temp, copy.text, { mode: 0o600 })
    await utimes(temp, copy.mtimeMs / 1000, copy.mtimeMs / 1000)
    await rename(temp, path)
  }

  async function recall(key: string): Promise<string | null> {
    const path = pathOf(key)
    const queued = queuedCopy(key)
    if (queued) return queued.text
    const read = await readRegular(path, { maxBytes: MAX_BYTES })
    const decoded = read.ok ? decodeUtf8(read.bytes) : null
    return decoded?.ok ? decoded.text : null
  }

  async function isFresh(key: string, mtimeMs: number): Promise<boolean> {
    const path = pathOf(key)
    const queued = queuedCopy(key)
    if (queued) return queued.mtimeMs === mtimeMs
    const stats = statOf(path)
    return stats !== undefined && Math.abs(stats.mtimeMs - mtimeMs) < MTIME_TOLERANCE_MS
  }

  /** So that a start does not copy again what did not change. */
  function isStored(path: string, { text, mtimeMs }: Copy): boolean {
    const stats = statOf(path)
    if (stats?.size !== Buffer.byteLength(text)) return false
    return Math.abs(stats.mtimeMs - mtimeMs) < MTIME_TOLERANCE_MS
  }

  function forget(prefix: string): Promise<void> {
    const path = pathOf(prefix)
    for (const key of waiting.keys()) {
      if (key === prefix || key.startsWith(`${prefix}/`)) waiting.delete(key)
    }
    return enqueue(() => rm(path, { recursive: true, force: true }))
  }

  function queuedCopy(key: string): Copy | undefined {
    return waiting.get(key) ?? (writing?.key === key ? writing.copy : undefined)
  }

  function pathOf(key: string): string {
    if (SAFE_KEY.test(key)) return join(folder, key)
    throw new RangeError(`not a key of a record file: ${JSON.stringify(key)}`)
  }

  return { remember, recall, isFresh, forget, idle: () => queue }
}

/** Synchronous, since the rejections of 10,000 files that are not there yet cost 2 s of a first start. */
function statOf(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false })
}

function warn(error: unknown): void {
  process.emitWarning(`last good copies are not being kept: ${error}`)
}
