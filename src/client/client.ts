import { setMaxListeners } from 'node:events'
import { Refusal } from '../model/refusal.ts'
import { refusalOf } from './problem.ts'
import { ConnectionLost, type HttpResponse, request } from './request.ts'
import {
  type ReceivedEvent,
  type StreamOptions,
  sessionStream,
  type Whereabouts,
} from './session-stream.ts'

export interface Answer {
  status: number
  etag: string | null
  // biome-ignore lint/suspicious/noExplicitAny: what an answer holds is the service's to say
  body: any
  /** The body as it came. */
  bytes: Uint8Array
}

/** A string is sent as it is, anything else as JSON, undefined is none. */
export type Body = string | object | undefined

export interface Asked {
  body?: Body
  headers?: Record<string, string>
}

export interface LastBytes {
  /** Where in the whole they begin. */
  from: number
  bytes: Uint8Array
}

/** Whoever answers requests. */
export interface Asking {
  /** What was asked for: a refusal of the service is thrown as the `Refusal` that it was there. */
  ask(method: string, path: string, asked?: Asked): Promise<Pick<Answer, 'body'>>
  /** A file as it is, such as one of the memory. */
  bytesOf(path: string): Promise<Uint8Array>
}

/** The service as any program sees it: by its address alone. */
export interface Client extends Asking {
  readonly url: string
  /** Any answer, whatever its status. Refuses with `stopping` where nobody answers. */
  exchange(method: string, path: string, asked?: Asked): Promise<Answer>
  ask(method: string, path: string, asked?: Asked): Promise<Answer>
  /** The end of a text that may be growing, at most `most` bytes of it; null where there is none yet. */
  lastBytes(path: string, most: number): Promise<LastBytes | null>
  /** A session's events from the first to the last, over restarts of the service. */
  stream(path: string, options?: StreamOptions): AsyncGenerator<ReceivedEvent>
}

/** Who sends the requests, and from where: the history of a case says so. */
export interface Sender {
  from: 'terminal' | 'mcp'
  /** If not given, the service takes its operator for it. */
  who?: string | undefined
}

/** `where.url` is asked anew for each request. All of it ends with `signal`. */
export function createClient(
  where: Whereabouts,
  signal: AbortSignal,
  sender: Sender = { from: 'terminal' },
): Client {
  setMaxListeners(0, signal) // each request has one, for as long as it takes
  /** Refuses with `stopping` where the connection, or the answer, breaks off. */
  async function answered<T>(
    method: string,
    path: string,
    asked: Asked,
    read: (response: HttpResponse) => Promise<T>,
  ): Promise<T> {
    const { url } = where
    const own = endingWith(signal)
    try {
      const headers = { ...senderHeaders(sender), ...asked.headers }
      return await read(await send(url + path, method, { ...asked, headers }, own.signal))
    } catch (cause) {
      if (!(cause instanceof ConnectionLost)) throw cause
      const message = `No service answers at ${url} any more. Start it, or try again.`
      throw new Refusal('stopping', message, { cause })
    } finally {
      own.leave()
    }
  }

  const exchange = (method: string, path: string, asked: Asked = {}): Promise<Answer> =>
    answered(method, path, asked, async (response) => {
      const bytes = await response.bytes()
      return {
        status: response.status,
        etag: response.header('etag'),
        body: bodyOf(response, new TextDecoder().decode(bytes)),
        bytes,
      }
    })

  async function ask(method: string, path: string, asked?: Asked): Promise<Answer> {
    const answer = await exchange(method, path, asked)
    if (answer.status < 400) return answer
    throw refusalOf(method, path, answer.status, answer.body)
  }

  return {
    get url() {
      return where.url
    },
    exchange,
    ask,
    bytesOf: async (path) => (await ask('GET', path)).bytes,
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
        throw refusalOf('GET', path, status, bodyOf(response, text))
      })
    },
    stream: (path, options = {}) => sessionStream(path, where, signal, options),
  }
}

/** A header takes no character above 255: a name goes as its UTF-8 bytes. */
function senderHeaders({ from, who }: Sender): Record<string, string> {
  const actor = who ? { 'casefile-actor': Buffer.from(who).toString('latin1') } : {}
  return { 'casefile-client': from, ...actor }
}

/** A signal of one request, which leaves no listener at that of them all: there may be thousands. */
function endingWith(all: AbortSignal): { signal: AbortSignal; leave(): void } {
  const own = new AbortController()
  const end = () => own.abort(all.reason)
  if (all.aborted) end()
  all.addEventListener('abort', end)
  return { signal: own.signal, leave: () => all.removeEventListener('abort', end) }
}

function bodyOf(response: HttpResponse, text: string): unknown {
  const isJson = /json/.test(response.header('content-type') ?? '')
  return isJson && text !== '' ? JSON.parse(text) : text
}

function send(
  address: string,
  method: string,
  { body, headers = {} }: Asked,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const isJson = typeof body === 'object'
  const type = isJson ? { 'content-type': 'application/json' } : {}
  return request(address, {
    ...{ method, signal, headers: { ...type, ...headers } },
    ...(body === undefined ? {} : { body: isJson ? JSON.stringify(body) : body }),
  })
}
