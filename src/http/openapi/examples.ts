import type { ErrorCode } from '../../model/app-error.ts'
import examples from './examples.json' with { type: 'json' }
import type { Json } from './json-schemas.ts'

/** A request that was sent to the sample workspace, and what it answered. */
export interface Example {
  params: Readonly<Record<string, string>>
  query?: Json
  headers?: Readonly<Record<string, string>>
  body?: unknown
  /** By status: JSON, or the text that it was. */
  answers: Readonly<Partial<Record<number, unknown>>>
}

interface Examples {
  /** By `operationId`. */
  operations: Readonly<Record<string, Example>>
  /** What a refusal with this code looks like. */
  refusals: Readonly<Partial<Record<ErrorCode, Json>>>
  /** What was sent of an event, by its type. */
  deliveries: Readonly<Partial<Record<string, Json>>>
}

/** As the service really answered: `npm run docs:examples` asks it, and a test asks again. */
export const EXAMPLES = examples as Examples
