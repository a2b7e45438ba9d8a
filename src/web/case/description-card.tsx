import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import { FixFileLink } from '../shell/problems.tsx'
import { Prose } from '../shell/prose.tsx'
import type { CasePageData } from './data.ts'

export function DescriptionCard({ data }: { data: CasePageData }) {
  const { id, json, broken } = data
  return (
    <section class="card" id="description" aria-labelledby="description-title">
      <header>
        <h2 id="description-title">Description</h2>
        {broken ? (
          <FixFileLink caseId={id} problem={broken} isSmall />
        ) : (
          <DescriptionForm data={data} />
        )}
      </header>
      {json.description.trim() === '' ? (
        <p class="muted">
          {broken ? "case.md can't be read; see the problem above." : 'No description yet.'}
        </p>
      ) : (
        <Prose caseId={id} text={json.description} under={2} />
      )}
    </section>
  )
}

function DescriptionForm({ data: { id, json, etag } }: { data: CasePageData }) {
  return (
    <FormDisclosure id="edit-description" label="Edit" about="the description" shortcut="d" isSmall>
      <form
        class="form"
        id="edit-description-form"
        data-send="PUT"
        action={`/cases/${id}`}
        data-if-match={etag}
        data-conflict="The case"
        data-only-changed
      >
        <Field
          id="description-text"
          label="Description (markdown)"
          hint='Agents see this. Proof requirements have their own form, under "Proof gate".'
        >
          <textarea
            id="description-text"
            class="code"
            name="description"
            rows={14}
            aria-describedby="description-text-hint"
          >
            {`\n${json.description}`}
          </textarea>
        </Field>
        <FormActions submit="Save" primary />
      </form>
    </FormDisclosure>
  )
}
