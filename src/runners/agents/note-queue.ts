import type { AgentNote } from '../contract.ts'

const MAX_WAITING = 50

/** Writes the notes of a run to disk in order, while its agent continues. */
export interface NoteQueue {
  add(note: AgentNote): void
  /** Resolves when all notes are on disk; rejects if one could not be written. */
  idle(): Promise<void>
  /** Resolves when few notes are waiting, so that they do not pile up in memory. */
  room(): Promise<void>
}

/**
 * After the first note that cannot be written, `onFailure` gets its error, no more notes are written, and both
 * methods reject with it.
 */
export function createNoteQueue(
  write: (note: AgentNote) => Promise<void>,
  onFailure: () => void,
): NoteQueue {
  let last = Promise.resolve()
  let waiting = 0
  return {
    add(note) {
      waiting += 1
      last = last
        .then(() => write(note))
        .finally(() => {
          waiting -= 1
        })
      last.catch(onFailure)
    },
    idle: () => last,
    async room() {
      if (waiting >= MAX_WAITING) await last
    },
  }
}
