import { CASE_STATES } from '../../model/case-state.ts'
import { stateLabel } from '../../model/state-groups.ts'
import { StateBadge } from '../shell/badges.tsx'
import { Field } from '../shell/field.tsx'
import type { CaseView } from './case-view.ts'
import { FoldActions } from './fold-actions.tsx'
import { Reason } from './reason.tsx'

/** Where the case is, and where the operator may take it. */
export function StateCard({ view }: { view: CaseView }) {
  const { json, gate, broken } = view
  const hasProof = gate.open && !broken
  return (
    <section class="card" id="state" aria-labelledby="state-title">
      <header>
        <h2 id="state-title" tabindex={-1}>
          State
        </h2>
        <StateBadge state={json.state} />
      </header>
      {json.reason && <Reason text={json.reason} />}
      {json.state === 'RESOLVED' && json.outcome && (
        <p>
          Outcome: <strong>{json.outcome}</strong>
        </p>
      )}
      {hasProof && json.state !== 'RESOLVED' && <ResolveForm view={view} />}
      {!broken && <StateForm view={view} />}
    </section>
  )
}

function StateForm({ view: { id, json, gate } }: { view: CaseView }) {
  return (
    <details class="fold needs-script" id="set-state" data-close>
      <summary class="button" data-key="t" data-key-name="Set the state">
        Set another state
      </summary>
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
        <FoldActions submit="Set the state" />
      </form>
    </details>
  )
}

function ResolveForm({ view: { id, json } }: { view: CaseView }) {
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
