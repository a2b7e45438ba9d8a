import type { Attempt, Delivery } from '../model/delivery.ts'
import type { Webhook, WebhookChange } from '../model/webhook.ts'

export interface NewWebhook {
  case_id: string | null
  url: string
  events: readonly string[]
  /** Null: one is generated. */
  secret: string | null
  /** False for one that begins paused. */
  active?: boolean
}

export interface ReceiverStatus {
  /** Deliveries that failed and are tried again. */
  retrying: number
  /** Those that are tried no more. */
  dead: number
  /** Its next event lies behind this id in the log. */
  cursor: number
  /** Since when there was nothing but failures (ISO 8601); null while it answers. */
  failing_since: string | null
}

/** All webhooks in numbers, those of cases included. */
export interface WebhookSummary {
  active: number
  paused: number
  disabled: number
  /** Active ones with nothing but failures since some time. */
  failing: number
}

/** The registered receivers, and what is sent to them (design §5). */
export interface Webhooks {
  /** The global ones (null), or those of one case; in no order. */
  list(caseId: string | null): Webhook[]
  /** Refuses with `not_found`. */
  get(id: string): Webhook
  status(id: string): ReceiverStatus
  summary(): WebhookSummary
  /** Sent are the events from now on. Refuses a target with `bad_request`; it is sent nothing to try it. */
  add(wanted: NewWebhook): Promise<Webhook>
  change(id: string, change: WebhookChange): Promise<Webhook>
  remove(id: string): Promise<void>
  /** The webhooks of a case that was deleted get what was told of it so far, and end. */
  endOfCase(caseId: string): Promise<void>
  /** Sends a ping whatever else there is to send, but behind those pings that were asked for before. */
  test(id: string): Promise<{ id: string; attempt: Attempt }>
  /** All that wait for a retry, the newest of the delivered and of the dead; newest first. */
  deliveries(id: string): Delivery[]
  /** Refuses with `not_found`. */
  delivery(id: string, deliveryId: string): Delivery
  /** Puts it into the queue again, due now. Refuses with `not_found`, or `wrong_state` while nothing is sent. */
  redeliver(id: string, deliveryId: string): Promise<Delivery>
}
