import * as z from 'zod'
import type { EventLine, Tone } from './event-line.ts'

export interface EventRow<Shape extends z.core.$ZodShape = z.core.$ZodShape> {
  /**
   * `entry`: an entry in the audit trail of a session. `change`: a change of a case or the workspace. `stream`: it
   * only passes through streams, and no log has it.
   */
  of: 'entry' | 'change' | 'stream'
  /** The members of the payload. The event of an entry has `case_id` and `session_id` in addition. */
  fields: Shape
  /** Whether webhooks that do not name it get it. */
  isDefault: boolean
  /** The tone of its line, if `line` is not given. */
  tone: Tone
  /**
   * How people see it; null if they need not. `step` is the position of the step. By default its name and fields.
   */
  line: Line<Shape> | undefined
  /** A payload for the API description; ids may be missing. */
  example: { readonly [Key in keyof Shape]?: z.core.output<Shape[Key]> }
}

type Line<Shape> = (fields: ReadFields<Shape>, step: string) => EventLine | null

/** Fields as read: they may have been written by hand or by another version, so any may be missing or anything. */
export type ReadFields<Shape> = { readonly [Key in keyof Shape]?: unknown }

function row<const Of extends EventRow['of']>(of: Of) {
  return <Shape extends z.core.$ZodShape>(
    fields: Shape,
    {
      isDefault = false,
      tone = 'quiet',
      line,
      example = {},
    }: Partial<Omit<EventRow<Shape>, 'of' | 'fields'>> = {},
  ): EventRow<Shape> & { of: Of } => ({ of, fields, isDefault, tone, line, example })
}

export const entry = row('entry')
export const change = row('change')
export const stream = row('stream')

/** Text of anybody; the redactor removes secrets from it. */
export const text = z.string()
/** A name or text that the operator gave or the service made, by which others find it. */
export const given = z.string()
/** The types say `true`, as these are only written if they are. */
export const yes = z.literal(true)
export const optional = z.exactOptional
/** Of what a standing intent approved: the hash of its text, or of several. */
export const byStanding = {
  approved_by: optional(z.literal('standing')),
  standing_sha256: optional(text),
}

/** The schema of a field without `optional`. */
export function plainSchema(schema: z.core.$ZodType): z.core.$ZodType {
  return schema instanceof z.ZodExactOptional ? plainSchema(schema.unwrap()) : schema
}
