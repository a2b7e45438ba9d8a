import type { Delivery } from '../model/delivery.ts'
import type { WebhookRecord, WebhookStore } from '../state/webhooks.ts'
import type { Clock } from './clock.ts'

/**
 * What came of attempts, until the disk has it. Outcomes and the cursor that passed them are saved in one
 * transaction, some outcomes at a time: a service that is killed sends again what was not saved.
 */
export interface Progress {
  /** Takes an outcome; `before` is the state of that delivery until now, null for a new one. */
  add(outcome: Delivery, before: Delivery['state'] | null): void
  /** Saves the record and all outcomes now. */
  save(): void
  /** Resolves once there is room for another outcome. */
  hasRoom(): Promise<void>
  readonly isFull: boolean
  /** Outcomes that are not on the disk, by event. */
  readonly unsaved: ReadonlyMap<number, Delivery>
  readonly isSaved: boolean
  /** The cursor that the disk has. */
  readonly savedCursor: number
  /** How many deliveries wait for a retry. */
  readonly retrying: number
  /** From now on nothing is saved. */
  discard(): void
}

interface ProgressDeps {
  store: WebhookStore
  clock: Clock
  onSaved(): void
}

const MAX_UNSAVED = 10
/** Fewer, so that the next request is under way while these are written. */
const SAVED_TOGETHER = MAX_UNSAVED - 1
const SAVE_MS = 20

/** Saves `record` as it is at that time. */
export function createProgress(
  record: WebhookRecord,
  { store, clock, onSaved }: ProgressDeps,
): Progress {
  const unsaved = new Map<number, Delivery>()
  /** Those of them that are not being written. */
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
