import type { IncomingMessage } from 'node:http'
import { plainHeaders } from './plain-headers.ts'

const OF_BODY = ['content-type', 'content-length']

/** With one of these a request is held to something, has a body of another kind, or may come from elsewhere. */
const ASKS_MORE = new Set([
  ...['origin', 'transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'trailer'],
  ...['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'],
])

/**
 * The length of the body of a request that the guard lets in beyond doubt, that brings JSON of at most `maxBytes`
 * and asks for nothing else; null for every other one, whatever the guard thinks of it.
 */
export function lengthOfPlainWrite(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  port: number,
  maxBytes: number,
): number | null {
  const found = plainHeaders(rawHeaders, port, OF_BODY, ASKS_MORE)
  if (found?.['content-type'] !== 'application/json') return null
  const length = found['content-length'] ?? ''
  return /^[1-9]\d{0,8}$/.test(length) && Number(length) <= maxBytes ? Number(length) : null
}
