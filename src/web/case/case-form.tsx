import { SETTABLE } from '../../model/case-fields.ts'
import { CaseFields } from '../shell/case-fields.tsx'
import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import type { CasePageData } from './case-data.ts'

const EDITED = SETTABLE.filter(({ kind }) => kind !== 'markdown')

/** The fields of case.md; the description has a form of its own. */
export function CaseForm({ data: { id, json, etag, providers } }: { data: CasePageData }) {
  return (
    <FormDisclosure id="edit-case" label="Edit" about="the fields" shortcut="e">
      <form
        class="form card"
        id="edit-case-form"
        data-send="PUT"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-conflict="The case"
        data-only-changed
      >
        <CaseFields
          form="edit"
          fields={EDITED}
          values={json}
          choices={{
            provider: providers.map(({ id, title }) => ({ value: id, label: `${id}: ${title}` })),
          }}
        />
        <FormActions submit="Save" primary />
      </form>
    </FormDisclosure>
  )
}
