import type { ServiceContext } from './context.ts'
import { bytesWithETag } from './etag.ts'

export const PLAIN_TEXT = 'text/plain; charset=utf-8'

/** For content written by others: a browser shows it as text and runs nothing. */
export const PLAIN_TEXT_HEADERS = {
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
}

/** Bytes as plain text, with their ETag. */
export function plainText(c: ServiceContext, bytes: Uint8Array): Response {
  return harmless(bytesWithETag(c, bytes, PLAIN_TEXT))
}

/** Keeps a browser from running anything in the response. */
export function harmless(response: Response): Response {
  for (const [header, value] of Object.entries(PLAIN_TEXT_HEADERS)) {
    response.headers.set(header, value)
  }
  return response
}
