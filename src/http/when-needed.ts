import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { jsonBody } from './json-body.ts'
import { problemJson } from './problem-json.ts'

/**
 * Loads what answers requests with the first that needs it: for a start that is asked for its list alone, and
 * for one that nobody asks, it is time and memory for nothing.
 */
export function whenNeeded(
  load: () => Promise<RequestListener>,
  log: (line: string) => void,
): RequestListener {
  let loaded: RequestListener | null = null
  let loading: Promise<RequestListener> | null = null

  async function answerLater(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      loading ??= load()
      loaded = await loading
    } catch (error) {
      loading = null
      log(`what answers requests cannot be loaded: ${inspect(error)}`)
      const problem = problemJson(error)
      outgoing.writeHead(problem.status, { 'content-type': 'application/problem+json' })
      outgoing.end(jsonBody(problem))
      return
    }
    loaded(incoming, outgoing)
  }

  return (incoming, outgoing) => {
    if (loaded) loaded(incoming, outgoing)
    else void answerLater(incoming, outgoing)
  }
}
