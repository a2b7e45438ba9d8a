import { CASE_FIELDS, FIELD_LIST } from '../../model/case-fields.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { stateLabel } from '../../model/state-groups.ts'
import { StateBadge } from '../shell/badges.tsx'
import { CaseFields } from '../shell/case-fields.tsx'
import { FormActions, FormDisclosure, LongText } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import type { CasePageData } from './data.ts'
import { UnappliedWork } from './unapplied.tsx'

/** The fields of the two forms below. Saving an empty field removes the value from the case. */
const STATE_FIELDS = FIELD_LIST.filter(({ name }) => name === 'reason' || name === 'outcome')
const REASON_HINT = 'Why the case is in this state, or what you need to know. Empty removes it.'
const OUTCOME_HINT = `One word, e.g. ${CASE_FIELDS.outcome.example}. Empty removes it.`

/** The state of the case, and the forms to change it. */
export function StateCard({ data }: { data: CasePageData }) {
  const { json, gate, broken } = data
  const hasProof = gate.open && !broken
  // the question is at the top of the page, with the form to answer it
  const isQuestion = json.state === 'NEEDS_USER_INPUT' && !broken
  return (
    <section class="card" id="state" aria-labelledby="state-title">
      <header>
        <h2 id="state-title" tabindex={-1}>
          State
        </h2>
        <StateBadge state={json.state} />
      </header>
      {json.reason && !isQuestion && (
        <LongText text={json.reason} class="state-reason" id="reason" />
      )}
      {json.state !== 'RESOLVED' && <UnappliedWork data={data} name="resolve-unapplied" />}
      {hasProof && json.state !== 'RESOLVED' && <ResolveForm data={data} />}
      {!broken && <StateForm data={data} />}
    </section>
  )
}

function StateForm({ data }: { data: CasePageData }) {
  const { id, json, etag, gate } = data
  return (
    <FormDisclosure id="set-state" label="Change state" shortcut="t" isSmall>
      <form
        class="form"
        id="set-state-form"
        data-send="PUT"
        action={`/cases/${id}/state`}
        data-if-match={etag}
        data-conflict="The state"
      >
        <Field id="new-state" label="State">
          <select id="new-state" name="state">
            {CASE_STATES.map((state) => (
              <option
                value={state}
                selected={state === json.state}
                disabled={state === 'RESOLVED' && !gate.open}
              >
                {stateLabel(state)}
                {state === 'RESOLVED' && !gate.open ? ' (proof is missing)' : ''}
              </option>
            ))}
          </select>
        </Field>
        <CaseFields
          form="state"
          fields={STATE_FIELDS}
          values={json}
          hints={{ reason: REASON_HINT, outcome: OUTCOME_HINT }}
        />
        <FormActions submit="Save" />
      </form>
    </FormDisclosure>
  )
}

function ResolveForm({ data }: { data: CasePageData }) {
  const { id, json, etag } = data
  return (
    <form
      class="form needs-script"
      id="resolve"
      data-focus="#state-title"
      data-send="PUT"
      action={`/cases/${id}/state`}
      data-if-match={etag}
      data-conflict="The case"
    >
      <input type="hidden" name="state" value="RESOLVED" />
      <CaseFields
        form="resolve"
        fields={STATE_FIELDS}
        values={json}
        hints={{ reason: 'Optional: what was wrong, and what fixed it.', outcome: OUTCOME_HINT }}
      />
      <button type="submit" class="primary">
        Resolve this case
      </button>
    </form>
  )
}
