import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ServiceContext } from './context.ts'

/** A value as the body of an answer. */
export function jsonBody(value: unknown): string {
  return endLine(JSON.stringify(value))
}

/** Every JSON answer ends its line: in a terminal, the next prompt or answer then begins on a line below. */
export function endLine(json: string): string {
  return `${json}\n`
}

/** An answer without an ETag. */
export function answerJson<T>(
  c: ServiceContext,
  value: T,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return c.body(jsonBody(value), status, { ...headers, 'content-type': 'application/json' })
}
