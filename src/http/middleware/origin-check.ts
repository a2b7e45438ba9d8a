import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../model/app-error.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import { problemResponse } from '../problem-json.ts'
import { PROTECTIVE_HEADERS } from '../protective-headers.ts'
import { type ErrorPage, errorResponse, PAGE_HEADERS } from './error-format.ts'

/**
 * Rejects requests from other web sites; must run before everything else. A page of another site can send requests
 * to a loopback port, with DNS rebinding even under its own name. So `Host` must be a loopback name, and `Origin` that
 * host. The port may be another, as ssh, editors and containers forward ports. A name such as `x.localhost` is no
 * loopback name: some resolvers ask the network for it. No response has a CORS header. A person who follows a link from
 * another site gets `page`, which they can read.
 */
export function originCheck(
  port: () => number,
  { page, hasLocalhost = () => true }: Options = {},
): MiddlewareHandler<ServiceEnv> {
  return (c, next) => {
    // Set on node's response, where a route can override them: a Headers object would double the cost of a request.
    for (const [name, value] of DEFAULT_HEADERS) c.env?.outgoing?.setHeader(name, value)
    const objection =
      findObjection(c, port()) ?? (hasLocalhost() ? null : findOtherLocalhost(c, port()))
    if (objection === null) return next()
    return reject(c, objection, hasLocalhost() ? page : undefined)
  }
}

interface Options {
  page?: ErrorPage | undefined
  hasLocalhost?: (() => boolean) | undefined
}

/** A page from the program that has `[::1]` at our port would be the console's origin, and could approve. */
function findOtherLocalhost(c: ServiceContext, port: number): string | null {
  const host = c.env?.incoming?.headers.host ?? c.req.header('host') ?? ''
  const isOther = /^(?:localhost|\[::1\]):/i.test(host) && host.endsWith(`:${port}`)
  return isOther
    ? `Another program listens on [::1]:${port}, so http://${host} is not this service alone. Use http://127.0.0.1:${port}.`
    : null
}

/**
 * The headers of every response, unless its route overrides them. Not no-store: a client should cache the response,
 * and revalidate it with its ETag.
 */
const DEFAULT_HEADERS = [
  ...Object.entries(PROTECTIVE_HEADERS),
  ['cache-control', 'no-cache'],
  ['vary', PAGE_HEADERS],
] as const

async function reject(
  c: ServiceContext,
  objection: string,
  page: ErrorPage | undefined,
): Promise<Response> {
  const error = new AppError('forbidden', objection)
  const host = c.req.header('host') ?? ''
  // a page under a host name that is not ours could be read by its site
  if (loopbackAuthority(host) === null) return problemResponse(error)
  const query = /\?[^#]*/.exec(c.req.url)?.[0] ?? ''
  return errorResponse(c, error, { page, retryUrl: `http://${host}${c.req.path}${query}` })
}

/** Returns why the request is rejected; null if it is not. */
function findObjection(c: ServiceContext, port: number): string | null {
  const incoming = c.env?.incoming
  const address = `http://127.0.0.1:${port}`
  if (incoming !== undefined) {
    const hosts = countHosts(incoming.rawHeaders)
    if (hosts !== 1) {
      return `The request has ${hosts} Host headers. Send exactly one, as every browser and curl do.`
    }
    if (!incoming.url?.startsWith('/')) {
      return `The request target ${quoted(incoming.url ?? '')} is not a path. Send requests to ${address} directly, not through a proxy.`
    }
  }

  // node's headers are there already; those of the Request would have to be built
  const header = (name: string) =>
    incoming ? incoming.headers[name]?.toString() : c.req.header(name)
  const host = header('host')
  if (host !== undefined && loopbackAuthority(host) === null) {
    return `The Host ${quoted(host)} is not this service. Use ${address} or http://localhost:${port}.`
  }

  const origin = header('origin')
  if (origin !== undefined) {
    const from = origin.startsWith('http://') ? loopbackAuthority(origin.slice(7)) : null
    if (from === null || (host !== undefined && from !== loopbackAuthority(host))) {
      return `The Origin ${quoted(origin)} is not this service. Open ${address} itself, or call it from a program that sends no Origin.`
    }
  }

  const site = header('sec-fetch-site')
  if (site !== undefined && site !== 'none' && site !== 'same-origin') {
    return `The request comes from a web page of another site (Sec-Fetch-Site ${quoted(site)}). Open ${address} itself.`
  }
  return null
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') count++
  }
  return count
}

/** The normalized authority; null if it is no loopback name with a port. */
function loopbackAuthority(authority: string): string | null {
  const match = /^(localhost|127\.0\.0\.1|\[::1\])(?::([1-9]\d{0,4}))?$/i.exec(authority)
  const port = match?.[2] ?? '80'
  return match && Number(port) < 65_536 ? `${match[1]!.toLowerCase()}:${port}` : null
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
