import { type IncomingMessage, request as requestOf } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface HttpRequest {
  method?: string
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal
}

/** An answer whose head has come. Call `end` or one of the methods that read it: an unread answer keeps the process alive. */
export interface HttpResponse {
  status: number
  header(name: string): string | null
  bytes(): Promise<Buffer>
  text(): Promise<string>
  /** The text as it comes, until it ends. */
  parts(): AsyncIterator<string>
  /** Ends the connection, if it has not ended. */
  end(): void
}

/** Nothing listens, or the connection broke before the whole answer had arrived; `cause` is the error of node:http. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

export type Send = (address: string, request: HttpRequest) => Promise<HttpResponse>

/**
 * One HTTP request. Rejects with the signal's reason once it is aborted, else with `ConnectionLost`, also while
 * the answer is read. `fetch` of Node 20 will not do: it forgets a request whose connection breaks at the wrong
 * moment. Its promise never settles, nothing else keeps the process alive, and the command ends with its work undone.
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
    // as bytes: with a string node would encode the head as UTF-8 too, and a name in a header is Latin-1
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
