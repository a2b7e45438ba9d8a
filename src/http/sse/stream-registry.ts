/** An open event stream. */
interface Open {
  end(): void
}

/** The open streams of a service. */
export interface StreamRegistry {
  add(stream: Open): void
  delete(stream: Open): void
  /** Ends every open stream, and each that is opened later. Called when the service stops. */
  endAll(): void
  readonly size: number
}

export function createStreamRegistry(): StreamRegistry {
  const streams = new Set<Open>()
  let isStopping = false
  return {
    add(stream) {
      if (isStopping) stream.end()
      else streams.add(stream)
    },
    delete: (stream) => void streams.delete(stream),
    endAll() {
      isStopping = true
      for (const stream of streams) stream.end()
    },
    get size() {
      return streams.size
    },
  }
}
