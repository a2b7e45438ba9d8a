import { AppError, type ErrorCode, type FieldError } from '../../model/app-error.ts'
import { ERRORS } from '../errors.ts'
import { problemJson } from '../problem-json.ts'
import { STREAMED, type Streamed } from '../schemas/event.ts'
import deliveries from './deliveries.json' with { type: 'json' }
import type { Json } from './json-schemas.ts'

/** An event of each type, as webhooks and streams send it. */
export const EVENT_EXAMPLES: Readonly<Partial<Record<string, Json>>> = deliveries

/** An error response with this code. */
export function errorExample(code: ErrorCode): Json {
  const { detail, ...members }: { detail: string; errors?: FieldError[] } = ERRORS[code].example
  const { errors = [], ...extra } = members
  return problemJson(new AppError(code, detail, { errors, extra }))
}

/** The beginning of a stream. */
export function streamExample(streamed: Streamed): string {
  const shown = STREAMED[streamed].filter((type) => type in EVENT_EXAMPLES).slice(0, 3)
  return shown
    .map((type, index) => {
      const data = JSON.stringify(EVENT_EXAMPLES[type])
      return `event: ${type}\nid: ${index + 1}\ndata: ${data}\n\n`
    })
    .join('')
}
