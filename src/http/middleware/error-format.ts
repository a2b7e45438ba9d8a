import type { ErrorHandler, MiddlewareHandler } from 'hono'
import { accepts } from 'hono/accepts'
import { UUID } from '../../model/name-patterns.ts'
import type { ServiceContext, ServiceEnv } from '../context.ts'
import { acceptedInstead, logFault, problemResponse } from '../problem-json.ts'

/** Renders an error as a page; `retryUrl` is an address that the person can open directly. */
export type ErrorPage = (error: unknown, retryUrl?: string) => Response | Promise<Response>

/** The request headers that `wantsPage` reads. */
export const PAGE_HEADERS = 'accept, sec-fetch-mode, sec-fetch-dest'

/**
 * The one rule for who gets a page: a person who opens the address in a browser. Such a request prefers HTML to
 * JSON. `Sec-Fetch-*`, if sent, distinguishes it from the request of a script or a frame.
 */
export function wantsPage(c: ServiceContext): boolean {
  const { method } = c.req
  if (method !== 'GET' && method !== 'HEAD') return false
  if ((header(c, 'sec-fetch-mode') ?? 'navigate') !== 'navigate') return false
  if ((header(c, 'sec-fetch-dest') ?? 'document') !== 'document') return false
  return prefersHtml(c)
}

/** Also true of the script of a page that fetches it again. */
export function prefersHtml(c: ServiceContext): boolean {
  if (!header(c, 'accept')?.includes('text/html')) return false
  const supports = ['application/json', 'text/html']
  return accepts(c, { header: 'Accept', supports, default: 'application/json' }) === 'text/html'
}

/** From node's request if possible: a Headers object would have to be built first. */
export function header(c: ServiceContext, name: string): string | undefined {
  const incoming = c.env?.incoming
  return incoming ? incoming.headers[name]?.toString() : c.req.header(name)
}

/** An error as the client wants it: a page for a browser, problem+json for everyone else. */
export async function errorResponse(
  c: ServiceContext,
  error: unknown,
  { page, retryUrl }: { page: ErrorPage | undefined; retryUrl?: string },
): Promise<Response> {
  return page && wantsPage(c) ? page(error, retryUrl) : problemResponse(error)
}

/** For `app.onError`: responds to every error, and logs those that are not the client's fault. */
export function errorHandler(
  log: (line: string) => void,
  page?: ErrorPage,
): ErrorHandler<ServiceEnv> {
  return async (error, c) => {
    logFault(log, c.req, error)
    const response = await errorResponse(c, error, { page })
    for (const [name, value] of acceptedInstead(error, c.req.method)) {
      response.headers.set(name, value)
    }
    return response
  }
}

/** The resources with a page; a browser is redirected to it. */
export const PATHS_WITH_PAGE = [
  '/cases/:id',
  '/cases/:id/sessions/:sid',
  '/cases/:id/proof/:pid',
] as const

/** Redirects a browser from a resource to its page. */
export const redirectToPage: MiddlewareHandler<ServiceEnv> = (c, next) => {
  if (!wantsPage(c)) return next()
  const { path } = c.req
  const isResource = UUID.test(path.slice(path.lastIndexOf('/') + 1))
  if (!isResource) return next()
  const page = path.replace(/^\/cases\//, '/case/').replace('/sessions/', '/session/')
  return Promise.resolve(c.redirect(page))
}
