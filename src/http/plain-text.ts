import type { ServiceContext } from './context.ts'
import { bytesWithETag } from './etag.ts'

export const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** What others wrote is opened as text, and can do nothing there. */
export const PLAIN_TEXT_HEADERS = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
}

/** The bytes as text that a browser shows as it is, with their ETag. */
export function plainText(c: ServiceContext, bytes: Uint8Array): Response {
  return harmless(bytesWithETag(c, bytes, PLAIN_TEXT))
}

/** Whatever a browser makes of it. */
export function harmless(response: Response): Response {
  for (const [header, value] of Object.entries(PLAIN_TEXT_HEADERS)) {
    response.headers.set(header, value)
  }
  return response
}
