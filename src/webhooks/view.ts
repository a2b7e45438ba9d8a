import { notKept, unknownWebhook } from './refusals.ts'
import type { Registered } from './registered.ts'
import type { Webhooks } from './webhooks.ts'

type View = Pick<Webhooks, 'list' | 'get' | 'status' | 'summary' | 'deliveries' | 'delivery'>

/** What can be asked about webhooks. Those of deleted cases, which are about to end, are not seen. */
export function viewOf(
  all: ReadonlyMap<string, Registered>,
): View & { find(id: string): Registered } {
  /** Refuses with `not_found`. */
  function find(id: string): Registered {
    const each = all.get(id)
    if (each && each.webhook.ends_after === null) return each
    throw unknownWebhook(id)
  }

  return {
    find,
    list: (caseId) =>
      [...all.values()]
        .map(({ webhook }) => webhook)
        .filter(({ case_id, ends_after }) => case_id === caseId && ends_after === null),
    get: (id) => find(id).webhook,
    status(id) {
      const { book, receiver } = find(id)
      const { cursor, failing } = receiver.progress()
      const [retrying, dead] = [book.of('retrying').size, book.of('dead').size]
      return { retrying, dead, cursor, failing_since: failing?.since ?? null }
    },
    summary() {
      const each = [...all.values()].filter(({ webhook }) => webhook.ends_after === null)
      const disabled = each.filter(({ webhook }) => webhook.disabled).length
      const on = each.filter(({ webhook }) => webhook.active)
      const failing = on.filter(({ receiver }) => receiver.progress().failing).length
      const paused = each.length - on.length - disabled
      return { active: on.length, paused, disabled, failing }
    },
    deliveries: (id) => find(id).book.all(),
    delivery(id, deliveryId) {
      const delivery = find(id).book.get(deliveryId)
      if (delivery) return delivery
      throw notKept(id, deliveryId)
    },
  }
}
