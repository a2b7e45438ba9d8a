import { KNOWN_CASE_TYPES, KNOWN_OUTCOMES } from '../../model/known-words.ts'
import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import type { CasePageData } from './case-data.ts'

/** The fields of case.md; the description has a form of its own. */
export function CaseForm({ data: { id, json, etag, providers } }: { data: CasePageData }) {
  // no request makes such a tag, but a person in an editor may
  const hasBlank = json.tags.some((tag) => /\s/.test(tag))
  return (
    <FormDisclosure id="edit-case" label="Edit" about="title and fields" shortcut="e">
      <form
        class="form card"
        id="edit-case-form"
        data-send="PUT"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-conflict="The case"
        data-only-changed
      >
        <Field id="edit-title" label="Title">
          <input id="edit-title" name="title" value={json.title} required maxlength={500} />
        </Field>
        <div class="field-row">
          <Field id="edit-type" label="Type" hint="One of the known, or a word of your own">
            <input
              id="edit-type"
              aria-describedby="edit-type-hint"
              name="type"
              value={json.type}
              list="case-types"
              required
              autocomplete="off"
            />
          </Field>
          <Field
            id="edit-tags"
            label="Tags"
            hint={`Words with ${hasBlank ? 'commas' : 'blanks'} between them`}
          >
            <input
              id="edit-tags"
              aria-describedby="edit-tags-hint"
              name="tags"
              value={json.tags.join(hasBlank ? ', ' : ' ')}
              data-as={hasBlank ? 'list' : 'words'}
            />
          </Field>
        </div>
        <div class="field-row">
          <Field id="edit-outcome" label="Outcome" hint="One PascalCase word, or nothing">
            <input
              id="edit-outcome"
              aria-describedby="edit-outcome-hint"
              name="outcome"
              value={json.outcome ?? ''}
              list="outcomes"
              data-empty="null"
              autocomplete="off"
            />
          </Field>
          <Field id="edit-parent" label="Parent" hint="The id of the case that this is a part of">
            <input
              id="edit-parent"
              aria-describedby="edit-parent-hint"
              name="parent"
              value={json.parent ?? ''}
              data-empty="null"
              autocomplete="off"
            />
          </Field>
        </div>
        <div class="field-row">
          <Field id="edit-workdir" label="Working folder" hint="Relative to the workspace">
            <input
              id="edit-workdir"
              aria-describedby="edit-workdir-hint"
              name="workdir"
              value={json.workdir ?? ''}
              placeholder="the workspace"
              data-empty="null"
            />
          </Field>
          <Field id="edit-provider" label="Provider" hint="What new sessions run with">
            <input
              id="edit-provider"
              aria-describedby="edit-provider-hint"
              name="provider"
              value={json.provider ?? ''}
              placeholder="that of the workspace"
              list="providers"
              data-empty="null"
              autocomplete="off"
            />
          </Field>
        </div>
        <FormActions submit="Save" primary />
      </form>
      <datalist id="case-types">
        {KNOWN_CASE_TYPES.map((type) => (
          <option value={type} />
        ))}
      </datalist>
      <datalist id="outcomes">
        {KNOWN_OUTCOMES.map((outcome) => (
          <option value={outcome} />
        ))}
      </datalist>
      <datalist id="providers">
        {providers.map(({ id, title }) => (
          <option value={id}>{title}</option>
        ))}
      </datalist>
    </FormDisclosure>
  )
}
