import { MAX_CASE_BYTES } from '../../markdown/case-file.ts'
import { CASE_FIELDS, emptyValue, SETTABLE, type SettableFields } from '../../model/case-fields.ts'
import { Refusal } from '../../model/refusal.ts'
import { mustFit } from '../request-body.ts'

/** A case.md over its limit could not be read again; the rest is for its other fields. */
const MAX_DESCRIPTION_BYTES = MAX_CASE_BYTES - 16 * 1024

/** What a body says of a new case. */
export function newFields({
  title,
  ...rest
}: CaseFieldsAsSent & { title: string }): SettableFields & { title: string } {
  return { ...cleared(rest), title }
}

/** What a body says that is to change. Refuses one that says nothing. */
export function wantedFields(sent: CaseFieldsAsSent): SettableFields {
  const fields = cleared(sent)
  if (Object.keys(fields).length > 0) return fields
  throw new Refusal(
    'bad_request',
    `Nothing to update: name at least one of ${SETTABLE.map(({ name }) => name).join(', ')}.`,
  )
}

/** As a schema gives it. */
type CaseFieldsAsSent = { [key in keyof SettableFields]?: SettableFields[key] | null | undefined }

/** Null clears: the field gets the value of a case that has none. */
function cleared(sent: CaseFieldsAsSent): SettableFields {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(sent)) {
    if (value !== undefined)
      fields[key] = value ?? emptyValue(CASE_FIELDS[key as keyof SettableFields])
  }
  const { description = '' } = fields as SettableFields
  mustFit('description', description, MAX_DESCRIPTION_BYTES, 'Put long texts into a memory file.')
  return fields as SettableFields
}
