import type * as z from 'zod'
import type { RefusalCode } from '../../model/refusal.ts'
import type { Streamed } from '../schemas/event.ts'
import type { HeaderName } from './headers.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A route as the app has it, such as `GET /cases/:id`. */
export type Route = `${Method} /${string}`

/** A text of its own, such as a markdown file. */
interface Text {
  type: string
  description: string
}

export interface Answer {
  description: string
  /** Of the JSON. */
  json?: z.ZodType
  text?: Text
  /** A stream: the component that is any of its events, or null where none is described. */
  events?: Streamed | null
  headers?: readonly HeaderName[]
  /** Headers that only some of these answers have. */
  sometimes?: readonly HeaderName[]
}

/** What one route takes and answers. What all have in common is added by `describe`. */
export interface Operation {
  /** The `operationId`: the name of the function in a client that is made from the description. */
  id: string
  tag: Tag
  summary: string
  description: string
  /** By name, each with what is to be said of it. */
  query?: Readonly<Record<string, z.ZodType>>
  headers?: Readonly<Record<string, z.ZodType>>
  /** A JSON object, checked by the very schema. */
  body?: z.ZodType
  isBodyOptional?: boolean
  /** Rules of JSON Schema that the body must keep besides. */
  bodyRules?: Readonly<Record<string, unknown>>
  /** Any bytes, in place of JSON. */
  bytes?: Text
  answers: Readonly<Partial<Record<number, Answer>>>
  /** Whether it takes `If-Match` and `If-None-Match`. */
  isConditional?: boolean
  /** Whether it is refused to processes of a session. */
  isOperators?: boolean
  refusals?: readonly RefusalCode[]
}

export type Operations = Readonly<Record<Route, Operation>>

export const TAGS = {
  Cases: 'Work items: what is wrong, or wanted.',
  Sessions: 'Runs on a case: planned, approved, executed, recorded.',
  Proof: 'What shows that a case is resolved, and what is still needed for it.',
  Memory: 'The markdown files of a case, byte for byte.',
  Webhooks: 'Addresses that events are sent to.',
  Events: 'Server-sent events of everything that changes.',
  Providers: 'What a session can be run with; answered by `casefile serve --dev` only.',
  System: 'The service itself.',
} as const

export type Tag = keyof typeof TAGS

/**
 * Of a body that changes something. That only known fields count could be said with `anyOf`, which generators of
 * clients take for a union of types without members.
 */
export const ANY_FIELD = { minProperties: 1 } as const

/** What a change of the files of a case may meet, beside what the change itself is about. */
export const FILE_REFUSALS = ['unreadable_file', 'changed_meanwhile', 'git_busy'] as const

/** Whether an answer of it may be 304. */
export function isKept({ answers }: Operation, isRead: boolean): boolean {
  const { headers = [], sometimes = [] } = answers[200] ?? {}
  return isRead && [...headers, ...sometimes].includes('ETag')
}

/** One resource, with its ETag: also 304. */
export function one(json: z.ZodType, description: string): Record<200, Answer> {
  return { 200: { description, json, headers: ['ETag'] } }
}

/** What was made, and where it is. */
export function made(json: z.ZodType, description: string): Record<201, Answer> {
  return { 201: { description, json, headers: ['Location'] } }
}
