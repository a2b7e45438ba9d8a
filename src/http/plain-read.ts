import type { IncomingMessage } from 'node:http'
import { plainHeaders } from './plain-headers.ts'

const HELD = ['if-none-match']

/** With one of these a request asks for more than the resource, or may come from elsewhere. */
const ASKS_MORE = new Set([
  ...['origin', 'content-length', 'transfer-encoding', 'expect', 'upgrade', 'range'],
  ...['if-match', 'if-modified-since', 'if-unmodified-since', 'if-range'],
])

/**
 * The `If-None-Match` of a GET that the guard lets in beyond doubt and that has no body, empty where
 * it has none; null for every other request, whatever the guard thinks of it.
 */
export function heldByPlainRead(
  { method, rawHeaders }: Pick<IncomingMessage, 'method' | 'rawHeaders'>,
  port: number,
): string | null {
  if (method !== 'GET') return null
  const found = plainHeaders(rawHeaders, port, HELD, ASKS_MORE)
  const held = found?.['if-none-match']
  return found === null || held === '' ? null : (held ?? '')
}
