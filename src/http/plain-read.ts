import type { IncomingMessage } from 'node:http'

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
  let host = ''
  let held = ''
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    const value = rawHeaders[index + 1]!
    if (name === 'host') {
      if (host !== '') return null
      host = value
    } else if (name === 'if-none-match') {
      if (held !== '' || value === '') return null
      held = value
    } else if (name === 'sec-fetch-site') {
      if (value !== 'same-origin' && value !== 'none') return null
    } else if (ASKS_MORE.has(name)) return null
  }
  return host === `127.0.0.1:${port}` || host === `localhost:${port}` ? held : null
}
