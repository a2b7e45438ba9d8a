import { asRecord, asString } from '../agents/unknown-record.ts'

/** Recognizes our session of a connection: an agent may send updates of others, such as those of its subagents. */
export interface OwnSession {
  is(id: string): void
  /** Whether a message belongs to another session. The first time, it adds a line to the log. */
  isOther(params: unknown): boolean
}

export function createOwnSession(line: (text: string) => void): OwnSession {
  let own: string | null = null
  let isLogged = false
  return {
    is(id) {
      own = id
    },
    isOther(params) {
      const id = asString(asRecord(params).sessionId)
      if (own === null || id === null || id === own) return false
      if (!isLogged) line(`[casefile] ignored messages of another session: ${id.slice(0, 100)}`)
      isLogged = true
      return true
    },
  }
}
