import { SETTABLE } from '../../model/case-fields.ts'
import { CaseFields } from '../shell/case-fields.tsx'
import type { CaseView } from './case-view.ts'
import { FoldActions } from './fold-actions.tsx'

const EDITED = SETTABLE.filter(({ kind }) => kind !== 'markdown')

/** The fields of case.md; the description has a form of its own. */
export function CaseForm({ view: { id, json, etag, providers } }: { view: CaseView }) {
  return (
    <details class="fold needs-script" id="edit-case" data-close>
      <summary class="button" data-key="e">
        Edit
      </summary>
      <form
        class="form card"
        id="edit-case-form"
        data-send="PUT"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-conflict={`/cases/${id}`}
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
        <FoldActions submit="Save" primary />
      </form>
    </details>
  )
}
