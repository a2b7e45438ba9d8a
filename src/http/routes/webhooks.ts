import { Hono } from 'hono'
import type { KeyedMutex } from '../../files/keyed-mutex.ts'
import { ALL_EVENTS, type Webhook } from '../../model/webhook.ts'
import { newSecret } from '../../webhooks/message.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { etagOf, jsonWithETag, requireMatch } from '../etag.ts'
import { answerJson, jsonBody } from '../json-body.ts'
import { knownQuery, PAGING } from '../middleware/known-query.ts'
import { notWhilePlanning } from '../middleware/require-operator.ts'
import { newestFirst, paginate } from '../pagination.ts'
import { readJson } from '../request-body.ts'
import { changeIn, newWebhookSchema, secretIn, webhookChangeSchema } from '../schemas/webhook.ts'
import type { Deleted } from '../serializers.ts'
import { serializeTest, serializeWebhook } from '../webhook-serializers.ts'
import { deliveryRoutes } from './deliveries.ts'
import type { WebhookAddress } from './webhook-address.ts'

/**
 * `/webhooks` or `/cases/:id/webhooks` (specification §4.5, design §5). `turns` is by webhook: a
 * change has to look up the receiver's name first, and If-Match must hold until it is made.
 */
export function webhookRoutes(
  service: HttpDeps,
  { one, caseOf, webhookOf }: WebhookAddress,
  turns: KeyedMutex,
): Hono<ServiceEnv> {
  const { webhooks } = service
  const app = new Hono<ServiceEnv>()
  const shown = (webhook: Webhook) => serializeWebhook(webhooks, webhook)
  const etagNow = (id: string) => etagOf(jsonBody(shown(webhooks.get(id))))

  /** Refuses with `not_found` when the case went away meanwhile: nobody would end its webhook. */
  async function mustHaveCase(c: ServiceContext, { id }: Webhook): Promise<void> {
    try {
      await caseOf(c)
    } catch (error) {
      await webhooks.remove(id)
      throw error
    }
  }

  app.get('/', knownQuery(...PAGING), async (c) => {
    const found = webhooks.list(await caseOf(c)).map(shown)
    return paginate(c, found.sort(newestFirst))
  })

  app.post('/', notWhilePlanning(service, 'add webhook'), async (c) => {
    const { url, events, active, ...rest } = await readJson(c, newWebhookSchema)
    const secret = secretIn(rest) ?? null
    const case_id = await caseOf(c)
    const wanted = { case_id, url, events: events ?? [ALL_EVENTS], secret, active }
    const webhook = await webhooks.add(wanted)
    await mustHaveCase(c, webhook)
    const json = { ...shown(webhook), ...(secret === null ? { secret: webhook.secret } : {}) }
    const list = case_id === null ? '/webhooks' : `/cases/${case_id}/webhooks`
    return answerJson(c, json, 201, { location: `${list}/${webhook.id}` })
  })

  app.get(one, async (c) => jsonWithETag(c, shown(await webhookOf(c))))

  app.patch(one, notWhilePlanning(service, 'change webhook'), async (c) => {
    const body = await readJson(c, webhookChangeSchema)
    const change = changeIn(body, newSecret)
    const { id } = await webhookOf(c)
    return turns.run(id, async () => {
      requireMatch(c, etagNow(id))
      const webhook = await webhooks.change(id, change)
      const generated = body.secret === null ? { secret: webhook.secret } : {}
      return answerJson(c, { ...shown(webhook), ...generated }, 200, { etag: etagNow(id) })
    })
  })

  app.delete(one, notWhilePlanning(service, 'delete webhook'), async (c) => {
    const { id } = await webhookOf(c)
    return turns.run(id, async () => {
      requireMatch(c, etagNow(id))
      await webhooks.remove(id)
      return answerJson(c, { id, deleted: true } satisfies Deleted)
    })
  })

  app.post(`${one}/test`, notWhilePlanning(service, 'test webhook'), async (c) => {
    const { id, attempt } = await webhooks.test((await webhookOf(c)).id)
    return answerJson(c, serializeTest(id, attempt))
  })

  app.route(`${one}/deliveries`, deliveryRoutes(service, webhookOf))
  return app
}
