import { planOfWords } from '../agents/plan-text.ts'
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
    end() {
      const ended = messages.end()
      const text = ended.messages.join('')
      return { ...ended, plan: planOfWords(text) === null ? null : text, verdict: { ok: true } }
    },
  }
}
