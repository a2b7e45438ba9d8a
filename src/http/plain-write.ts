import type { IncomingMessage } from 'node:http'

/** With one of these a request is held to something, has a body of another kind, or may come from elsewhere. */
const ASKS_MORE = new Set([
  ...['origin', 'transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'trailer'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
])

/**
 * The length of the body of a request that the guard lets in beyond doubt, that brings at most `maxBytes` of JSON
 * and asks for nothing else; null for every other one, whatever the guard thinks of it.
 */
export function lengthOfPlainWrite(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  port: number,
  maxBytes: number,
): number | null {
  let host = ''
  let type = ''
  let length = ''
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!.toLowerCase()
    const value = rawHeaders[index + 1]!
    if (name === 'host') {
      if (host !== '') return null
      host = value
    } else if (name === 'content-type') {
      if (type !== '') return null
      type = value
    } else if (name === 'content-length') {
      if (length !== '') return null
      length = value
    } else if (name === 'sec-fetch-site') {
      if (value !== 'same-origin' && value !== 'none') return null
    } else if (ASKS_MORE.has(name)) return null
  }
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) return null
  if (type !== 'application/json' || !/^\d{1,9}$/.test(length)) return null
  return Number(length) <= maxBytes ? Number(length) : null
}
