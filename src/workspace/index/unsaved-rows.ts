/** What of the index is not in casefile.db yet, and goes there with the next transaction. */

import type { Run } from '../../state/database.ts'
import { putCase, putStamps, removeCase, type StoredCase } from '../../state/record-rows.ts'
import { trailsBesideRows } from '../trail-memory.ts'
import { changedRecords, encodeFolder } from './case-rows.ts'
import type { LoadedCases, Present } from './loaded-cases.ts'

export interface UnsavedRows {
  /** Call for a case whose rows are outdated, once that is published. */
  add(id: string): void
  /** Call for a case with newer stamps, and nothing else. */
  restamp(id: string, stamps: string): void
  /** Call when a case has changed since. */
  delete(id: string): void
  /** The rows of this case, or of those that were added last, which are then no longer unsaved. */
  take(id?: string): RowsToWrite
}

export interface RowsToWrite {
  isEmpty: boolean
  write(run: Run): void
  /** Call when they are stored. */
  onWritten(): void
}

/** A larger transaction would block too long. */
const MAX_AT_ONCE = 500

/** `rowOf` makes the row of a case in lists, and what belongs to it. `lastText` returns the last text of a file. */
export function createUnsavedRows(
  cases: LoadedCases,
  rowOf: (id: string, entry: Present['entry']) => Pick<StoredCase, 'stamps' | 'listed'>,
  lastText: (id: string, file: string) => string | null,
): UnsavedRows {
  const unsaved = new Set<string>()
  const restamped = new Map<string, string>()

  function writeOf(id: string): ((run: Run) => void) | null {
    const loaded = cases.inMemory(id)
    if (!loaded) return null // only its stamps were newer
    const { entry, published } = loaded
    const before = loaded.stored
    loaded.stored = entry
    const putTrails = trailsBesideRows(before, entry, (file) => lastText(id, file))
    if (!entry || !published) {
      return (run) => {
        removeCase(run, id)
        putTrails(run)
      }
    }
    const { changed, gone } = changedRecords(before, entry)
    const row: StoredCase = {
      id,
      ...rowOf(id, entry),
      folder: encodeFolder(entry, published),
      json: cases.json(loaded as Present),
    }
    return (run) => {
      putCase(run, row, changed, gone)
      putTrails(run)
    }
  }

  return {
    add(id) {
      restamped.delete(id)
      unsaved.delete(id) // so that it is the last one
      unsaved.add(id)
    },
    restamp: (id, stamps) => void restamped.set(id, stamps),
    delete: (id) => void unsaved.delete(id),
    take(id) {
      const stamps = id === undefined ? [...restamped] : []
      const ids = id === undefined ? [...unsaved].slice(-MAX_AT_ONCE) : unsaved.has(id) ? [id] : []
      const written = ids.map((id) => cases.kept.get(id))
      const writes = ids.map(writeOf).filter((write) => write !== null)
      for (const id of ids) unsaved.delete(id)
      if (id === undefined) restamped.clear()
      return {
        isEmpty: writes.length + stamps.length === 0,
        write(run) {
          for (const [each, text] of stamps) putStamps(run, each, text)
          for (const write of writes) write(run)
        },
        onWritten() {
          for (const [index, id] of ids.entries()) {
            const isSame = cases.kept.get(id) === written[index]
            if (isSame && !unsaved.has(id)) cases.release(id)
          }
        },
      }
    },
  }
}
