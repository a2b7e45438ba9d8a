import * as z from 'zod'
import { ERROR_CODES } from '../../model/app-error.ts'
import { ATTENTION_KINDS } from '../../model/attention.ts'
import { HISTORY_KINDS } from '../../model/history-act.ts'
import { SLUG, SLUG_RULE, UUID } from '../../model/name-patterns.ts'

declare module 'zod/v4/core' {
  interface GlobalMeta {
    /** Type-checked: each is a value that the schema accepts. */
    examples?: z.core.$output[]
  }
}

/** The first example of a schema. */
export function exampleOf<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
  return schema.meta()?.examples?.[0] as z.output<Schema>
}

/** The parts of requests and responses. A schema with an `id` is a component of the document: a named type in a client. */

export const lineNumber = z.int().min(1)

export const attentionKind = z.enum(ATTENTION_KINDS).meta({
  id: 'AttentionKind',
  description:
    '`plan`: a plan waits for approval. `problem`: a file has a problem. `blocked`: the case is BLOCKED or NEEDS_USER_INPUT. `failed`: the newest session failed. `proof`: proof must be attached or verified. `gate_open`: the case can be RESOLVED. `running`: a session plans or executes, so nothing waits for the operator.',
})
export const historyKind = z.enum(HISTORY_KINDS).meta({
  id: 'HistoryKind',
  description:
    '`sent_back`: the operator requested another plan. `note`: a line that a person wrote by hand.',
})
export const errorCode = z.enum(ERROR_CODES).meta({ id: 'ErrorCode' })

/** An id in a request body. */
export const sentId = z.string().regex(UUID, 'expected a UUID in lower case')
export const providerName = z.string().regex(SLUG, `expected ${SLUG_RULE}`)

/** The body of a request that changes something: it has at least one field. */
export function atLeastOne<Shape extends z.ZodRawShape>(body: z.ZodObject<Shape>) {
  const message = `Nothing to update: name at least one of ${Object.keys(body.shape).join(', ')}`
  // `anyOf` could name the fields in OpenAPI, but client generators make a union of empty types of it
  return body
    .refine((fields) => Object.values(fields).some((value) => value !== undefined), message)
    .meta({ minProperties: 1 })
}

/** What a schema describes, as a TypeScript type: read-only, because responses are made from shared values. */
export type JsonOf<Schema extends z.ZodType> = ReadonlyJson<z.infer<Schema>>

type ReadonlyJson<T> = T extends object ? { readonly [Key in keyof T]: ReadonlyJson<T[Key]> } : T
