import type { MiddlewareHandler } from 'hono'
import { AppError } from '../../model/app-error.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import { problemResponse } from '../problem-json.ts'
import { type ErrorPage, errorResponse, PAGE_HEADERS } from './error-format.ts'

/**
 * Keeps web pages out; must run before everything else. A page on another site can send requests
 * to a loopback port, and through DNS rebinding under a name of its own, so both the name it used
 * and the place it came from must be ours. No answer ever carries a CORS header. A person who followed
 * a link of another site to us is refused too, but by `page`, which can be read.
 */
export function originCheck(port: () => number, page?: ErrorPage): MiddlewareHandler<ServiceEnv> {
  return (c, next) => {
    // On node's answer, for a route to overrule: the headers of a Response cost as much as all the rest.
    for (const [name, value] of USUAL_HEADERS) c.env?.outgoing?.setHeader(name, value)
    const objection = objectionTo(c, port())
    if (objection === null) return next()
    return Promise.resolve(refused(c, objection, { port: port(), page }))
  }
}

/**
 * What every answer says, unless its route says otherwise. Not no-store: a client should keep the
 * answer, and ask with its ETag whether it is still valid.
 */
const USUAL_HEADERS = [
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'no-cache'],
  ['vary', PAGE_HEADERS],
] as const

interface RefusedOptions {
  port: number
  page: ErrorPage | undefined
}

function refused(c: ServiceContext, objection: string, { port, page }: RefusedOptions): Response {
  const refusal = new AppError('forbidden', objection)
  const host = c.req.header('host') ?? ''
  // under a name that is not ours there is nothing but the bare refusal
  if (ownAuthority(host, port) === null) return problemResponse(refusal)
  const query = /\?[^#]*/.exec(c.req.url)?.[0] ?? ''
  return errorResponse(c, refusal, { page, retryUrl: `http://${host}${c.req.path}${query}` })
}

function objectionTo(c: ServiceContext, port: number): string | null {
  const incoming = c.env?.incoming
  const address = `http://127.0.0.1:${port}`
  if (incoming !== undefined) {
    const hosts = countHosts(incoming.rawHeaders)
    if (hosts !== 1) {
      return `The request has ${hosts} Host headers. Send exactly one, as every browser and curl do.`
    }
    if (!incoming.url?.startsWith('/')) {
      return `The request target ${quoted(incoming.url ?? '')} is no path. Talk to ${address} directly, not as to a proxy.`
    }
  }

  // node's own are at hand; those of the Request would be made first
  const header = (name: string) =>
    incoming ? incoming.headers[name]?.toString() : c.req.header(name)
  const host = header('host')
  if (host !== undefined && ownAuthority(host, port) === null) {
    return `The Host ${quoted(host)} is not this service. Use ${address} or http://localhost:${port}.`
  }

  const origin = header('origin')
  if (origin !== undefined) {
    const from = origin.startsWith('http://') ? ownAuthority(origin.slice(7), port) : null
    if (from === null || (host !== undefined && from !== ownAuthority(host, port))) {
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

/** The authority in one spelling, or null when it names another host or port. */
function ownAuthority(authority: string, port: number): string | null {
  const match = /^(localhost|127\.0\.0\.1|\[::1\])(?::(\d+))?$/i.exec(authority)
  if (match === null || (match[2] ?? '80') !== String(port)) return null
  return `${match[1]!.toLowerCase()}:${port}`
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
