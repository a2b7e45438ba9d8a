import { NO_USAGE } from '../agents/agent-usage.ts'
import type { AgentStream } from './agent-stream.ts'
import { createMessages } from './messages.ts'

/** Markdown on standard output; the exit code tells whether it succeeded. */
export function createPlainStream(): AgentStream {
  const messages = createMessages()
  return {
    line(text) {
      messages.append(`${text}\n`)
      return []
    },
    dropped: messages.spoil,
    end: () => ({ ...messages.end(), plan: null, verdict: { ok: true }, usage: NO_USAGE }),
  }
}
