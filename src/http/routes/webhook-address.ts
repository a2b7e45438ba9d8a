import { Refusal } from '../../model/refusal.ts'
import type { Webhook } from '../../model/webhook.ts'
import type { ServiceContext } from '../context.ts'
import type { HttpDeps } from '../deps.ts'
import { caseId, webhookId } from '../params.ts'

/** How the paths below `/webhooks`, or below `/cases/:id/webhooks`, name what they are about. */
export interface WebhookAddress {
  /** The path of one webhook, for a router that is mounted at the list. */
  one: '/:id' | '/:webhook_id'
  /** The case whose webhooks are addressed; null for the global ones. Refuses with `not_found`. */
  caseOf(c: ServiceContext): Promise<string | null>
  /** Refuses with `not_found`, below a case also for the webhook of another. */
  webhookOf(c: ServiceContext): Promise<Webhook>
}

/** Lists the global ones, and has every webhook by its id, also those of cases. */
export function globalAddress({ webhooks }: HttpDeps): WebhookAddress {
  return {
    one: '/:id',
    caseOf: async () => null,
    webhookOf: async (c) => webhooks.get(webhookId(c, 'id')),
  }
}

export function caseAddress({ webhooks, store }: HttpDeps): WebhookAddress {
  const caseOf = async (c: ServiceContext) => (await store.read(caseId(c))).case.id
  return {
    one: '/:webhook_id',
    caseOf,
    async webhookOf(c) {
      const id = await caseOf(c)
      const webhook = webhooks.get(webhookId(c, 'webhook_id'))
      if (webhook.case_id === id) return webhook
      throw new Refusal('not_found', `Case ${id} has no webhook ${webhook.id}.`)
    },
  }
}
