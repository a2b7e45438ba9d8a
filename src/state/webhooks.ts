/** Tables `webhooks` and `deliveries`: registrations, cursors, and deliveries that failed and wait for a retry. */

import { existsSync } from 'node:fs'
import type { Delivery, DeliveryState, Failing } from '../model/delivery.ts'
import type { Webhook } from '../model/webhook.ts'
import type { Database, Run } from './database.ts'
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
  /** Registers it. Rejects if that cannot be stored, and does not do it later. */
  add(record: WebhookRecord): Promise<void>
  addLater(record: WebhookRecord): void
  /**
   * Saves the record and these deliveries in one transaction, and deletes the oldest finished deliveries. Does nothing
   * for a webhook that was deleted.
   */
  save(record: WebhookRecord, deliveries: readonly Delivery[], onWritten?: () => void): void
  /** Deletes the webhook with its deliveries. Rejects if that cannot be stored, and does not do it later. */
  remove(id: string): Promise<void>
  removeLater(id: string, onWritten: () => void): void
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

const ADD_WEBHOOK =
  'INSERT INTO webhooks (id, registration, cursor, failing) VALUES (?1, ?2, ?3, ?4)'
const SAVE_WEBHOOK =
  'UPDATE webhooks SET registration = ?2, cursor = ?3, failing = ?4 WHERE id = ?1'
const SAVE_DELIVERY = `
  INSERT INTO deliveries
    (webhook_id, event_id, message_id, type, envelope, state, attempts, tries, next_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE EXISTS (SELECT 1 FROM webhooks WHERE id = ?1)
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
  const saved = new WeakSet<Webhook>()
  const adding = (record: WebhookRecord) => {
    saved.add(record.webhook)
    const values = recordValues(record)
    return (run: Run) => run(ADD_WEBHOOK, ...values)
  }
  const removing = (id: string) => (run: Run) => {
    run('DELETE FROM deliveries WHERE webhook_id = ?', id)
    run('DELETE FROM webhooks WHERE id = ?', id)
  }

  return {
    all() {
      const rows = database.all<{ registration: string; cursor: number; failing: string | null }>(
        'SELECT registration, cursor, failing FROM webhooks',
      )
      return rows.map(({ registration, cursor, failing }) => {
        const webhook: Webhook = JSON.parse(registration)
        saved.add(webhook)
        return { webhook, cursor, failing: failing === null ? null : JSON.parse(failing) }
      })
    },
    add: (record) => database.attempt(adding(record)),
    addLater: (record) => database.write(adding(record)),
    save(record, deliveries, onWritten) {
      const { webhook } = record
      const values = recordValues(record)
      const rows = deliveries.map((delivery) => rowValues(webhook.id, delivery))
      const finishedStates = new Set(deliveries.map(({ state }) => state))
      finishedStates.delete('retrying')
      // a registration that changed may have lost a secret
      const write = saved.has(webhook) ? database.write : database.erase
      saved.add(webhook)
      write((run) => {
        run(SAVE_WEBHOOK, ...values)
        for (const row of rows) run(SAVE_DELIVERY, ...row)
        for (const state of finishedStates) run(DELETE_OLDEST, webhook.id, state)
      }, onWritten)
    },
    remove: (id) => database.attempt(removing(id), true),
    removeLater: (id, onWritten) => database.erase(removing(id), onWritten),
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

function recordValues({ webhook, cursor, failing }: WebhookRecord): SqlValue[] {
  return [webhook.id, JSON.stringify(webhook), cursor, failing && JSON.stringify(failing)]
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
