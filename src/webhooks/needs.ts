/** What the parts of webhook delivery ask of each other and of the world. */

import type { Attempt } from '../model/delivery.ts'

/** One request to a receiver. */
export interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Ends it early; the attempt is then void, not failed: the promise rejects. */
  signal: AbortSignal
}

export interface Sender {
  /** Never rejects for what a receiver or the network does: that is in the attempt. */
  send(post: Post): Promise<Attempt>
  /** Closes the idle connections. */
  close(): void
}

/** Time, so that tests need not wait for it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number
  /** Calls once, after so many milliseconds; does not keep the process alive. Gives the way to cancel it. */
  later(ms: number, call: () => void): () => void
}
