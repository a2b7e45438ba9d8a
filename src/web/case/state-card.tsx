import { CASE_STATES } from '../../model/case-state.ts'
import { outcomeLabel } from '../../model/outcomes.ts'
import { stateLabel } from '../../model/state-groups.ts'
import { visibleText } from '../../rendering/hidden-characters.ts'
import { StateBadge } from '../shell/badges.tsx'
import { FormActions, FormDisclosure, LongText } from '../shell/disclosure.tsx'
import { Field } from '../shell/field.tsx'
import type { CasePageData } from './case-data.ts'

/** Where the case is, and where the operator may take it. */
export function StateCard({ data }: { data: CasePageData }) {
  const { json, gate, broken } = data
  const hasProof = gate.open && !broken
  return (
    <section class="card" id="state" aria-labelledby="state-title">
      <header>
        <h2 id="state-title" tabindex={-1}>
          State
        </h2>
        <StateBadge state={json.state} />
      </header>
      {json.reason && <LongText text={json.reason} class="state-reason" id="reason" />}
      {json.state === 'RESOLVED' && json.outcome && (
        <p>
          Outcome: <strong>{visibleText(outcomeLabel(json.outcome))}</strong>
        </p>
      )}
      {hasProof && json.state !== 'RESOLVED' && <ResolveForm data={data} />}
      {!broken && <StateForm data={data} />}
    </section>
  )
}

function StateForm({ data: { id, json, gate } }: { data: CasePageData }) {
  return (
    <FormDisclosure id="set-state" label="Change state" shortcut="t">
      <form class="form" id="set-state-form" data-send="PUT" action={`/cases/${id}/state`}>
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
        <Field id="state-reason" label="Reason" hint="Optional: why it is blocked, what is asked">
          <input
            id="state-reason"
            aria-describedby="state-reason-hint"
            name="reason"
            value={json.reason ?? ''}
            data-empty="null"
            maxlength={2000}
          />
        </Field>
        <Field id="state-outcome" label="Outcome" hint="Optional: stays as it is if left empty">
          <input
            id="state-outcome"
            aria-describedby="state-outcome-hint"
            name="outcome"
            list="outcomes"
            data-empty="omit"
            autocomplete="off"
          />
        </Field>
        <FormActions submit="Save" />
      </form>
    </FormDisclosure>
  )
}

function ResolveForm({ data: { id, json } }: { data: CasePageData }) {
  return (
    <form
      class="form needs-script"
      id="resolve"
      data-focus="#state-title"
      data-send="PUT"
      action={`/cases/${id}/state`}
    >
      <input type="hidden" name="state" value="RESOLVED" />
      <Field
        id="resolve-outcome"
        label="Outcome"
        hint="Choose one, or write your own, such as ConfirmedCodeBug"
      >
        <input
          id="resolve-outcome"
          name="outcome"
          list="outcomes"
          value={json.outcome ?? ''}
          data-empty="omit"
          autocomplete="off"
        />
      </Field>
      <Field id="resolve-reason" label="Reason" hint="Optional: what was wrong, and what fixed it">
        <input
          id="resolve-reason"
          aria-describedby="resolve-reason-hint"
          name="reason"
          value={json.reason ?? ''}
          data-empty="null"
          maxlength={2000}
          autocomplete="off"
        />
      </Field>
      <button type="submit" class="primary">
        Resolve this case
      </button>
    </form>
  )
}
