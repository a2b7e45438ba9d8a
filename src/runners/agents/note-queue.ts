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

/**
 * A predicate: whether a note says something new. Agents repeat the id of their conversation (`session` is the one
 * known before) and to-do lists that have not changed.
 */
export function createRepeatFilter(session: string | null = null): (note: AgentNote) => boolean {
  let known = session
  let plan = ''
  return ({ event, fields }) => {
    if (event === 'agent_session') {
      if (fields.agent_session === known) return false
      known = fields.agent_session
    }
    if (event === 'agent_plan') {
      const entries = JSON.stringify(fields.entries)
      if (entries === plan) return false
      plan = entries
    }
    return true
  }
}
