import type { StreamNote } from './agent-stream.ts'
import { retry } from './tool-facts.ts'

/** The log of opencode, which it writes to its standard error if asked: only there it says that it asks its model again. */
export const OPENCODE_LOGS = { OPENCODE_PRINT_LOGS: '1', OPENCODE_LOG_LEVEL: 'INFO' }

const LOG_LINE = /^timestamp=\S+ level=\w+ run=\w+ message=/
/** `small` is the model that makes titles. */
const REQUEST = /^\S+ \S+ \S+ message=stream .*\bsmall=false\b/
const FAILURE = /^\S+ \S+ \S+ message="stream error" .*\bsmall=false\b.*?(?: error\.error="(.*)")?$/

export interface OpencodeLog {
  /** Null for a line that is no line of its log. */
  line(text: string): StreamNote[] | null
}

export function createOpencodeLog(): OpencodeLog {
  let failure: string | null = null
  let attempt = 0
  return {
    line(text) {
      if (!LOG_LINE.test(text)) return null
      const failed = FAILURE.exec(text)
      if (failed) {
        failure = (failed[1] ?? 'no reason').replace(/^AI_\w+Error: /, '')
        return []
      }
      if (!REQUEST.test(text)) return []
      const reason = failure
      failure = null
      attempt = reason === null ? 0 : attempt + 1
      return reason === null ? [] : retry({ attempt, reason })
    },
  }
}
