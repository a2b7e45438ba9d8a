import * as z from 'zod'
import { type EventLine, plainLine } from './event-line.ts'
import { type EventRow, given, plainSchema } from './event-row.ts'
import { EVENTS, type EventName } from './events.ts'
import { caseState, hash, id, runMode, sessionState } from './schemas.ts'

const NAMES = Object.keys(EVENTS) as EventName[]
export const ENTRY_EVENTS = NAMES.filter((name) => EVENTS[name].of === 'entry')
/** The events that a webhook can name: all that the log has. */
export const WEBHOOK_EVENTS = NAMES.filter((name) => EVENTS[name].of !== 'stream')
/** The events that `*` means. */
export const DEFAULT_EVENTS: readonly string[] = WEBHOOK_EVENTS.filter(
  (name) => EVENTS[name].isDefault,
)
/** The events that are sent only to webhooks that name them. */
export const FURTHER_EVENTS: readonly string[] = WEBHOOK_EVENTS.filter(
  (name) => !EVENTS[name].isDefault,
)

function rowOf(event: string): EventRow | undefined {
  return Object.hasOwn(EVENTS, event) ? (EVENTS[event as EventName] as EventRow) : undefined
}

/** Whether `*` means this event, too. */
export function isDefault(event: string): boolean {
  return rowOf(event)?.isDefault ?? false
}

/** An event as a line for people; null if they need not see it. `step`: the position of the step. */
export function eventLine(
  event: string,
  fields: Readonly<Record<string, unknown>>,
  step = '',
): EventLine | null {
  const { line, tone = 'quiet' } = rowOf(event) ?? {}
  return line ? line(fields, step) : plainLine(tone, event, fields)
}

/** Fields of lines that imply events, besides those of the event with the name of the line. */
const LINE_FIELDS: Readonly<Record<string, z.core.$ZodType>> = {
  state: sessionState,
  case_state: caseState,
  mode: runMode,
  plan_sha256: hash,
  hypothesis_sha256: hash,
  evidence_sha256: hash,
  comments_text: given,
}

/**
 * Whether a field of an entry may hold anybody's words: not if the table of events says that it has a word of a list,
 * an id, a hash or a name, and it has.
 */
export function isFreeText(event: string, field: string, value: unknown): boolean {
  const schema = rowOf(event)?.fields[field] ?? LINE_FIELDS[field]
  return !schema || !isOwnForm(plainSchema(schema)) || !z.safeParse(schema, value).success
}

function isOwnForm(schema: z.core.$ZodType): boolean {
  return schema instanceof z.ZodEnum || schema === id || schema === hash || schema === given
}
