import { type IncomingMessage, request as requestOf } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface HttpRequest {
  method?: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  signal: AbortSignal
}

/**
 * A response whose head has arrived. Call `end` or one of the methods that read it: an unread response keeps the
 * process alive.
 */
export interface HttpResponse {
  status: number
  header(name: string): string | null
  bytes(): Promise<Buffer>
  text(): Promise<string>
  /** The text as it arrives, until it ends. */
  parts(): AsyncIterator<string>
  /** Ends the connection if it is still open. */
  end(): void
}

/** Nothing listens, or the connection broke before the whole response arrived. `cause` is the error of node:http. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

export type Send = (address: string, request: HttpRequest) => Promise<HttpResponse>

/**
 * One HTTP request. Rejects with the signal’s reason once it is aborted, and with `ConnectionLost` if the connection
 * fails, also while the response is read. Do not use the `fetch` of Node 20: if a connection breaks at the wrong
 * moment, its promise never settles and nothing keeps the process alive, so the command would end with its work
 * undone.
 */
export function httpRequest(address: string, wanted: HttpRequest): Promise<HttpResponse> {
  const { method = 'GET', headers = {}, body, signal } = wanted
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) =>
      signal.aborted
        ? signal.reason
        : new ConnectionLost(`the connection to ${address} broke`, { cause })
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const asked = requestOf(address, {
      method,
      signal,
      headers: { ...headers, ...length },
    })
    asked.on('error', (error) => reject(lost(error)))
    asked.on('response', (incoming) => resolve(responseOf(incoming, lost)))
    // bytes, because Node would encode the head as UTF-8 too for a string, and a name in a header is Latin-1
    asked.end(body === undefined ? undefined : Buffer.from(body))
  })
}

function responseOf(incoming: IncomingMessage, lost: (cause: unknown) => unknown): HttpResponse {
  async function* parts() {
    try {
      yield* incoming.setEncoding('utf8') as AsyncIterable<string>
    } catch (error) {
      throw lost(error)
    }
  }
  async function bytes() {
    try {
      return await buffer(incoming)
    } catch (error) {
      throw lost(error)
    }
  }
  return {
    status: incoming.statusCode ?? 0,
    header: (name) => (incoming.headers[name] as string | undefined) ?? null,
    bytes,
    parts,
    text: async () => new TextDecoder().decode(await bytes()),
    end: () => void incoming.destroy(),
  }
}
