import type { Envelope } from '../events/envelope.ts'
import { type Attempt, type Delivery, isSuccess } from '../model/delivery.ts'
import type { Webhook } from '../model/webhook.ts'
import { shownUrl } from '../webhooks/notification.ts'
import type { Webhooks } from '../webhooks/webhooks.ts'
import type { DeliveryJson, TestDeliveryJson, WebhookJson } from './schemas/webhook.ts'

/** Field by field, so that the secret stays out. */
export function serializeWebhook(webhooks: Webhooks, webhook: Webhook): WebhookJson {
  const { retrying, dead, failing_since } = webhooks.status(webhook.id)
  return {
    id: webhook.id,
    case_id: webhook.case_id,
    url: webhook.notify ? shownUrl(webhook.url) : webhook.url,
    ...(webhook.notify ? { notify: webhook.notify } : {}),
    events: webhook.events,
    active: webhook.active,
    disabled: webhook.disabled,
    retrying,
    dead,
    failing_since,
    created_at: webhook.created_at,
    updated_at: webhook.updated_at,
  }
}

/** `next_attempt_at` is null while the webhook is not active. */
export function serializeDelivery(
  delivery: Delivery,
  { active }: Pick<Webhook, 'active'>,
): DeliveryJson {
  const envelope = JSON.parse(delivery.envelope) as Envelope
  return {
    id: delivery.id,
    event_id: delivery.event,
    event_type: delivery.type,
    state: delivery.state,
    created_at: envelope.timestamp,
    next_attempt_at: active ? delivery.next_at : null,
    attempts: delivery.attempts.map(({ at, ms, status, error }) => ({ at, ms, status, error })),
    envelope,
  }
}

export function serializeTest(id: string, attempt: Attempt): TestDeliveryJson {
  const { status, error, ms } = attempt
  return {
    id,
    event_type: 'ping',
    delivered: isSuccess(attempt),
    status,
    error,
    ms,
  }
}
