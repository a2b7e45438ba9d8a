/** Delivers values from one part of the service to others in the same process. */

type Unsubscribe = () => void

/** Delivers values of one kind to all listeners, in the order of publishing. */
export interface Bus<T> {
  publish(value: T): void
  subscribe(listener: (value: T) => void): Unsubscribe
}

/** A listener that throws does not affect others: its error goes to `onError`. */
export function createBus<T>(onError: (error: unknown) => void): Bus<T> {
  const listeners = new Set<(value: T) => void>()
  return {
    publish(value) {
      for (const listener of [...listeners]) {
        try {
          listener(value)
        } catch (error) {
          onError(error)
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
