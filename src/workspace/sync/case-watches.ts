/** chokidar's watches on the folders of cases. */

import { type FSWatcher, lstatSync, readdirSync, type Stats, watch } from 'node:fs'
import { hasCode } from '../../files/errno.ts'
import { yieldIfBusy } from '../../files/yielding.ts'
import { UUID } from '../../model/words.ts'
import { isEditorFile } from './editor-files.ts'
import type { EventKind } from './stability.ts'

/** Watches on the folder of all cases and the folders of each, never on single files. */
export interface CaseWatches {
  /** Resolves when every folder that is there is watched, or cannot be. */
  ready: Promise<void>
  close(): void
}

export interface CaseWatchesDeps {
  /** The real path of the folder of all cases. */
  cases: string
  /** Something happened to this path, relative to `cases`, with forward slashes; an empty one is `cases` itself. */
  onEvent(path: string, kind: EventKind): void
  /** So much came at once that the kernel may have dropped more, silently. */
  onFlood(): void
  onError(error: unknown): void
}

/** Folders with records. Artifacts, and anything else in a case's folder, are not watched. */
const INNER = ['sessions', 'proof'] as const

/** Of one case; each is null where no folder is, or none that may be watched. */
interface WatchesOfCase {
  id: string
  own: FolderWatch | null
  sessions: FolderWatch | null
  proof: FolderWatch | null
}

/** These are properties of the watcher, as a separate listener for each folder takes more memory. */
type FolderWatch = FSWatcher & {
  of: WatchesOfCase
  /** The inode that it was set on. */
  ino: number
}

/** Of a folder that may have given way to another one, which may have got its inode. */
const UNKNOWN = -1
/** The kernel's queue holds a little more by default; a turn of the event loop takes all of it. */
const QUEUE = 16_000

/**
 * One `fs.watch` for each folder, set and given up by the events of its parent. Not by chokidar: at each new name it
 * reads the folder of all cases and the stats of all in it, and it holds some 3 KB for each folder (docs/decisions,
 * 0020). A folder is watched before what it holds is read, so that nothing comes unseen.
 */
export function watchCases({ cases, onEvent, onFlood, onError }: CaseWatchesDeps): CaseWatches {
  const known = new Map<string, WatchesOfCase>()
  /** Cases of which a folder came, went, or gave way to another one. */
  const moved = new Set<string>()
  let ofAll: FSWatcher | null = null
  let isFollowing = false
  let isClosed = false
  let burst = 0

  /** In the folder of all cases. */
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

  /** In the folder of a case, or one within. */
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
    // an editor's own files become the file that is saved, whose name has an event of its own
    if (name === null || !isEditorFile(name)) onEvent(`${of.id}/${inner}${name ?? ''}`, kind)
  }

  function count(): void {
    if (burst++ === 0) setImmediate(endBurst)
  }

  function endBurst(): void {
    if (burst >= QUEUE && !isClosed) onFlood()
    burst = 0
  }

  /** Later, as within a call of the kernel more and more would come to wait there. */
  function follow(id: string): void {
    moved.add(id)
    if (isFollowing) return
    isFollowing = true
    setImmediate(() => {
      void eachUnlessClosed(moved, (each) => {
        moved.delete(each)
        // what was on its way from a watch that is given up is lost
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

  /** Watches the folders of a case that are there now; true where one of them has a new watch. */
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
      if (statsOf(path)) onEvent('', 'rename') // a link or a file, so no case: such names are a problem
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
      // a folder that is gone, or whose permissions change, is an event of the folder that holds it
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

/** What is at a path, a link not followed; `hidden` where that may not be known. */
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
