import { setMaxListeners } from 'node:events'
import { AppError } from '../model/app-error.ts'
import { errorFrom } from './problem.ts'
import { ConnectionLost, type HttpRequest, type HttpResponse, httpRequest } from './request.ts'
import {
  type ReceivedEvent,
  type ServiceLocation,
  type StreamOptions,
  sessionStream,
} from './session-stream.ts'

export interface Answer {
  status: number
  etag: string | null
  /** The number of items in the whole list, if the answer is a page of it. */
  total: number | null
  /** The path of the next page of a list; null after the last. */
  next: string | null
  // biome-ignore lint/suspicious/noExplicitAny: the shape depends on the endpoint
  body: any
  /** The raw body. */
  bytes: Uint8Array
}

/** A string or bytes are sent unchanged, anything else as JSON; undefined sends no body. */
export type Body = string | object | undefined

export interface RequestOptions {
  body?: Body
  headers?: Record<string, string>
}

export interface LastBytes {
  /** The position of the first byte in the whole text. */
  from: number
  bytes: Uint8Array
}

/** The API for code that only reads. */
export interface ApiReader {
  /** Throws the service’s error as an `AppError`. */
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** The bytes of a file, such as a memory file. */
  bytesOf(path: string): Promise<Uint8Array>
}

/** The API of a service. */
export interface Client extends ApiReader {
  readonly url: string
  /** Returns any answer, whatever its status. Throws `stopping` if nothing answers. */
  rawRequest(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** The last bytes, at most `most`, of a text that may be growing; null if it does not exist yet. */
  lastBytes(path: string, most: number): Promise<LastBytes | null>
  /** All events of a session, across restarts of the service. */
  stream(path: string, options?: StreamOptions): AsyncGenerator<ReceivedEvent>
}

/** Who sends the requests, and from where; recorded in the history of a case. */
export interface Sender {
  from: 'terminal' | 'mcp'
  /** Default: the operator of the service. */
  who?: string | undefined
}

/** Reads `where` again for each request. `signal` ends all requests. */
export function createClient(
  where: ServiceLocation,
  signal: AbortSignal,
  sender: Sender = { from: 'terminal' },
): Client {
  setMaxListeners(0, signal) // each pending request adds a listener
  /** Throws `stopping` if the connection breaks before the answer is complete. */
  async function answered<T>(
    method: string,
    path: string,
    options: RequestOptions,
    read: (response: HttpResponse) => Promise<T>,
  ): Promise<T> {
    const { url, send: transport = httpRequest } = where
    const own = endingWith(signal)
    try {
      const headers = { ...senderHeaders(sender), ...options.headers }
      const request = requestOf(method, { ...options, headers }, own.signal)
      return await read(await transport(url + path, request))
    } catch (cause) {
      if (!(cause instanceof ConnectionLost)) throw cause
      const message = `No service answers at ${url} any more. Start it, or try again.`
      throw new AppError('stopping', message, { cause })
    } finally {
      own.leave()
    }
  }

  const rawRequest = (
    method: string,
    path: string,
    options: RequestOptions = {},
  ): Promise<Answer> =>
    answered(method, path, options, async (response) => {
      const bytes = await response.bytes()
      return {
        status: response.status,
        etag: response.header('etag'),
        total: numberIn(response.header('x-total-count')),
        next: /<([^<>]+)>; rel="next"/.exec(response.header('link') ?? '')?.[1] ?? null,
        body: bodyOf(response, new TextDecoder().decode(bytes)),
        bytes,
      }
    })

  async function request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
    const answer = await rawRequest(method, path, options)
    if (answer.status < 400) return answer
    throw errorFrom(method, path, answer.status, answer.body)
  }

  return {
    get url() {
      return where.url
    },
    rawRequest,
    request,
    bytesOf: async (path) => (await request('GET', path)).bytes,
    async lastBytes(path, most) {
      const headers = { range: `bytes=-${most}` }
      return answered('GET', path, { headers }, async (response) => {
        const { status } = response
        if (status === 206) {
          const [, from] = /^bytes (\d+)-/.exec(response.header('content-range') ?? '') ?? []
          return { from: Number(from), bytes: await response.bytes() }
        }
        const text = await response.text()
        if (status === 404 || status === 416) return null
        throw errorFrom('GET', path, status, bodyOf(response, text))
      })
    },
    stream(path, options = {}) {
      const ending = options.signal ? AbortSignal.any([signal, options.signal]) : signal
      return sessionStream(path, where, ending, options)
    },
  }
}

/** Header values allow no character above 255, so a name is sent as its UTF-8 bytes. */
function senderHeaders({ from, who }: Sender): Record<string, string> {
  const actor = who ? { 'casefile-actor': Buffer.from(who).toString('latin1') } : {}
  return { 'casefile-client': from, ...actor }
}

/** A signal for one request that removes its listener from the shared signal: there may be thousands. */
function endingWith(all: AbortSignal): { signal: AbortSignal; leave(): void } {
  const own = new AbortController()
  const end = () => own.abort(all.reason)
  if (all.aborted) end()
  all.addEventListener('abort', end)
  return { signal: own.signal, leave: () => all.removeEventListener('abort', end) }
}

function numberIn(header: string | null): number | null {
  return header === null ? null : Number(header)
}

function bodyOf(response: HttpResponse, text: string): unknown {
  const isJson = /json/.test(response.header('content-type') ?? '')
  return isJson && text !== '' ? JSON.parse(text) : text
}

function requestOf(
  method: string,
  { body, headers = {} }: RequestOptions,
  signal: AbortSignal,
): HttpRequest {
  const isJson = typeof body === 'object' && !(body instanceof Uint8Array)
  const type = isJson ? { 'content-type': 'application/json' } : {}
  return {
    method,
    signal,
    headers: { ...type, ...headers },
    ...(body === undefined
      ? {}
      : { body: isJson ? JSON.stringify(body) : (body as string | Uint8Array) }),
  }
}
