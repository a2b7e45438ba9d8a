import { asRecord, asString } from '../agents/unknown-record.ts'

/** Recognizes our session of a connection: an agent may send updates of others, such as those of its subagents. */
export interface OwnSession {
  is(id: string): void
  /** Whether a message belongs to another session. The first time, it adds a line to the log. */
  isForeign(params: unknown): boolean
}

export function createOwnSession(line: (text: string) => void): OwnSession {
  let own: string | null = null
  let isTold = false
  return {
    is(id) {
      own = id
    },
    isForeign(params) {
      const id = asString(asRecord(params).sessionId)
      if (own === null || id === null || id === own) return false
      if (!isTold) line(`[casefile] ignored messages of another session: ${id.slice(0, 100)}`)
      isTold = true
      return true
    },
  }
}
