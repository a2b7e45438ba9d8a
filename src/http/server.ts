import {
  createServer,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
  type Socket,
} from 'node:net'
import { inspect } from 'node:util'
import { hasCode } from '../files/errno.ts'
import { AppError } from '../model/app-error.ts'
import { visibleText } from '../model/visible-text.ts'
import { jsonBody } from './json-body.ts'
import { problemJson } from './problem-json.ts'
import { PROTECTIVE_HEADERS } from './protective-headers.ts'

const HOSTNAME = '127.0.0.1'

export const LIMITS = {
  maxConnections: 512,
  headersMs: 15_000,
  /** For headers and body together. A response may take any time. */
  requestMs: 15_000,
  /** A client that reads nothing of its response for so long is disconnected. Streams send more often. */
  unreadMs: 120_000,
  checkEveryMs: 1_000,
  keepAliveMs: 10_000,
  /** How long running requests may take while the server closes. */
  closeMs: 5_000,
}

interface ListenOptions {
  /** 0 for any free port. */
  port: number
  /** Take the next free port if this one is in use. */
  orNext?: boolean
  log: (line: string) => void
  limits?: Partial<typeof LIMITS>
  /**
   * For a service that ends soon. On a connection that is kept open, a request could meet the end, and the client
   * could not know whether it was carried out.
   */
  oneRequestEach?: boolean
}

interface Listening {
  port: number
  url: string
  /** Whether the name `localhost` leads nowhere else: not if another program has this port of `::1`. */
  hasLocalhost: boolean
  /** Accepts no more requests, lets running ones finish within `closeMs`, then disconnects the rest. */
  close(): Promise<void>
}

/** Listens on loopback only, with IPv6 if there is one. Throws `already_active` if the port is taken. */
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
  // With a limit, node drops further headers silently, even a second Host; 16 KiB limit them anyway.
  server.maxHeadersCount = 0
  if (options.oneRequestEach) server.maxRequestsPerSocket = 1
  server.on('clientError', answerClientError)
  // Unknown expectations may be ignored (RFC 9110 §10.1.1); node would respond with 417, without a body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  await (options.orNext ? bindNext(server, options.port) : bind(server, options.port))
  server.on('error', (error) => log(`server: ${inspect(error)}`))

  const { port } = server.address() as AddressInfo
  // as node's own does
  const six = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    server.emit('connection', socket),
  )
  six.maxConnections = limits.maxConnections
  const hasLocalhost = await bindSix(six, port)
  six.on('error', (error) => log(`server: ${inspect(error)}`))
  let closed: Promise<void> | undefined
  return {
    port,
    url: `http://${HOSTNAME}:${port}`,
    hasLocalhost,
    close: () => (closed ??= close(server, six, limits.closeMs)),
  }
}

/** Browsers try `::1` first for `localhost`. False if another program has it. True without IPv6. */
function bindSix(server: NetServer, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve(hasCode(error, 'EADDRNOTAVAIL', 'EAFNOSUPPORT'))
    server.once('error', fail)
    server.listen({ host: '::1', port, ipv6Only: true }, () => {
      server.off('error', fail)
      resolve(true)
    })
  })
}

/** How many ports are tried before the first one's error is the answer. */
const NEXT_PORTS = 100

async function bindNext(server: Server, first: number): Promise<void> {
  const last = Math.min(first + NEXT_PORTS, 65_535)
  for (let port = first; port <= last; port++) {
    if (await tryBind(server, port)) return
  }
  await bind(server, first)
}

async function bind(server: Server, port: number): Promise<void> {
  if (await tryBind(server, port)) return
  throw new AppError('already_active', await portMessage(port))
}

/** False if the port is in use. */
function tryBind(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => {
      if (hasCode(error, 'EADDRINUSE')) resolve(false)
      else reject(error)
    }
    server.once('error', fail)
    server.listen(port, HOSTNAME, () => {
      server.off('error', fail)
      resolve(true)
    })
  })
}

