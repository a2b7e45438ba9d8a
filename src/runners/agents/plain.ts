import { NO_USAGE } from './agent-usage.ts'
import { createMessages, type OutputParser } from './parser-kit.ts'
import { planOfWords } from './plan-text.ts'

/** Markdown on standard output; the exit code says whether it succeeded. */
export function createPlainParser(): OutputParser {
  const messages = createMessages()
  return {
    line(text) {
      messages.append(`${text}\n`)
      return []
    },
    dropped: messages.discard,
    end() {
      const ended = messages.end()
      const text = ended.messages.join('')
      const plan = planOfWords(text) === null ? null : text
      return { ...ended, plan, verdict: { ok: true }, usage: NO_USAGE }
    },
  }
}
