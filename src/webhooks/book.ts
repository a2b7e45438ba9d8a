import type { Delivery, DeliveryState } from '../model/delivery.ts'

/** The deliveries of one receiver: all that wait for a retry, and of the others the newest. */
export interface Book {
  /** Takes it in place of the one with the same id. */
  put(delivery: Delivery): void
  get(id: string): Delivery | undefined
  of(state: DeliveryState): ReadonlyMap<string, Delivery>
  /** Newest event first. */
  all(): Delivery[]
  /** The same in the order in which they are to be put into a new book. */
  kept(): Delivery[]
}

/** Of those that need nothing more; an envelope has about 300 bytes. */
const KEPT = 1000

export function createBook(found: Iterable<Delivery>): Book {
  const pages: Record<DeliveryState, Map<string, Delivery>> = {
    delivered: new Map(),
    retrying: new Map(),
    dead: new Map(),
  }

  function put(delivery: Delivery): void {
    for (const page of Object.values(pages)) page.delete(delivery.id)
    const page = pages[delivery.state]
    page.set(delivery.id, delivery)
    if (delivery.state === 'retrying' || page.size <= KEPT) return
    for (const oldest of page.keys()) {
      page.delete(oldest)
      break
    }
  }

  const kept = () => Object.values(pages).flatMap((page) => [...page.values()])

  for (const delivery of found) put(delivery)
  return {
    put,
    get: (id) => pages.delivered.get(id) ?? pages.retrying.get(id) ?? pages.dead.get(id),
    of: (state) => pages[state],
    all: () => kept().sort((a, b) => b.event - a.event),
    kept,
  }
}
