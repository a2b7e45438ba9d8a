import type { HttpNeeds } from './needs.ts'

/** What `GET /health` says (specification §4.7), once what is known to have changed was looked at. */
export async function healthOf(service: HttpNeeds): Promise<Record<string, unknown>> {
  await service.upkeep.current()
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
