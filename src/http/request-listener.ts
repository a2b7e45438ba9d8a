import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { inspect } from 'node:util'
import { getRequestListener, type HttpBindings, RequestError } from '@hono/node-server'
import { AppError } from '../model/app-error.ts'
import { jsonBody } from './json-body.ts'
import { problemResponse } from './problem-json.ts'
import { PROTECTIVE_HEADERS } from './protective-headers.ts'
import { resolveTarget } from './request-target.ts'

type Fetch = (request: Request, env: HttpBindings) => Response | Promise<Response>

/** The request listener of node's server for an app that turns a Request into a Response. */
export function requestListener(
  fetch: Fetch,
  log: (line: string) => void,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listener = getRequestListener((request, env) => fetch(request, env as HttpBindings), {
    errorHandler: (error) => answerError(error, log),
  })
  return (incoming, outgoing) => {
    resolveTarget(incoming)
    const coding = incoming.headers['transfer-encoding']
    if (!coding || /^chunked$/i.test(coding)) void listener(incoming, outgoing)
    // in the next turn: if the body is not valid HTTP either, node has responded with 400 by then
    else setImmediate(() => answerCoding(coding, outgoing))
  }
}

/** Responds 501 to a transfer coding besides chunked (RFC 9112 §6.1). */
function answerCoding(coding: string, outgoing: ServerResponse): void {
  if (!outgoing.socket?.writable) return
  const [status, came] = [501, JSON.stringify(coding.slice(0, 100))]
  const detail = `The body has the transfer coding ${came}. Send it uncompressed, with a Content-Length or in chunks.`
  const problem = { type: 'about:blank', title: STATUS_CODES[status], status, detail }
  const headers = { ...PROTECTIVE_HEADERS, 'content-type': 'application/problem+json' }
  outgoing.writeHead(status, headers).end(jsonBody(problem))
}

/** For a request that does not reach the app: without Host, or with an invalid URL. */
function answerError(error: unknown, log: (line: string) => void): Response {
  if (error instanceof RequestError) {
    const message = `The request cannot be read: ${error.message}. Send a plain path and a Host header.`
    return problemResponse(new AppError('bad_request', message, { cause: error }))
  }
  log(`request: ${inspect(error)}`)
  return problemResponse(error)
}
