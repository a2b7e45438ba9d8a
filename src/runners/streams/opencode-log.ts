import type { ParsedNote } from './output-parser.ts'
import { retry } from './tool-facts.ts'

/** Makes opencode write its log to standard error, the only place where it reports retries. */
export const OPENCODE_LOGS = { OPENCODE_PRINT_LOGS: '1', OPENCODE_LOG_LEVEL: 'INFO' }

const LOG_LINE = /^timestamp=\S+ level=\w+ run=\w+ message=/
/** `small` is the model that makes titles. */
const REQUEST = /^\S+ \S+ \S+ message=stream .*\bsmall=false\b/
const FAILURE = /^\S+ \S+ \S+ message="stream error" .*\bsmall=false\b.*?(?: error\.error="(.*)")?$/

export interface OpencodeLog {
  /** Null for a line that is not part of its log. */
  line(text: string): ParsedNote[] | null
}

/**
 * `hasProgress`: whether the agent said or did anything since the last call; omit it if the caller checks that
 * itself.
 */
export function createOpencodeLog(hasProgress = () => true): OpencodeLog {
  let isFirst = true
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
      const isSilent = !hasProgress() && !isFirst
      const reason = failure ?? (isSilent ? 'its answer was empty' : null)
      failure = null
      isFirst = false
      attempt = reason === null ? 0 : attempt + 1
      return reason === null ? [] : retry({ attempt, reason })
    },
  }
}
