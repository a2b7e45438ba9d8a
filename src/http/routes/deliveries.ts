import { Hono } from 'hono'
import type { Delivery, DeliveryState } from '../../model/delivery.ts'
import { Refusal } from '../../model/refusal.ts'
import { queryOf, valuesOf } from '../case-filter.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { jsonWithETag } from '../etag.ts'
import { answerJson } from '../json-body.ts'
import { knownQuery, PAGING } from '../middleware/known-query.ts'
import { notWhilePlanning } from '../middleware/require-operator.ts'
import { type ListSource, paginateSource, type SortKey } from '../pagination.ts'
import { serializeDelivery, serializeDeliveryWithEnvelope } from '../webhook-serializers.ts'
import type { WebhookAddress } from './webhook-address.ts'

const STATES: readonly DeliveryState[] = ['delivered', 'retrying', 'dead']

/** What one webhook was sent, and what it still is (design §5). */
export function deliveryRoutes(
  service: HttpDeps,
  webhookOf: WebhookAddress['webhookOf'],
): Hono<ServiceEnv> {
  const { webhooks } = service
  const app = new Hono<ServiceEnv>()

  app.get('/', knownQuery('state', ...PAGING), async (c) => {
    const states = statesOf(c)
    const webhook = await webhookOf(c)
    const source: ListSource<Item> = {
      count: () => webhooks.countDeliveries(webhook.id, states),
      async after(last, limit) {
        const before = last && Number(last.created_at)
        return (await webhooks.deliveries(webhook.id, { states, before, limit })).map(listed)
      },
    }
    const present = async ({ delivery }: Item) => serializeDelivery(delivery, webhook)
    return paginateSource(c, source, { present })
  })

  app.get('/:did', async (c) => {
    const webhook = await webhookOf(c)
    const delivery = await webhooks.delivery(webhook.id, deliveryId(c))
    return jsonWithETag(c, serializeDeliveryWithEnvelope(delivery, webhook))
  })

  app.post('/:did/redeliver', notWhilePlanning(service, 'redeliver'), async (c) => {
    const webhook = await webhookOf(c)
    const delivery = await webhooks.redeliver(webhook.id, deliveryId(c))
    return answerJson(c, serializeDeliveryWithEnvelope(delivery, webhook), 202)
  })

  return app
}

interface Item extends SortKey {
  delivery: Delivery
}

/**
 * In the order of the log, whatever the time of the event: of one that was found after a pause it is
 * that of the file.
 */
function listed(delivery: Delivery): Item {
  return { id: delivery.id, created_at: String(delivery.event).padStart(16, '0'), delivery }
}

function deliveryId(c: ServiceContext): string {
  return c.req.param('did') ?? ''
}

/** `state=dead,retrying`; null when none is given. */
function statesOf(c: ServiceContext): DeliveryState[] | null {
  const states = valuesOf(queryOf(c), 'state') ?? []
  const wrong = states.find((state) => !(STATES as readonly string[]).includes(state))
  if (wrong === undefined) {
    return states.length > 0 ? STATES.filter((state) => states.includes(state)) : null
  }
  const came = JSON.stringify(wrong.slice(0, 60))
  const message = `expected one of ${STATES.join(', ')}; got ${came}`
  throw new Refusal('bad_request', `state: ${message}.`, { errors: [{ path: 'state', message }] })
}
