/** Tables `webhooks` and `deliveries`: registrations, and for each of them the events that it gets and got. */

import type { Delivery, DeliveryState, Failing } from '../model/delivery.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Database, Run } from './database.ts'
import type { SqlValue } from './sqlite.ts'

export interface WebhookRow {
  webhook: Webhook
  failing: Failing | null
}

/** An event that waits for its first attempt. */
export interface QueuedEvent {
  id: number
  type: string
  envelope: string
}

/** A delivery before an attempt and after it. */
export interface Outcome {
  before: Delivery
  after: Delivery
}

export interface DeliveryQuery {
  /** Null means all states. */
  states: readonly DeliveryState[] | null
  /** Only events with smaller ids. */
  before: number | null
  limit: number | null
}

/** Reads what is stored. */
export interface WebhookStore {
  all(): WebhookRow[]
  /** The oldest events of the queue. */
  queued(id: string, limit: number): QueuedEvent[]
  /** Newest event first. */
  deliveries(id: string, query: DeliveryQuery): Delivery[]
  count(id: string, states: readonly (DeliveryState | 'queued')[]): number
  delivery(id: string, messageId: string): Delivery | null
  /**
   * Deliveries due at a time (ISO 8601), the longest due first; includes those due later than `latest`, which a wrong
   * clock wrote.
   */
  due(id: string, at: { now: string; latest: string }, limit: number): Delivery[]
  /** When the next delivery is due after a time; null if there is none. */
  nextDue(id: string, after: string): string | null
}

/** For each webhook, the newest delivered and the newest dead deliveries stay: this many of each. */
const MAX_FINISHED = 1000

const QUEUE = `
  INSERT INTO deliveries (webhook_id, event_id, message_id, type, envelope, state, attempts, tries)
  SELECT ?1, id, '', type, envelope, 'queued', '[]', 0`
const QUEUE_EVENT = `${QUEUE} FROM (SELECT ?2 AS id, ?3 AS type, ?4 AS envelope)
  WHERE EXISTS (SELECT 1 FROM webhooks WHERE id = ?1)`
const QUEUE_EARLIER = `${QUEUE} FROM events WHERE id > ?2 AND type = ?3`
/** Only if nothing has changed it during the attempt, as a redelivery does. */
const SAVE_OUTCOME = `
  UPDATE deliveries SET message_id = ?4, state = ?5, attempts = ?6, tries = ?7, next_at = ?8
  WHERE webhook_id = ?1 AND event_id = ?2 AND next_at IS ?3`
const DELETE_OLDEST = `
  DELETE FROM deliveries WHERE webhook_id = ?1 AND state = ?2 AND event_id <= (
    SELECT event_id FROM deliveries WHERE webhook_id = ?1 AND state = ?2
    ORDER BY event_id DESC LIMIT 1 OFFSET ?3)`

export function addWebhook(run: Run, record: WebhookRow): void {
  run('INSERT INTO webhooks (id, registration, failing) VALUES (?, ?, ?)', ...recordValues(record))
}

export function updateWebhook(run: Run, record: WebhookRow): void {
  const values = recordValues(record)
  run('UPDATE webhooks SET registration = ?2, failing = ?3 WHERE id = ?1', ...values)
}

export function removeWebhook(run: Run, id: string): void {
  run('DELETE FROM deliveries WHERE webhook_id = ?', id)
  run('DELETE FROM webhooks WHERE id = ?', id)
}

/** Queues an event for a webhook, unless that was removed. */
export function queueEvent(run: Run, id: string, event: QueuedEvent): void {
  run(QUEUE_EVENT, id, event.id, event.type, event.envelope)
}

/** Queues the events of a type after an id that are in the log already. */
export function queueEarlierEvents(run: Run, id: string, after: number, type: string): void {
  run(QUEUE_EARLIER, id, after, type)
}

/** Drops the oldest queued events but for so many. */
export function limitQueue(run: Run, id: string, keep: number): void {
  run(DELETE_OLDEST, id, 'queued', keep)
}

