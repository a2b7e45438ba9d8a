import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { inspect } from 'node:util'
import { AppError } from '../model/app-error.ts'
import { jsonBody } from './json-body.ts'

const HOSTNAME = '127.0.0.1'

export const LIMITS = {
  maxConnections: 512,
  headersMs: 15_000,
  /** For headers and body together; an answer may take as long as it likes. */
  requestMs: 15_000,
  /** A client that takes nothing of its answer for so long is cut; streams send more often. */
  unreadMs: 120_000,
  checkEveryMs: 1_000,
  keepAliveMs: 10_000,
  /** How long running requests may take once the server is closing. */
  closeMs: 5_000,
}

interface ListenOptions {
  /** 0 for any free one. */
  port: number
  log: (line: string) => void
  limits?: Partial<typeof LIMITS>
  /**
   * For a service that soon ends: a request on a connection that was kept open would meet its end, and nobody
   * could say whether it was carried out.
   */
  oneRequestEach?: boolean
}

interface Listening {
  port: number
  url: string
  /** Takes no more requests, lets the running ones finish for a while, then cuts what is left. */
  close(): Promise<void>
}

/** Listens on loopback only. Refuses with `already_active` when the port is taken. */
export async function listen(
  listener: RequestListener,
  options: ListenOptions,
): Promise<Listening> {
  const limits = { ...LIMITS, ...options.limits }
  const { log } = options
  const server = createServer(
    {
      requireHostHeader: true,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: limits.keepAliveMs,
    },
    listener,
  )
  server.maxConnections = limits.maxConnections
  server.timeout = limits.unreadMs
  // Beyond a number node drops headers without a word, a second Host among them; 16 KiB bound them anyway.
  server.maxHeadersCount = 0
  if (options.oneRequestEach) server.maxRequestsPerSocket = 1
  server.on('clientError', answerClientError)
  // An expectation that we do not know may be ignored (RFC 9110 §10.1.1); node would answer 417, bare.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await bind(server, options.port)
  server.on('error', (error) => log(`server: ${inspect(error)}`))

  const { port } = server.address() as AddressInfo
  let closed: Promise<void> | undefined
  return {
    port,
    url: `http://${HOSTNAME}:${port}`,
    close: () => (closed ??= close(server, limits.closeMs)),
  }
}

function bind(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE') return reject(error)
      const message = `Port ${port} of ${HOSTNAME} is in use. Stop what listens there, or choose another port with --port (--port 0 takes any free one).`
      reject(new AppError('already_active', message, { cause: error }))
    }
    server.once('error', fail)
    server.listen(port, HOSTNAME, () => {
      server.off('error', fail)
      resolve()
    })
  })
}

function close(server: Server, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), withinMs)
    // A connection whose request ends now would be kept alive, and the close waits for it.
    const sweep = setInterval(() => server.closeIdleConnections(), 20)
    // The only error is that it was not listening, and then it is closed as well.
    server.close(() => {
      clearTimeout(cut)
      clearInterval(sweep)
      resolve()
    })
  })
}

const CLIENT_ERROR_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}

/** A request line in good order, with a method that node does not know. */
function isUnknownMethod({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }) {
  if (code !== 'HPE_INVALID_METHOD' || !rawPacket) return false
  return /^(?:\r?\n)*[!#$%&'*+.^_`|~\w-]{1,40} [^\s]+ HTTP\/1\.[01]\r?\n/.test(
    rawPacket.toString('latin1'),
  )
}

/** Bytes that are no HTTP request, or one that came too slowly: one answer, then the end. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  const answer = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage
  // The bytes follow a whole request, which is being carried out: its own answer tells what came of it.
  if (answer?.req.complete && !answer.headersSent && socket.writable) {
    answer.shouldKeepAlive = false
    return
  }
  // As node's own handler does: an answer under way is cut short, never mixed with a second one.
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent) {
    socket.destroy()
    return
  }
  const status = isUnknownMethod(error) ? 501 : (CLIENT_ERROR_STATUS[error.code ?? ''] ?? 400)
  const title = STATUS_CODES[status]
  const body = jsonBody({ type: 'about:blank', title, status })
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
