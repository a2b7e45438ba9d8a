import { AppError } from '../model/app-error.ts'
import { DELIVERY_STATES, type Delivery, type DeliveryState } from '../model/delivery.ts'
import type { Webhook } from '../model/webhook.ts'
import type { DeliveryQuery, WebhookRow, WebhookStore } from '../state/webhooks.ts'

export interface ReceiverStatus {
  /** Failed deliveries that will be retried. */
  retrying: number
  /** Failed deliveries that were given up. */
  dead: number
  /** Since when every attempt has failed (ISO 8601); null while the receiver answers. */
  failing_since: string | null
}

/** What is known of the webhooks and their deliveries; all of it throws `not_found` for an unknown id. */
export interface ReadWebhooks {
  /** Lists the global webhooks (null) or those of one case, in no particular order. */
  list(caseId: string | null): Webhook[]
  get(id: string): Webhook
  status(id: string): ReceiverStatus
  /** Lists all deliveries that wait for a retry and the newest delivered and dead ones; newest first. */
  deliveries(id: string, query?: Partial<DeliveryQuery>): Promise<Delivery[]>
  countDeliveries(id: string, states: readonly DeliveryState[] | null): Promise<number>
  delivery(id: string, deliveryId: string): Promise<Delivery>
}

/** Throws `not_found`, also for webhooks of deleted cases, which are about to end. */
export function findWebhook<T extends WebhookRow>(records: ReadonlyMap<string, T>, id: string): T {
  const record = records.get(id)
  if (record && !record.webhook.case_deleted) return record
  throw new AppError('not_found', `There is no webhook ${id}. GET /webhooks lists all webhooks.`)
}

export function readWebhooks(
  store: WebhookStore,
  records: ReadonlyMap<string, WebhookRow>,
): ReadWebhooks {
  const find = (id: string) => findWebhook(records, id)
  return {
    list: (caseId) =>
      [...records.values()]
        .map(({ webhook }) => webhook)
        .filter(({ case_id, case_deleted }) => case_id === caseId && !case_deleted),
    get: (id) => find(id).webhook,
    status(id) {
      const failing_since = find(id).failing?.since ?? null
      return {
        retrying: store.count(id, ['retrying']),
        dead: store.count(id, ['dead']),
        failing_since,
      }
    },
    async deliveries(id, { states = null, before = null, limit = null } = {}) {
      find(id)
      return store.deliveries(id, { states, before, limit })
    },
    async countDeliveries(id, states) {
      find(id)
      return store.count(id, states ?? DELIVERY_STATES)
    },
    async delivery(id, deliveryId) {
      find(id)
      const found = store.delivery(id, deliveryId)
      if (found) return found
      const message = `Webhook ${id} has no delivery ${deliveryId.slice(0, 80)}; it may have been removed since. GET /webhooks/${id}/deliveries lists the stored ones.`
      throw new AppError('not_found', message)
    },
  }
}
