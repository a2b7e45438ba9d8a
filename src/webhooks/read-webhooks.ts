import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import { deliveryNotFound, webhookNotFound } from './not-found.ts'
import type { Webhooks } from './webhooks.ts'

export type ReadWebhooks = Pick<
  Webhooks,
  'list' | 'get' | 'status' | 'syncNotify' | 'deliveries' | 'countDeliveries' | 'delivery'
>

/** The registered webhooks while no service runs, so that nothing is sent and the database has all outcomes. */
export function readWebhooks(store: WebhookStore): ReadWebhooks {
  const records = new Map(
    store
      .all()
      .filter(({ webhook }) => webhook.ends_after === null)
      .map((record) => [record.webhook.id, record]),
  )

  function find(id: string): WebhookRecord {
    const record = records.get(id)
    if (!record) throw webhookNotFound(id)
    return record
  }

  return {
    list: (caseId) =>
      [...records.values()]
        .map(({ webhook }) => webhook)
        .filter(({ case_id }) => case_id === caseId),
    syncNotify: async () => {},
    get: (id) => find(id).webhook,
    status(id) {
      const { cursor, failing } = find(id)
      const retrying = store.count(id, ['retrying'])
      const dead = store.count(id, ['dead'])
      return { retrying, dead, cursor, failing_since: failing?.since ?? null }
    },
    async deliveries(id, { states = null, before = null, limit = null } = {}) {
      find(id)
      return store.deliveries(id, { states, before, limit })
    },
    async countDeliveries(id, states) {
      find(id)
      return store.count(id, states)
    },
    async delivery(id, deliveryId) {
      find(id)
      const found = store.delivery(id, deliveryId)
      if (!found) throw deliveryNotFound(id, deliveryId)
      return found
    },
  }
}
