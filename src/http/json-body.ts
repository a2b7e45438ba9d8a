import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ServiceContext } from './context.ts'

/** A value as the body of a response. */
export function jsonBody(value: unknown): string {
  return endLine(JSON.stringify(value))
}

/** Every JSON response ends with a line break, for terminals. */
export function endLine(json: string): string {
  return `${json}\n`
}

/** A response without an ETag. */
export function answerJson<T>(
  c: ServiceContext,
  value: T,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return c.body(jsonBody(value), status, { ...headers, 'content-type': 'application/json' })
}
