import { PassThrough, type Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { HttpResponse, Send } from './request.ts'

/** The `app.fetch` of the HTTP side. */
export type AppFetch = (request: Request, env: object) => Response | Promise<Response>

/** The header with which `RESPONSE_ALREADY_SENT` marks a response that was written to the response of Node. */
const ALREADY_SENT = 'x-hono-already-sent'

/** Sends requests to a service in this process, without a connection. The responses are the same as over HTTP. */
export function sendInProcess(fetch: AppFetch): Send {
  return async (address, { method = 'GET', headers = {}, body, signal }) => {
    signal.throwIfAborted()
    const length = body === undefined ? {} : { 'content-length': `${Buffer.byteLength(body)}` }
    const request = new Request(address, {
      method,
      headers: { ...headers, ...length },
      body: (body ?? null) as BodyInit | null,
    })
    const streamed = new StreamedResponse()
    const response = await unlessAborted(
      Promise.resolve(fetch(request, { outgoing: streamed })),
      signal,
    )
    const isStream = response.headers.has(ALREADY_SENT)
    return isStream ? streamed.response(signal) : wholeResponse(response, signal)
  }
}

function wholeResponse(response: Response, signal: AbortSignal): HttpResponse {
  const bytes = async () =>
    Buffer.from(await unlessAborted(response.arrayBuffer() as Promise<ArrayBuffer>, signal))
  return {
    status: response.status,
    header: (name) => response.headers.get(name),
    bytes,
    text: async () => new TextDecoder().decode(await bytes()),
    async *parts() {
      yield new TextDecoder().decode(await bytes())
    },
    end: () => void response.body?.cancel(),
  }
}

/** Replaces the response of Node for the events of a session. */
class StreamedResponse extends PassThrough {
  socket = null
  statusCode = 200

  setHeader(): void {}

  writeHead(status: number): void {
    this.statusCode = status
  }

  response(signal: AbortSignal): HttpResponse {
    const stream: Readable = this
    const abort = () => void stream.destroy(signal.reason)
    signal.addEventListener('abort', abort)
    stream.once('close', () => signal.removeEventListener('abort', abort))
    return {
      status: this.statusCode,
      header: () => null,
      bytes: () => buffer(stream),
      text: () => text(stream),
      async *parts() {
        try {
          yield* stream.setEncoding('utf8') as AsyncIterable<string>
        } catch (error) {
          signal.throwIfAborted()
          if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
        }
      },
      end: () => void stream.destroy(),
    }
  }
}

/** Rejects with the signal’s reason once it is aborted. The work itself goes on. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort)
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
