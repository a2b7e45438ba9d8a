import { CASE_FIELDS, FIELD_LIST } from '../../model/case-fields.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { stateLabel } from '../../model/state-groups.ts'
import { StateBadge } from '../shell/badges.tsx'
import { CaseFields } from '../shell/case-fields.tsx'
import { Field } from '../shell/field.tsx'
import type { CaseView } from './case-view.ts'
import { FoldActions } from './fold-actions.tsx'
import { Reason } from './reason.tsx'

/** Both are shown as they are, and an empty one is removed from the case. */
const ENDING = FIELD_LIST.filter(({ name }) => name === 'reason' || name === 'outcome')
const WHY = 'Why it is in this state, or what is asked. Leave it empty to have none.'
const WHAT = `One word, e.g. ${CASE_FIELDS.outcome.example}. Leave it empty to have none.`

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
        <CaseFields
          form="state"
          fields={ENDING}
          values={json}
          hints={{ reason: WHY, outcome: WHAT }}
        />
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
      <CaseFields
        form="resolve"
        fields={ENDING}
        values={json}
        hints={{ reason: 'Optional: what was wrong, and what fixed it.', outcome: WHAT }}
      />
      <button type="submit" class="primary">
        Resolve this case
      </button>
    </form>
  )
}
