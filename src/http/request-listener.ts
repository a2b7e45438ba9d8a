import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { Refusal } from '../model/refusal.ts'
import { problemResponse } from './problem-json.ts'

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/** What node's server calls with each request, from what takes a Request and gives a Response. */
export function requestListener(
  fetch: Fetch,
  log: (line: string) => void,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    errorHandler: (error) => answerError(error, log),
  })
  return (incoming, outgoing) => void listener(incoming, outgoing)
}

/** A request that never became one for the app: no Host, a URL that cannot be read. */
function answerError(error: unknown, log: (line: string) => void): Response {
  if (error instanceof RequestError) {
    const message = `The request cannot be read: ${error.message}. Send a plain path and a Host header.`
    return problemResponse(new Refusal('bad_request', message, { cause: error }))
  }
  log(`request: ${inspect(error)}`)
  return problemResponse(error)
}
