import * as z from 'zod'
import { MAX_CASE_BYTES } from '../../markdown/case-file.ts'
import {
  CASE_FIELDS,
  type CaseFieldName,
  type CaseFieldRow,
  type CaseValues,
  emptyValue,
  type NamedField,
  SETTABLE,
  type SettableFields,
} from '../../model/case-fields.ts'
import { UUID } from '../../model/name-patterns.ts'
import { caseState } from '../../model/schemas.ts'
import { mustFit } from '../request-body.ts'
import { oneLine, tag } from './text-fields.ts'

/** The schema of this field in a request. */
export function requestField(row: CaseFieldRow): z.ZodType {
  const { kind, about, max, pattern, rule, known, values } = row
  const schema = (): z.ZodType => {
    switch (kind) {
      case 'line':
        return oneLine(max!)
      case 'words':
        return z.array(tag).max(max!)
      case 'case':
        return z.string().regex(UUID, 'expected a UUID in lower case')
      case 'markdown':
        return z.string()
      case 'word':
        return values ? z.enum(values) : z.string().regex(pattern!, `expected ${rule}`)
      default:
        return kind satisfies never
    }
  }
  if (!known) return schema().meta({ description: `${about}.` })
  return schema().meta({
    description: `${about}. Known: ${known.join(', ')}; or ${rule}.`,
    examples: [...known],
  })
}

type Nullish<Value> = z.ZodOptional<z.ZodNullable<z.ZodType<NonNullable<Value>>>>
type RequestShape = { title: z.ZodType<string> } & {
  [N in Exclude<keyof SettableFields, 'title'>]-?: Nullish<SettableFields[N]>
}

/** The fields that a request may set when it creates or updates a case. */
export const settableShape = Object.fromEntries(
  SETTABLE.map((field) => {
    const schema = requestField(field)
    return [field.name, field.required ? schema : schema.nullish()]
  }),
) as RequestShape

/** These fields in a response. */
export function responseShape<Name extends CaseFieldName>(
  fields: readonly NamedField[],
): { [N in Name]: z.ZodType<CaseValues[N]> } {
  const shape = fields.map((field) => [field.name, responseField(field)])
  return Object.fromEntries(shape)
}

/** These fields in an example: the example of the row, or the value that a case without the field has. */
export function exampleFields<Name extends CaseFieldName>(
  fields: readonly NamedField[],
): { [N in Name]: CaseValues[N] } {
  const values = fields.map((row) => {
    const { name, kind, example } = row
    const value = kind === 'words' && example ? [example] : example
    return [name, value ?? emptyValue(row)]
  })
  return Object.fromEntries(values)
}

function responseField({ name, kind, about, values, required, ...row }: NamedField): z.ZodType {
  if (name === 'state') return caseState
  const isNullable = !required && row.default === undefined
  const text = values ? z.enum(values) : z.string()
  const schema = kind === 'words' ? z.array(z.string()) : text
  return (isNullable ? schema.nullable() : schema).describe(`${about}.`)
}

/** A `case.md` over its limit could not be read again. 16 KiB are left for the other fields. */
const MAX_DESCRIPTION_BYTES = MAX_CASE_BYTES - 16 * 1024

/** The fields of a new case, from the body of a request. */
export function newFields({
  title,
  ...rest
}: CaseFieldsAsSent & { title: string }): SettableFields & { title: string } {
  return { ...wantedFields(rest), title }
}

/** As the schema returns them. */
type CaseFieldsAsSent = { [key in keyof SettableFields]?: SettableFields[key] | null | undefined }

/** The fields to change, from the body of a request. A null field gets the value that a case without it has. */
export function wantedFields(sent: CaseFieldsAsSent): SettableFields {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(sent)) {
    if (value !== undefined)
      fields[key] = value ?? emptyValue(CASE_FIELDS[key as keyof SettableFields])
  }
  const { description = '' } = fields as SettableFields
  mustFit('description', description, MAX_DESCRIPTION_BYTES, 'Put long texts into a memory file.')
  return fields as SettableFields
}
