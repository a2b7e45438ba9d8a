import type { Problem } from '../model/problem.ts'
import type { WebhookSummary } from '../webhooks/webhooks.ts'
import type { HttpNeeds } from './needs.ts'

export interface HealthJson {
  status: 'ok'
  cases: number
  watching: ReturnType<HttpNeeds['watching']>['watching']
  /** What is wrong with the watcher, and what helps, where it is `degraded`. */
  message?: string
  remedy?: string
  webhooks: WebhookSummary
  problems: Problem[]
}

/** What `GET /health` says (specification §4.7), once what is known to have changed was looked at. */
export async function healthOf(service: HttpNeeds): Promise<HealthJson> {
  await service.synchronizer.freshenAll()
  const { watching, trouble } = service.watching()
  return {
    status: 'ok',
    cases: service.catalog.size(),
    watching,
    ...(trouble ?? {}),
    webhooks: service.webhooks.summary(),
    problems: await service.problems(),
  }
}
