import { type FSWatcher, lstatSync, readdirSync, type Stats, watch } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { hasCode } from '../files/errno.ts'
import { UUID } from '../model/words.ts'
import { isEditorFile } from './editor-files.ts'
import type { HintKind } from './settling.ts'

/** Watches the folder of all cases and the folders of each, never single files. */
export interface FolderWatches {
  /** Resolves when every folder that is there is watched, or cannot be. */
  ready: Promise<void>
  close(): void
}

export interface FolderWatchesNeeds {
  /** Its real path. */
  cases: string
  /** The cases that are known; others are looked for. */
  ids(): readonly string[]
  /** Something happened to this path, relative to `cases`, with forward slashes; an empty one is `cases` itself. */
  hint(path: string, kind: HintKind): void
  /** So much came at once that the kernel may have dropped more, silently. */
  onFlood(): void
  onError(error: unknown): void
}

/** Folders that hold records; artifacts and whatever else a case's folder holds are not watched. */
const INNER = ['sessions', 'proof'] as const

/** Of one case; each is null where no folder is, or none that may be watched. */
interface CaseWatches {
  id: string
  own: FolderWatch | null
  sessions: FolderWatch | null
  proof: FolderWatch | null
}

/** These are properties of the watcher, as a listener of its own for each folder takes more memory. */
type FolderWatch = FSWatcher & {
  of: CaseWatches
  /** The inode that it was set on. */
  ino: number
}

/** Of a folder that may have given way to another one, which may have got its inode. */
const UNKNOWN = -1
/** Requests wait at most so long, in each of their turns, while watches are set: the first list takes ten turns. */
const SLICE_MS = 4
/** The kernel's queue holds a little more by default; a turn of the event loop takes all of it. */
const QUEUE = 16_000

/**
 * One `fs.watch` for each folder, set and given up by what its parent tells. Not by chokidar: at each
 * new name it would look at all those in the folder of all cases, and it holds three times as much.
 * A folder is watched before what it holds is looked at, so that nothing comes unseen.
 */
export function watchFolders(needs: FolderWatchesNeeds): FolderWatches {
  const { cases, hint, onError } = needs
  const known = new Map<string, CaseWatches>()
  /** Cases of which a folder came, went, or gave way to another one. */
  const moved = new Set<string>()
  let ofAll: FSWatcher | null = null
  let isFollowing = false
  let isClosed = false
  let burst = 0

  /** In the folder of all cases. */
  function onName(kind: HintKind, name: string | null): void {
    count()
    if (name === null || !UUID.test(name)) {
      if (name === null || !isEditorFile(name)) hint(name ?? '', kind)
      return
    }
    const watches = known.get(name)
    if (watches?.own && kind === 'rename') watches.own.ino = UNKNOWN
    hint(name, kind)
    follow(name)
  }

  /** In the folder of a case, or one within. */
  function onFile(this: FSWatcher, kind: HintKind, name: string | null): void {
    count()
    const { of } = this as FolderWatch
    const inner = this === of.sessions ? 'sessions/' : this === of.proof ? 'proof/' : ''
    const folder = INNER.find((each) => inner === '' && each === name)
    if (folder) {
      const watch = of[folder]
      if (watch && kind === 'rename') watch.ino = UNKNOWN
      follow(of.id)
    }
    // what an editor's own files become is told by its own name
    if (name === null || !isEditorFile(name)) hint(`${of.id}/${inner}${name ?? ''}`, kind)
  }

  function count(): void {
    if (burst++ === 0) setImmediate(endBurst)
  }

  function endBurst(): void {
    if (burst >= QUEUE && !isClosed) needs.onFlood()
    burst = 0
  }

  /** Later, as within a call of the kernel more and more would come to wait there. */
  function follow(id: string): void {
    moved.add(id)
    if (isFollowing) return
    isFollowing = true
    setImmediate(() => {
      void inSlices(moved, (id) => {
        moved.delete(id)
        // what was on its way from a watch that is given up is lost
        if (watchCase(id)) hint(id, 'rename')
      }).then(() => {
        isFollowing = false
      })
    })
  }

  async function inSlices(ids: Iterable<string>, work: (id: string) => void): Promise<void> {
    let since = performance.now()
    for (const id of ids) {
      if (isClosed) return
      work(id)
      if (performance.now() - since < SLICE_MS) continue
      await nextTurn()
      since = performance.now()
    }
  }

  /** Watches the folders of a case that are there now; true where one of them is watched anew. */
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
      if (statOf(path)) hint('', 'rename') // a link or a file, so no case: such names are told
    }
    return [of.own, of.sessions, of.proof].some((each, at) => each && each !== before[at])
  }

  function watchFolder(path: string, of: CaseWatches, was: FolderWatch | null): FolderWatch | null {
    const stat = statOf(path)
    if (stat === 'hidden' || (was && stat?.isDirectory() && stat.ino === was.ino)) return was
    was?.close()
    const watcher = stat?.isDirectory() ? startWatch(path, onFile) : null
    return watcher && Object.assign(watcher, { of, ino: (stat as Stats).ino })
  }

  function startWatch(path: string, listener: typeof onFile): FSWatcher | null {
    try {
      return watch(path, listener).on('error', onError)
    } catch (error) {
      // what is gone is told by the folder that held it, and so is a permission
      if (!hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM')) onError(error)
      return null
    }
  }

  async function watchAll(): Promise<void> {
    const stat = statOf(cases)
    if (stat === 'hidden' || !stat?.isDirectory()) return
    ofAll = startWatch(cases, onName)
    await inSlices(needs.ids(), watchCase)
    const unknown = namesIn(cases).filter((name) => !known.has(name) && UUID.test(name))
    await inSlices(unknown, watchCase)
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

/** What stands at a path, a link not followed; `hidden` where that may not be known. */
function statOf(path: string): Stats | 'hidden' | undefined {
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
