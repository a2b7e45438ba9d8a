/** Tables `webhooks` and `deliveries`: registrations, cursors, and deliveries that failed and wait for a retry. */

import { existsSync } from 'node:fs'
import type { Delivery, DeliveryState, Failing } from '../model/delivery.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Database } from './database.ts'
import type { SqlValue } from './sqlite.ts'

/** A registered webhook with its cursor and state. */
export interface WebhookRecord {
  webhook: Webhook
  /** Every event up to this id was sent, is among the deliveries, or was not for this webhook. */
  cursor: number
  failing: Failing | null
}

export interface DeliveryQuery {
  /** Null means all states. */
  states: readonly DeliveryState[] | null
  /** Only events with smaller ids. */
  before: number | null
  limit: number | null
}

/** Webhooks and their deliveries. Reads see stored data; a write is stored when `onWritten` is called. */
export interface WebhookStore {
  all(): WebhookRecord[]
  /** Saves the record and these deliveries in one transaction, and deletes the oldest finished deliveries. */
  save(record: WebhookRecord, deliveries: readonly Delivery[], onWritten?: () => void): void
  /** Deletes the webhook with its deliveries. */
  remove(id: string, onWritten?: () => void): void
  /** Newest event first. */
  deliveries(id: string, query: DeliveryQuery): Delivery[]
  count(id: string, states: readonly DeliveryState[] | null): number
  delivery(id: string, messageId: string): Delivery | null
  /**
   * Deliveries due at a time (ISO 8601), the longest due first; includes those due later than `latest`, which a wrong
   * clock wrote.
   */
  due(id: string, at: { now: string; latest: string }, limit: number): Delivery[]
  /** When the next delivery is due after a time; null if there is none. */
  nextDue(id: string, after: string): string | null
  /** Resolves when everything written before is stored; rejects with the storage error. */
  flushed(): Promise<void>
  /** The storage error of the last write; null if it succeeded. */
  readonly failure: unknown
}

/** For each webhook, the newest delivered and the newest dead deliveries stay: this many of each. */
const MAX_FINISHED = 1000

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
const DELETE_OLDEST = `
  DELETE FROM deliveries WHERE webhook_id = ?1 AND state = ?2 AND event_id <= (
    SELECT event_id FROM deliveries WHERE webhook_id = ?1 AND state = ?2
    ORDER BY event_id DESC LIMIT 1 OFFSET ${MAX_FINISHED})`
const SELECT_DELIVERIES = `SELECT event_id, message_id, type, envelope, state, attempts, tries, next_at FROM deliveries`
const SELECT_DUE = `
  SELECT * FROM (${SELECT_DELIVERIES} WHERE webhook_id = ?1 AND next_at <= ?2 ORDER BY next_at, event_id LIMIT ?4)
  UNION ALL
  SELECT * FROM (${SELECT_DELIVERIES} WHERE webhook_id = ?1 AND next_at > ?3 ORDER BY next_at, event_id LIMIT ?4)`

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
  const read = (sql: string, ...values: SqlValue[]) =>
    database.all<Row>(sql, ...values).map(parseRow)
  const saved = new Map<string, Webhook>()

  return {
    all() {
      const rows = database.all<{ registration: string; cursor: number; failing: string | null }>(
        'SELECT registration, cursor, failing FROM webhooks',
      )
      return rows.map(({ registration, cursor, failing }) => {
        const webhook: Webhook = JSON.parse(registration)
        saved.set(webhook.id, webhook)
        return { webhook, cursor, failing: failing === null ? null : JSON.parse(failing) }
      })
    },
    save({ webhook, cursor, failing }, deliveries, onWritten) {
      const registration = JSON.stringify(webhook)
      const failingJson = failing && JSON.stringify(failing)
      const rows = deliveries.map((delivery) => rowValues(webhook.id, delivery))
      const finishedStates = new Set(deliveries.map(({ state }) => state))
      finishedStates.delete('retrying')
      const before = saved.get(webhook.id)
      saved.set(webhook.id, webhook)
      // a registration that changed may have lost a secret
      const write = before && before !== webhook ? database.erase : database.write
      write((run) => {
        run(SAVE_WEBHOOK, webhook.id, registration, cursor, failingJson)
        for (const row of rows) run(SAVE_DELIVERY, ...row)
        for (const state of finishedStates) run(DELETE_OLDEST, webhook.id, state)
      }, onWritten)
    },
    remove(id, onWritten) {
      saved.delete(id)
      database.erase((run) => {
        run('DELETE FROM deliveries WHERE webhook_id = ?', id)
        run('DELETE FROM webhooks WHERE id = ?', id)
      }, onWritten)
    },
    deliveries(id, { states, before, limit }) {
      const { sql, values } = whereStates(id, states)
      return read(
        `${SELECT_DELIVERIES} ${sql} AND event_id < ? ORDER BY event_id DESC LIMIT ?`,
        ...values,
        before ?? Number.MAX_SAFE_INTEGER,
        limit ?? -1,
      )
    },
    count(id, states) {
      const { sql, values } = whereStates(id, states)
      const query = `SELECT count(*) AS count FROM deliveries ${sql}`
      return database.get<{ count: number }>(query, ...values)?.count ?? 0
    },
    delivery: (id, messageId) =>
      read(
        `${SELECT_DELIVERIES} WHERE webhook_id = ? AND event_id = ?`,
        id,
        parseEventId(messageId),
      ).find((delivery) => delivery.id === messageId) ?? null,
    due: (id, { now, latest }, limit) => read(SELECT_DUE, id, now, latest, limit),
    nextDue(id, after) {
      const query =
        'SELECT min(next_at) AS next FROM deliveries WHERE webhook_id = ? AND next_at > ?'
      return database.get<{ next: string | null }>(query, id, after)?.next ?? null
    },
    flushed: () => database.flushed(),
    get failure() {
      return database.failure
    },
  }
}

function whereStates(id: string, states: readonly DeliveryState[] | null) {
  const placeholders = states?.map(() => '?').join(', ')
  const sql = `WHERE webhook_id = ?${placeholders === undefined ? '' : ` AND state IN (${placeholders})`}`
  return { sql, values: [id, ...(states ?? [])] }
}

/** Returns 42 for `evt_42_…`; for an invalid id 0, which no event has. */
function parseEventId(messageId: string): number {
  return Number(/^evt_(\d{1,15})_/.exec(messageId)?.[1] ?? 0)
}

function rowValues(webhookId: string, delivery: Delivery): SqlValue[] {
  const { event, id, type, envelope, state, attempts, tries, next_at } = delivery
  return [webhookId, event, id, type, envelope, state, JSON.stringify(attempts), tries, next_at]
}

function parseRow({ event_id, message_id, attempts, ...rest }: Row): Delivery {
  return { ...rest, id: message_id, event: event_id, attempts: JSON.parse(attempts) }
}

/** Logs a warning if webhook files of versions before 0.1 are left: they are not used any more and contain secrets. */
export function warnAboutOldWebhooks(folder: string, log: (line: string) => void): void {
  if (!existsSync(folder)) return
  log(
    `${folder} holds webhooks as Casefile kept them before, which get nothing any more: register them again (POST /webhooks), then delete the folder, as it has their secrets`,
  )
}
