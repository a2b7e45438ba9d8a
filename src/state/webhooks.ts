/** Tables `webhooks` and `deliveries`: registrations, cursors, and deliveries that failed and wait for a retry. */

import { existsSync } from 'node:fs'
import type { Delivery, DeliveryState, Failing } from '../model/delivery.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Database } from './database.ts'
import type { SqlValue } from './sqlite.ts'

/** A registration, and how far its receiver has come. */
export interface WebhookRecord {
  webhook: Webhook
  /** The id in the event log up to which every event was sent, is among the deliveries, or was not for it. */
  cursor: number
  failing: Failing | null
}

export interface DeliveryQuery {
  /** All states where it is null. */
  states: readonly DeliveryState[] | null
  /** Only events with smaller ids. */
  before: number | null
  limit: number | null
}

/** Webhooks and their deliveries. A read sees what is on the disk; a write is on the disk when `onWritten` is called. */
export interface WebhookStore {
  all(): WebhookRecord[]
  /** Saves the record and these deliveries in one transaction, and forgets the oldest of those that have ended. */
  save(record: WebhookRecord, deliveries: readonly Delivery[], onWritten?: () => void): void
  /** Deletes the webhook with its deliveries. */
  remove(id: string, onWritten?: () => void): void
  /** Newest event first. */
  deliveries(id: string, query: DeliveryQuery): Delivery[]
  count(id: string, states: readonly DeliveryState[] | null): number
  delivery(id: string, messageId: string): Delivery | null
  /** What is due at a time (ISO 8601), the longest due first; also what is not due before `latest`. */
  due(id: string, at: { now: string; latest: string }, limit: number): Delivery[]
  /** When the first delivery is due after a time; null if there is none. */
  nextDue(id: string, after: string): string | null
  /** Resolves when all that was written before is on the disk; rejects with the storage refusal. */
  flushed(): Promise<void>
  /** The storage refusal of the last write; null while all is well. */
  readonly failure: unknown
}

/** How many of the delivered, and of the dead, stay for each webhook. */
const KEPT = 1000

const SAVE_WEBHOOK = `
  INSERT INTO webhooks (id, registration, cursor, failing) VALUES (?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET
    registration = excluded.registration, cursor = excluded.cursor, failing = excluded.failing`
const SAVE_DELIVERY = `
  INSERT INTO deliveries
    (webhook_id, event_id, message_id, type, envelope, state, attempts, tries, next_at)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (webhook_id, event_id) DO UPDATE SET
    state = excluded.state, attempts = excluded.attempts, tries = excluded.tries, next_at = excluded.next_at`
const FORGET_OLDEST = `
  DELETE FROM deliveries WHERE webhook_id = ?1 AND state = ?2 AND event_id <= (
    SELECT event_id FROM deliveries WHERE webhook_id = ?1 AND state = ?2
    ORDER BY event_id DESC LIMIT 1 OFFSET ${KEPT})`
const READ = `SELECT event_id, message_id, type, envelope, state, attempts, tries, next_at FROM deliveries`
const DUE = `
  SELECT * FROM (${READ} WHERE webhook_id = ?1 AND next_at <= ?2 ORDER BY next_at, event_id LIMIT ?4)
  UNION ALL
  SELECT * FROM (${READ} WHERE webhook_id = ?1 AND next_at > ?3 ORDER BY next_at, event_id LIMIT ?4)`

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

export function createWebhookStore(database: Database): WebhookStore {
  const read = (sql: string, ...values: SqlValue[]) => database.all<Row>(sql, ...values).map(parse)

  return {
    all: () =>
      database
        .all<{ registration: string; cursor: number; failing: string | null }>(
          'SELECT registration, cursor, failing FROM webhooks',
        )
        .map(({ registration, cursor, failing }) => ({
          webhook: JSON.parse(registration),
          cursor,
          failing: failing === null ? null : JSON.parse(failing),
        })),
    save({ webhook, cursor, failing }, deliveries, onWritten) {
      const registration = JSON.stringify(webhook)
      const since = failing && JSON.stringify(failing)
      const rows = deliveries.map((delivery) => valuesOf(webhook.id, delivery))
      const ended = new Set(deliveries.map(({ state }) => state))
      ended.delete('retrying')
      database.write((run) => {
        run(SAVE_WEBHOOK, webhook.id, registration, cursor, since)
        for (const row of rows) run(SAVE_DELIVERY, ...row)
        for (const state of ended) run(FORGET_OLDEST, webhook.id, state)
      }, onWritten)
    },
    remove(id, onWritten) {
      database.write((run) => {
        run('DELETE FROM deliveries WHERE webhook_id = ?', id)
        run('DELETE FROM webhooks WHERE id = ?', id)
      }, onWritten)
    },
    deliveries(id, { states, before, limit }) {
      const { sql, values } = inStates(id, states)
      return read(
        `${READ} ${sql} AND event_id < ? ORDER BY event_id DESC LIMIT ?`,
        ...values,
        before ?? Number.MAX_SAFE_INTEGER,
        limit ?? -1,
      )
    },
    count(id, states) {
      const { sql, values } = inStates(id, states)
      const query = `SELECT count(*) AS count FROM deliveries ${sql}`
      return database.get<{ count: number }>(query, ...values)?.count ?? 0
    },
    delivery: (id, messageId) =>
      read(`${READ} WHERE webhook_id = ? AND event_id = ?`, id, eventId(messageId)).find(
        (delivery) => delivery.id === messageId,
      ) ?? null,
    due: (id, { now, latest }, limit) => read(DUE, id, now, latest, limit),
    nextDue(id, after) {
      const query =
        'SELECT min(next_at) AS next FROM deliveries WHERE webhook_id = ? AND next_at > ?'
      return database.get<{ next: string | null }>(query, id, after)?.next ?? null
    },
    flushed: database.flushed,
    get failure() {
      return database.failure
    },
  }
}

function inStates(id: string, states: readonly DeliveryState[] | null) {
  const marks = states?.map(() => '?').join(', ')
  const sql = `WHERE webhook_id = ?${marks === undefined ? '' : ` AND state IN (${marks})`}`
  return { sql, values: [id, ...(states ?? [])] }
}

/** The number in `evt_42_…`; 0, which is none, for what is no id of a delivery. */
function eventId(messageId: string): number {
  return Number(/^evt_(\d{1,15})_/.exec(messageId)?.[1] ?? 0)
}

function valuesOf(webhookId: string, delivery: Delivery): SqlValue[] {
  const { event, id, type, envelope, state, attempts, tries, next_at } = delivery
  return [webhookId, event, id, type, envelope, state, JSON.stringify(attempts), tries, next_at]
}

function parse({ event_id, message_id, attempts, ...rest }: Row): Delivery {
  return { ...rest, id: message_id, event: event_id, attempts: JSON.parse(attempts) }
}

/** Before release 0.1 webhooks were files: they are not read any more, and contain secrets. */
export function mentionOldWebhooks(folder: string, log: (line: string) => void): void {
  if (!existsSync(folder)) return
  log(
    `${folder} holds webhooks as Casefile kept them before, which get nothing any more: register them again (POST /webhooks), then delete the folder, as it has their secrets`,
  )
}
