import type { Problem } from '../model/problem.ts'
import type { WebhookSummary } from '../webhooks/webhooks.ts'
import type { HttpDeps } from './deps.ts'

export interface HealthJson {
  status: 'ok'
  /** Whether the files are still being read after a start: what needs them waits until that is done. */
  indexing: boolean
  /** While indexing, those that were read so far. */
  cases: number
  watching: ReturnType<HttpDeps['watching']>['watching']
  /** What is wrong with the watcher, and what helps, where it is `degraded`. */
  message?: string
  remedy?: string
  webhooks: WebhookSummary
  problems: Problem[]
}

/** What `GET /health` says (specification §4.7), once what is known to have changed was looked at; while indexing at once. */
export async function healthOf(service: HttpDeps): Promise<HealthJson> {
  const indexing = service.start.stage() === 'indexing'
  if (!indexing) await service.synchronizer.freshenAll()
  const { watching, trouble } = service.watching()
  return {
    status: 'ok',
    indexing,
    cases: service.catalog.size(),
    watching,
    ...(trouble ?? {}),
    webhooks: service.webhooks.summary(),
    problems: await service.problems(),
  }
}
