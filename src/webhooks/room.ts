import type { Book } from './book.ts'

/**
 * Room in the lists of retries, which lie in memory: without it further events wait in the log. Each
 * delivery takes some 4 KB.
 */
export interface Room {
  hasRoom(book: Book): boolean
  /** Called when a list may have become shorter: wakes all, where one was held for the sake of the total. */
  freed(): void
}

const MAX_RETRYING = 5000
const MAX_ALL_RETRYING = 20_000
/** A receiver with few has room whatever the others have. */
const FEW = 100

export function createRoom(books: () => Iterable<Book>, wakeAll: () => void): Room {
  let wasFull = false

  function isFull(): boolean {
    let sum = 0
    for (const book of books()) sum += book.of('retrying').size
    return sum >= MAX_ALL_RETRYING
  }

  return {
    hasRoom(book) {
      const { size } = book.of('retrying')
      if (size < FEW) return true
      if (size >= MAX_RETRYING) return false
      const full = isFull()
      wasFull ||= full
      return !full
    },
    freed() {
      if (!wasFull || isFull()) return
      wasFull = false
      wakeAll()
    },
  }
}
