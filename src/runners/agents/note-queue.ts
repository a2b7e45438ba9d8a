import type { AgentNote } from '../contract.ts'

const MAX_WAITING = 50

/** The notes of a run on their way to disk, in order, while its agent goes on. */
export interface NoteQueue {
  add(note: AgentNote): void
  /** Resolves when all are on disk; rejects once one could not be written. */
  idle(): Promise<void>
  /** Resolves when few are waiting: what an agent says must not pile up in memory. */
  room(): Promise<void>
}

/** `onFailure` is told of the first note that cannot be written; none is tried after it, and whoever waits gets its error. */
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
