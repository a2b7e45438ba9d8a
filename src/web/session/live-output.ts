import { LRUCache } from 'lru-cache'
import type { HttpDeps } from '../../http/deps.ts'
import { type ByteRange, leastBytes, withRange } from '../../rendering/live-log/byte-ranges.ts'

/** What the live output of a log adds to the log itself. */
export interface LiveOutput {
  /** Which of its bytes came from standard error: it has both streams as they came. */
  stderr: readonly ByteRange[]
  /** No more of it is sent live. */
  isSilent: boolean
}

interface Heard extends LiveOutput {
  /** Where the last piece began, if it came from standard error: the next one tells where it ended. */
  open: number | null
}

const NOTHING: Heard = { stderr: [], isSilent: false, open: null }

/**
 * Kept in memory, so that a page that is loaded later knows it too; after a restart of the service, and
 * of what is behind the end of the live output, nobody knows any more.
 */
export function trackLiveOutput(
  outputs: HttpDeps['outputs'],
): (caseId: string, artifact: string) => LiveOutput {
  const heard = new LRUCache<string, Heard>({ max: 500 })
  const keyOf = (caseId: string, artifact: string) => `${caseId}/${artifact}`
  outputs.subscribe(({ case_id, artifact, offset, stream, text }) => {
    const key = keyOf(case_id, artifact)
    const before = heard.get(key) ?? NOTHING
    let { stderr } = before
    if (offset === null) {
      heard.set(key, { ...before, isSilent: true })
      return
    }
    if (before.open !== null) stderr = withRange(stderr, { from: before.open, to: offset })
    const open = stream === 'stderr' ? offset : null
    if (open !== null) stderr = withRange(stderr, { from: open, to: open + leastBytes(text) })
    if (stderr.length > 0) heard.set(key, { ...before, stderr, open })
  })
  return (caseId, artifact) => heard.get(keyOf(caseId, artifact)) ?? NOTHING
}
