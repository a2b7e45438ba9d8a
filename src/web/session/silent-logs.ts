import { LRUCache } from 'lru-cache'
import type { HttpDeps } from '../../http/deps.ts'

/** Whether the output of a running step is no longer sent live: a page polls its log then. */
export type IsSilent = (caseId: string, artifact: string) => boolean

/** Remembers it for pages that load later. */
export function trackSilentLogs(outputs: HttpDeps['outputs']): IsSilent {
  const logs = new LRUCache<string, true>({ max: 500 })
  outputs.subscribe(({ case_id, artifact, offset }) => {
    if (offset === null) logs.set(`${case_id}/${artifact}`, true)
  })
  return (caseId, artifact) => logs.has(`${caseId}/${artifact}`)
}
