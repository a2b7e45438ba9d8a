import { objectOf, textOf } from '../agents/foreign.ts'

/** The one session of a conversation that is ours: an agent may have more, such as those of its helpers. */
export interface OwnSession {
  is(id: string): void
  /** Whether what the agent sent is of another session; said once in the log. */
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
      const id = textOf(objectOf(params).sessionId)
      if (own === null || id === null || id === own) return false
      if (!isTold) line(`[casefile] not heard: another session, ${id.slice(0, 100)}`)
      isTold = true
      return true
    },
  }
}
