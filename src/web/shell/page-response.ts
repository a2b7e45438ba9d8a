import type { MiddlewareHandler } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { ServiceContext, ServiceEnv } from '../../http/context.ts'
import { bytesWithETag } from '../../http/etag.ts'

/**
 * Scripts, styles and pictures only from this service, none of them inline, and no framing. If a hostile text gets
 * past the sanitizer, it still can't do anything.
 */
const policyOf = (forms: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    `form-action '${forms}'`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** `self` is for pages with a form that the browser submits; all other forms are sent by the script. */
export function pageHeaders(forms: 'none' | 'self' = 'none'): MiddlewareHandler<ServiceEnv> {
  const policy = policyOf(forms)
  return async (c, next) => {
    await next()
    setPageHeaders(c.res.headers, policy)
  }
}

export function setPageHeaders(headers: Headers, policy = policyOf('none')): void {
  headers.set('content-security-policy', policy)
  headers.set('referrer-policy', 'no-referrer')
  headers.set('cross-origin-opener-policy', 'same-origin')
}

/** A page with a strong ETag: an unchanged page is answered with 304. */
export async function pageResponse(
  c: ServiceContext,
  page: JSX.Element | Promise<JSX.Element>,
): Promise<Response> {
  const html = `<!doctype html>${await (await page).toString()}`
  return bytesWithETag(c, new TextEncoder().encode(html), 'text/html; charset=utf-8')
}
