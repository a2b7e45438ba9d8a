import { type IncomingMessage, request as requestOf } from 'node:http'
import { buffer } from 'node:stream/consumers'

export interface Wanted {
  method?: string
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal
}

/** An answer whose head has come. One of the methods that read it, or `end`, is to be called: what is not read keeps the process. */
export interface HttpResponse {
  status: number
  header(name: string): string | null
  bytes(): Promise<Buffer>
  text(): Promise<string>
  /** The text as it comes, until it ends. */
  parts(): AsyncIterator<string>
  /** No more is wanted: the connection ends, if it has not. */
  end(): void
}

/** Nobody listens, or the connection broke before all of the answer was here; `cause` is what node:http says. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

/**
 * One HTTP request. Rejects with the signal's reason once that is aborted, else with `ConnectionLost`, also while
 * the answer is read. Not by `fetch`: that of Node 20 forgets a request whose connection breaks off at a wrong
 * moment. Its promise never settles, and as nothing else keeps the process, a command ended with its work not done.
 */
export function request(address: string, wanted: Wanted): Promise<HttpResponse> {
  const { method = 'GET', headers = {}, body, signal } = wanted
  return new Promise((resolve, reject) => {
    const lost = (cause: unknown) =>
      signal.aborted
        ? signal.reason
        : new ConnectionLost(`the connection to ${address} broke`, { cause })
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    const asked = requestOf(address, { method, signal, headers: { ...headers, ...length } })
    asked.on('error', (error) => reject(lost(error)))
    asked.on('response', (incoming) => resolve(responseOf(incoming, lost)))
    // bytes: node would send the head in the encoding of a text, which is not that of a name in a header
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
    ...{ bytes, parts },
    text: async () => new TextDecoder().decode(await bytes()),
    end: () => void incoming.destroy(),
  }
}