/** Saves what came of attempts, and deletes the oldest finished deliveries. */
export function saveOutcomes(
  run: Run,
  id: string,
  outcomes: readonly Outcome[],
  failing: Failing | null,
): void {
  for (const { before, after } of outcomes) {
    const { event, state, attempts, tries, next_at } = after
    const values = [after.id, state, JSON.stringify(attempts), tries, next_at]
    run(SAVE_OUTCOME, id, event, before.next_at, ...values)
  }
  for (const state of new Set(outcomes.map(({ after }) => after.state))) {
    if (state !== 'retrying') run(DELETE_OLDEST, id, state, MAX_FINISHED)
  }
  const text = failing && JSON.stringify(failing)
  run('UPDATE webhooks SET failing = ?2 WHERE id = ?1 AND failing IS NOT ?2', id, text)
}

export function requeueDelivery(run: Run, id: string, { event, next_at }: Delivery): void {
  run(
    `UPDATE deliveries SET state = 'retrying', tries = 0, next_at = ? WHERE webhook_id = ? AND event_id = ?`,
    next_at,
    id,
    event,
  )
}

const DELIVERIES = `
  SELECT event_id, message_id, type, envelope, state, attempts, tries, next_at FROM deliveries
  WHERE webhook_id = ?1`
const DUE = `
  SELECT * FROM (${DELIVERIES} AND next_at <= ?2 ORDER BY next_at, event_id LIMIT ?4)
  UNION ALL
  SELECT * FROM (${DELIVERIES} AND next_at > ?3 ORDER BY next_at, event_id LIMIT ?4)`

interface Row {
  event_id: number
  message_id: string
  type: string
  envelope: string
  state: DeliveryState
  attempts: string
  tries: number
  next_at: string | null
}

export function createWebhookStore(database: Pick<Database, 'all' | 'get'>): WebhookStore {
  const read = (sql: string, ...values: SqlValue[]) =>
    database.all<Row>(sql, ...values).map(parseRow)

  return {
    all: () =>
      database
        .all<{ registration: string; failing: string | null }>(
          'SELECT registration, failing FROM webhooks',
        )
        .map(({ registration, failing }) => ({
          webhook: JSON.parse(registration),
          failing: failing === null ? null : JSON.parse(failing),
        })),
    queued: (id, limit) =>
      database.all(
        `SELECT event_id AS id, type, envelope FROM deliveries
         WHERE webhook_id = ? AND state = 'queued' ORDER BY event_id LIMIT ?`,
        id,
        limit,
      ),
    deliveries(id, { states, before, limit }) {
      const which = states ? `IN (${states.map((state) => `'${state}'`)})` : `<> 'queued'`
      return read(
        `${DELIVERIES} AND state ${which} AND event_id < ?2 ORDER BY event_id DESC LIMIT ?3`,
        id,
        before ?? Number.MAX_SAFE_INTEGER,
        limit ?? -1,
      )
    },
    count(id, states) {
      const query = `SELECT count(*) AS count FROM deliveries WHERE webhook_id = ? AND state IN (${states.map(() => '?')})`
      return database.get<{ count: number }>(query, id, ...states)?.count ?? 0
    },
    delivery: (id, messageId) =>
      read(`${DELIVERIES} AND event_id = ?2`, id, parseEventId(messageId)).find(
        (delivery) => delivery.id === messageId,
      ) ?? null,
    due: (id, { now, latest }, limit) => read(DUE, id, now, latest, limit),
    nextDue(id, after) {
      const query =
        'SELECT min(next_at) AS next FROM deliveries WHERE webhook_id = ? AND next_at > ?'
      return database.get<{ next: string | null }>(query, id, after)?.next ?? null
    },
  }
}

/** Returns 42 for `evt_42_…`; for an invalid id 0, which no event has. */
function parseEventId(messageId: string): number {
  return Number(/^evt_(\d{1,15})_/.exec(messageId)?.[1] ?? 0)
}

function recordValues({ webhook, failing }: WebhookRow): SqlValue[] {
  return [webhook.id, JSON.stringify(webhook), failing && JSON.stringify(failing)]
}

function parseRow({ event_id, message_id, attempts, ...rest }: Row): Delivery {
  return { ...rest, id: message_id, event: event_id, attempts: JSON.parse(attempts) }
}