/** Answers a request that nothing else can answer. */
export function answerProblem(
  outgoing: ServerResponse,
  error: unknown,
  log: (line: string) => void,
): void {
  log(`server: ${inspect(error)}`)
  const problem = problemJson(error)
  const headers = { ...PROTECTIVE_HEADERS, 'content-type': 'application/problem+json' }
  outgoing.writeHead(problem.status, headers).end(jsonBody(problem))
}

const ASK_MS = 2_000

/** Says who has the port if that is a Casefile. */
async function portMessage(port: number): Promise<string> {
  const url = `http://${HOSTNAME}:${port}`
  const other = await otherCasefile(`${url}/health`).catch(() => null)
  const [who, what] =
    other === null
      ? ['', 'Stop the program that listens there']
      : [` Another Casefile serves the workspace ${other} there: ${url}.`, 'Use that one, stop it']
  return `Port ${port} of ${HOSTNAME} is in use.${who} ${what}, or choose another port with --port (--port 0 takes any free one).`
}

async function otherCasefile(address: string): Promise<string | null> {
  const response = await fetch(address, { signal: AbortSignal.timeout(ASK_MS) })
  const { status, workspace }: { status?: unknown; workspace?: unknown } =
    (await response.json()) as object
  const isCasefile = response.ok && status === 'ok' && typeof workspace === 'string'
  return isCasefile ? JSON.stringify(visibleText(workspace.slice(0, 200))) : null
}

async function close(server: Server, six: NetServer, withinMs: number): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), withinMs)
  // a connection whose request ends now would be kept alive, and the close would wait for it
  const sweep = setInterval(() => server.closeIdleConnections(), 20)
  // the only possible error is that it was not listening
  const closing = [server, six].map(
    (each) => new Promise<void>((resolve) => each.close(() => resolve())),
  )
  await Promise.all(closing)
  clearTimeout(cut)
  clearInterval(sweep)
}

const CLIENT_ERROR_STATUS: Readonly<Record<string, number>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_HEADER_OVERFLOW: 431,
}

const CLIENT_ERROR_DETAIL: Readonly<Record<number, string>> = {
  400: 'The request is not valid HTTP. Percent-encode characters in the path that are not ASCII.',
  408: 'The request did not arrive in time. Send it again.',
  413: 'The request is too large.',
  431: 'The headers are too large. Send fewer or shorter headers.',
  501: 'The method is unknown.',
}

/** Whether it is a valid request line with a method that node does not know. */
function isUnknownMethod({ code, rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }) {
  if (code !== 'HPE_INVALID_METHOD' || !rawPacket) return false
  return /^(?:\r?\n)*[!#$%&'*+.^_`|~\w-]{1,40} [^\s]+ HTTP\/1\.[01]\r?\n/.test(
    rawPacket.toString('latin1'),
  )
}

/** How long what a client sends after its error is read: closing earlier would reset the connection, and the client lose the response. */
const LINGER_MS = 5_000
const lingering = new WeakSet<Socket>()

/** Responds once to invalid HTTP, or to a request that came too slowly, and closes the connection. */
function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (lingering.has(socket)) return
  const answer = (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage
  // the bytes follow a whole request that is being carried out: it gets its own response
  if (answer?.req.complete && !answer.headersSent && socket.writable) {
    answer.shouldKeepAlive = false
    return
  }
  // as node's own handler does: a response that has begun is cut short, never mixed with a second one
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent) {
    socket.destroy()
    return
  }
  const status = isUnknownMethod(error) ? 501 : (CLIENT_ERROR_STATUS[error.code ?? ''] ?? 400)
  const title = STATUS_CODES[status]
  const detail = CLIENT_ERROR_DETAIL[status]
  const body = jsonBody({ type: 'about:blank', title, status, detail })
  const head = [
    `HTTP/1.1 ${status} ${title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(PROTECTIVE_HEADERS).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ]
  lingering.add(socket)
  const cut = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(cut))
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
