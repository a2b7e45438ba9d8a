import type { ErrorCode } from '../../model/app-error.ts'
import examples from './examples.json' with { type: 'json' }
import type { Json } from './json-schemas.ts'

/** A request to the sample workspace, and its responses. */
export interface Example {
  params: Readonly<Record<string, string>>
  query?: Json
  headers?: Readonly<Record<string, string>>
  body?: unknown
  /** By status: JSON, or text. */
  answers: Readonly<Partial<Record<number, unknown>>>
}

interface Examples {
  /** By `operationId`. */
  operations: Readonly<Record<string, Example>>
  /** An error with this code. */
  refusals: Readonly<Partial<Record<ErrorCode, Json>>>
  /** An event as it was delivered, by its type. */
  deliveries: Readonly<Partial<Record<string, Json>>>
}

/** Real responses: `npm run docs:examples` records them, and a test compares them with what the service returns now. */
export const EXAMPLES = examples as Examples
