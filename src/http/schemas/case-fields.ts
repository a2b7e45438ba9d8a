import { MAX_CASE_BYTES } from '../../markdown/case-file.ts'
import { type CaseFields, DEFAULT_CASE_TYPE } from '../../model/case.ts'
import { Refusal } from '../../model/refusal.ts'
import { mustFit } from '../request-body.ts'

/** A case.md over its limit could not be read again; the rest is for its other fields. */
const MAX_DESCRIPTION_BYTES = MAX_CASE_BYTES - 16 * 1024

/** What a body says of a new case. */
export function newFields({
  title,
  ...rest
}: CaseFieldsAsSent & { title: string }): CaseFields & { title: string } {
  return { ...cleared(rest), title }
}

/** What a body says that is to change. Refuses one that says nothing. */
export function wantedFields(sent: CaseFieldsAsSent): CaseFields {
  const fields = cleared(sent)
  if (Object.keys(fields).length > 0) return fields
  throw new Refusal(
    'bad_request',
    'Nothing to update: name at least one of title, description, type, outcome, tags, parent, workdir, provider.',
  )
}

/** As a schema gives it. */
type CaseFieldsAsSent = { [key in keyof CaseFields]?: CaseFields[key] | null | undefined }

/** Null clears: a text becomes empty, a list has nothing in it, the type is the usual one. */
function cleared(sent: CaseFieldsAsSent): CaseFields {
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(sent)) {
    if (value !== undefined) fields[key] = value ?? emptied(key)
  }
  const { description = '' } = fields as CaseFields
  mustFit('description', description, MAX_DESCRIPTION_BYTES, 'Put long texts into a memory file.')
  return fields as CaseFields
}

function emptied(key: string): unknown {
  if (key === 'type') return DEFAULT_CASE_TYPE
  if (key === 'description') return ''
  return key === 'tags' ? [] : null
}
