import { LRUCache } from 'lru-cache'
import type { HttpDeps } from '../../http/deps.ts'
import { type ByteRange, leastBytes, withRange } from '../../rendering/live-log/byte-ranges.ts'

/** What is known about a log only from its live output. */
export interface LiveOutput {
  /** The bytes that came from standard error; the log mixes both streams. */
  stderr: readonly ByteRange[]
  /** Its output is no longer sent live. */
  isSilent: boolean
}

interface TrackedLog extends LiveOutput {
  /** The start of the last piece if it came from standard error; the next piece says where it ended. */
  open: number | null
}

const EMPTY: TrackedLog = { stderr: [], isSilent: false, open: null }

/**
 * Remembers in memory which bytes of a log came from standard error, for pages that load later. After a restart, and
 * once the live output has ended, this is unknown.
 */
export function trackLiveOutput(
  outputs: HttpDeps['outputs'],
): (caseId: string, artifact: string) => LiveOutput {
  const logs = new LRUCache<string, TrackedLog>({ max: 500 })
  const keyOf = (caseId: string, artifact: string) => `${caseId}/${artifact}`
  outputs.subscribe(({ case_id, artifact, offset, stream, text }) => {
    const key = keyOf(case_id, artifact)
    const before = logs.get(key) ?? EMPTY
    let { stderr } = before
    if (offset === null) {
      logs.set(key, { ...before, isSilent: true })
      return
    }
    if (before.open !== null) stderr = withRange(stderr, { from: before.open, to: offset })
    const open = stream === 'stderr' ? offset : null
    if (open !== null) stderr = withRange(stderr, { from: open, to: open + leastBytes(text) })
    if (stderr.length > 0) logs.set(key, { ...before, stderr, open })
  })
  return (caseId, artifact) => logs.get(keyOf(caseId, artifact)) ?? EMPTY
}
