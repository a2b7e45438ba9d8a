import { Hono } from 'hono'
import type { Delivery, DeliveryState } from '../model/delivery.ts'
import { Refusal } from '../model/refusal.ts'
import { queryOf, valuesOf } from './case-filter.ts'
import type { ServiceContext, ServiceEnv } from './context.ts'
import { jsonWithETag } from './etag.ts'
import { answerJson } from './json-body.ts'
import { knownQuery, PAGING } from './known-query.ts'
import type { HttpNeeds } from './needs.ts'
import { notWhilePlanning } from './operator-only.ts'
import { type Listed, type ListSource, pageFrom } from './page.ts'
import type { WebhookAddress } from './webhook-address.ts'
import { deliveryJson, wholeDeliveryJson } from './webhook-present.ts'

const STATES: readonly DeliveryState[] = ['delivered', 'retrying', 'dead']

/** What one webhook was sent, and what it still is (design §5). */
export function deliveryRoutes(
  service: HttpNeeds,
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
    const present = async ({ delivery }: Item) => deliveryJson(delivery, webhook)
    return pageFrom(c, source, { present })
  })

  app.get('/:did', async (c) => {
    const webhook = await webhookOf(c)
    const delivery = await webhooks.delivery(webhook.id, deliveryId(c))
    return jsonWithETag(c, wholeDeliveryJson(delivery, webhook))
  })

  app.post('/:did/redeliver', notWhilePlanning(service, 'redeliver'), async (c) => {
    const webhook = await webhookOf(c)
    const delivery = await webhooks.redeliver(webhook.id, deliveryId(c))
    return answerJson(c, wholeDeliveryJson(delivery, webhook), 202)
  })

  return app
}

interface Item extends Listed {
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
