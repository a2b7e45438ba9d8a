import type { Delivery } from '../model/delivery.ts'
import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import type { Clock } from './clock.ts'

/**
 * Collects outcomes of attempts and writes them to the database in small batches. Outcomes and the cursor that passed
 * them are saved in one transaction. A killed service sends unsaved deliveries again.
 */
export interface Progress {
  /** Adds an outcome. `before` is the delivery's state until now; null for a new delivery. */
  add(outcome: Delivery, before: Delivery['state'] | null): void
  /** Saves the webhook's record and all outcomes now. */
  save(): void
  /** Resolves when another outcome can be added. */
  hasRoom(): Promise<void>
  readonly isFull: boolean
  /** Outcomes that are not saved yet, by event. */
  readonly unsaved: ReadonlyMap<number, Delivery>
  readonly isSaved: boolean
  /** The cursor as last saved. */
  readonly savedCursor: number
  /** How many deliveries wait for a retry. */
  readonly retrying: number
  /** Saves nothing from now on. */
  discard(): void
}

interface ProgressDeps {
  store: WebhookStore
  clock: Clock
  onSaved(): void
}

const MAX_UNSAVED = 10
/** One fewer, so that the next request is sent while these are written. */
const SAVED_TOGETHER = MAX_UNSAVED - 1
const SAVE_MS = 20

/** Each save writes `record` with its values at that time. */
export function createProgress(
  record: WebhookRecord,
  { store, clock, onSaved }: ProgressDeps,
): Progress {
  const unsaved = new Map<number, Delivery>()
  /** Outcomes for the next save; excludes those being written. */
  let next = new Map<number, Delivery>()
  let writing = 0
  let savedCursor = record.cursor
  let retrying = store.count(record.webhook.id, ['retrying'])
  let cancelSave: (() => void) | null = null
  let isDiscarded = false
  let onRoom = () => {}

  function add(outcome: Delivery, before: Delivery['state'] | null): void {
    if (before === 'retrying') retrying--
    if (outcome.state === 'retrying') retrying++
    unsaved.set(outcome.event, outcome)
    next.set(outcome.event, outcome)
    if (next.size >= SAVED_TOGETHER) save()
    else cancelSave ??= clock.later(SAVE_MS, save)
  }

  function save(): void {
    cancelSave?.()
    cancelSave = null
    if (isDiscarded) return
    const { cursor } = record
    const outcomes = [...next.values()]
    next = new Map()
    writing++
    store.save(record, outcomes, () => {
      writing--
      savedCursor = cursor
      for (const outcome of outcomes) {
        if (unsaved.get(outcome.event) === outcome) unsaved.delete(outcome.event)
      }
      onRoom()
      onSaved()
    })
  }

  return {
    add,
    save,
    async hasRoom() {
      while (unsaved.size >= MAX_UNSAVED) {
        await new Promise<void>((resolve) => {
          onRoom = resolve
        })
      }
    },
    unsaved,
    get isFull() {
      return unsaved.size >= MAX_UNSAVED
    },
    get isSaved() {
      return unsaved.size === 0 && writing === 0
    },
    get savedCursor() {
      return savedCursor
    },
    get retrying() {
      return retrying
    },
    discard() {
      isDiscarded = true
    },
  }
}
