/** Sets one `fs.watch` on each folder of cases. */

import { type FSWatcher, lstatSync, readdirSync, type Stats, watch } from 'node:fs'
import { hasCode } from '../../files/errno.ts'
import { yieldIfBusy } from '../../files/yielding.ts'
import { UUID } from '../../model/words.ts'
import { isEditorFile } from './editor-files.ts'
import type { EventKind } from './stability.ts'

/** Watches on the folder of all cases and the folders of each, never on single files. */
export interface CaseWatches {
  /** Resolves when every folder is watched or cannot be. */
  ready: Promise<void>
  close(): void
}

export interface CaseWatchesDeps {
  /** The real path of the folder of all cases. */
  cases: string
  /** Called for a change at this path, relative to `cases`, with forward slashes; an empty path is `cases` itself. */
  onEvent(path: string, kind: EventKind): void
  /** Called when so many events arrived that the kernel may have dropped some. */
  onFlood(): void
  onError(error: unknown): void
}

/** Watched folders in a case folder. Artifacts and other folders are not watched. */
const INNER = ['sessions', 'proof'] as const

/** Watches of one case; null for a folder that does not exist or cannot be watched. */
interface WatchesOfCase {
  id: string
  own: FolderWatch | null
  sessions: FolderWatch | null
  proof: FolderWatch | null
}

/** Stored as properties of the watcher, as a closure per folder takes more memory. */
type FolderWatch = FSWatcher & {
  of: WatchesOfCase
  /** The inode that it watches. */
  ino: number
}

/** Inode of a folder that may have been replaced by another with the same inode. */
const UNKNOWN = -1
/** The kernel's default queue is a little larger; one event-loop turn reads all of it. */
const QUEUE = 16_000

/**
 * One `fs.watch` for each folder, set and given up by the events of its parent. Not by chokidar: at each new name it
 * reads the folder of all cases and the stats of all in it, and it holds some 3 KB for each folder
 * (docs/decisions.md, 20). A folder is watched before what it holds is read, so that nothing comes unseen.
 */
export function watchCases({ cases, onEvent, onFlood, onError }: CaseWatchesDeps): CaseWatches {
  const known = new Map<string, WatchesOfCase>()
  /** Cases with a folder that was created, deleted or replaced. */
  const moved = new Set<string>()
  let ofAll: FSWatcher | null = null
  let isFollowing = false
  let isClosed = false
  let burst = 0

  /** Handles an event in the folder of all cases. */
  function onName(kind: EventKind, name: string | null): void {
    count()
    if (name === null || !UUID.test(name)) {
      if (name === null || !isEditorFile(name)) onEvent(name ?? '', kind)
      return
    }
    const watches = known.get(name)
    if (watches?.own && kind === 'rename') watches.own.ino = UNKNOWN
    onEvent(name, kind)
    follow(name)
  }

  /** Handles an event in a case folder or a folder inside it. */
  function onFile(this: FSWatcher, kind: EventKind, name: string | null): void {
    count()
    const { of } = this as FolderWatch
    const inner = this === of.sessions ? 'sessions/' : this === of.proof ? 'proof/' : ''
    const folder = INNER.find((each) => inner === '' && each === name)
    if (folder) {
      const watch = of[folder]
      if (watch && kind === 'rename') watch.ino = UNKNOWN
      follow(of.id)
    }
    // temporary files of editors are renamed to the saved file, which has its own event
    if (name === null || !isEditorFile(name)) onEvent(`${of.id}/${inner}${name ?? ''}`, kind)
  }

  function count(): void {
    if (burst++ === 0) setImmediate(endBurst)
  }

  function endBurst(): void {
    if (burst >= QUEUE && !isClosed) onFlood()
    burst = 0
  }

  /** Deferred, so that events do not pile up during a system call. */
  function follow(id: string): void {
    moved.add(id)
    if (isFollowing) return
    isFollowing = true
    setImmediate(() => {
      void eachUnlessClosed(moved, (each) => {
        moved.delete(each)
        // pending events of a removed watch are lost
        if (watchCase(each)) onEvent(each, 'rename')
      }).then(() => {
        isFollowing = false
      })
    })
  }

  async function eachUnlessClosed(ids: Iterable<string>, work: (id: string) => void) {
    for (const id of ids) {
      if (isClosed) return
      work(id)
      await yieldIfBusy()
    }
  }

  /** Watches the existing folders of a case; true if one of them has a new watch. */
  function watchCase(id: string): boolean {
    const of = known.get(id) ?? { id, own: null, sessions: null, proof: null }
    const before = [of.own, of.sessions, of.proof]
    const path = `${cases}/${id}`
    of.own = watchFolder(path, of, of.own)
    for (const name of INNER) {
      if (of.own) of[name] = watchFolder(`${path}/${name}`, of, of[name])
      else of[name] = of[name]?.close() ?? null
    }
    if (of.own) known.set(id, of)
    else {
      known.delete(id)
      if (statsOf(path)) onEvent('', 'rename') // a link or a file is not a case, but is reported as a problem
    }
    return [of.own, of.sessions, of.proof].some((each, at) => each && each !== before[at])
  }

  function watchFolder(
    path: string,
    of: WatchesOfCase,
    present: FolderWatch | null,
  ): FolderWatch | null {
    const stats = statsOf(path)
    const isSame =
      present && stats !== 'hidden' && stats?.isDirectory() && stats.ino === present.ino
    if (stats === 'hidden' || isSame) return present
    present?.close()
    const watcher = stats?.isDirectory() ? startWatch(path, onFile) : null
    return watcher && Object.assign(watcher, { of, ino: (stats as Stats).ino })
  }

  function startWatch(path: string, listener: typeof onFile): FSWatcher | null {
    try {
      return watch(path, listener).on('error', onError)
    } catch (error) {
      // its parent folder reports when a folder is deleted or its permissions change
      if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) onError(error)
      return null
    }
  }

  async function watchAll(): Promise<void> {
    const stats = statsOf(cases)
    if (stats === 'hidden' || !stats?.isDirectory()) return
    ofAll = startWatch(cases, onName)
    await eachUnlessClosed(
      namesIn(cases).filter((name) => UUID.test(name)),
      watchCase,
    )
  }

  return {
    ready: watchAll(),
    close() {
      isClosed = true
      ofAll?.close()
      for (const { own, sessions, proof } of known.values()) {
        own?.close()
        sessions?.close()
        proof?.close()
      }
      known.clear()
    },
  }
}

/** Returns the stats of a path without following links; `hidden` without permission. */
function statsOf(path: string): Stats | 'hidden' | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return 'hidden'
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES')) return []
    throw error
  }
}
