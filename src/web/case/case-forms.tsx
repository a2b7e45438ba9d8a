import { CASE_FIELDS, FIELD_LIST, SETTABLE } from '../../model/case-fields.ts'
import { CASE_STATES } from '../../model/case-state.ts'
import { usualEndings } from '../../model/outcomes.ts'
import { stateLabel } from '../../model/state-groups.ts'
import type { ResolvedCase } from '../../sessions/context.ts'
import { caseReport } from '../shell/addresses.ts'
import { CaseFields } from '../shell/case-fields.tsx'
import { FormActions, FormDisclosure } from '../shell/disclosure.tsx'
import { Field, TextField } from '../shell/field.tsx'
import { Menu, MenuItem } from '../shell/menu.tsx'
import type { CasePageData } from './data.ts'
import { DeleteForm, Details, Files, Similar } from './details-cards.tsx'
import { ItemForm } from './gate-card.tsx'
import { AttachForm } from './proof-card.tsx'
import { IntentForm, SessionForm } from './session-form.tsx'

interface CaseFormsProps {
  data: CasePageData
  similar: ResolvedCase[] | null
}

export function CaseMenu({ data: { id, broken }, similar }: CaseFormsProps) {
  return (
    <Menu>
      {!broken && (
        <>
          <MenuItem opens="edit-case" shortcut="e">
            Edit the fields
          </MenuItem>
          <MenuItem opens="edit-description" shortcut="d">
            Edit the description
          </MenuItem>
          <MenuItem opens="set-state" shortcut="t">
            Change state
          </MenuItem>
          <MenuItem opens="add-item">Add a requirement</MenuItem>
        </>
      )}
      <MenuItem opens="attach-proof" shortcut="p">
        Attach proof
      </MenuItem>
      <MenuItem opens="new-session" shortcut="s">
        New session
      </MenuItem>
      <MenuItem opens="new-intent" shortcut="i">
        State an intent
      </MenuItem>
      <MenuItem opens="details">Details</MenuItem>
      <MenuItem opens="memory">Files</MenuItem>
      {similar?.length !== 0 && <MenuItem opens="similar">Similar resolved cases</MenuItem>}
      <a href={caseReport(id, 'html')}>Report</a>
      <button type="button" class="quiet needs-script" data-copy-from={caseReport(id, 'md')}>
        Copy as markdown
      </button>
      <MenuItem opens="delete">Delete this case</MenuItem>
    </Menu>
  )
}

/** What the menu opens. */
export function CaseForms({ data, similar }: CaseFormsProps) {
  return (
    <div class="opened" id="opened">
      {!data.broken && (
        <>
          <FieldsForm data={data} />
          <DescriptionForm data={data} />
          <StateForm data={data} />
          <ItemForm id={data.id} />
        </>
      )}
      <AttachForm data={data} />
      <SessionForm data={data} />
      <IntentForm data={data} />
      <Details data={data} />
      <Files data={data} />
      <Similar id={data.id} cases={similar} />
      <DeleteForm data={data} />
    </div>
  )
}

const EDITED = SETTABLE.filter(({ kind }) => kind !== 'markdown')

function FieldsForm({ data }: { data: CasePageData }) {
  const { id, json, etag } = data
  return (
    <FormDisclosure
      id="edit-case"
      label="Edit the fields"
      data-send="PUT"
      action={`/cases/${id}`}
      data-if-match={etag}
      data-conflict="The case"
      data-only-changed
    >
      <CaseFields form="edit" fields={EDITED} values={json} providers={data} />
      <FormActions submit="Save" primary />
    </FormDisclosure>
  )
}

function DescriptionForm({ data: { id, json, etag } }: { data: CasePageData }) {
  return (
    <FormDisclosure
      id="edit-description"
      label="Edit the description"
      data-send="PUT"
      action={`/cases/${id}`}
      data-if-match={etag}
      data-conflict="The case"
      data-only-changed
    >
      <TextField
        id="description-text"
        label="Description (markdown)"
        hint='Agents see this. "Add a requirement" has a separate form.'
        class="code"
        name="description"
        rows={14}
        text={json.description}
      />
      <FormActions submit="Save" primary />
    </FormDisclosure>
  )
}

/** The fields of the two forms below. Saving an empty field removes the value from the case. */
const STATE_FIELDS = FIELD_LIST.filter(({ name }) => name === 'reason' || name === 'outcome')
const REASON_HINT = 'Why the case is in this state, or what you need to know. Leave empty to clear.'
const OUTCOME_HINT = `One word, e.g. ${CASE_FIELDS.outcome.example}. Leave empty to clear.`

function StateForm({ data }: { data: CasePageData }) {
  const { id, json, etag, gate } = data
  return (
    <FormDisclosure
      id="set-state"
      label="Change state"
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
    </FormDisclosure>
  )
}

interface EndingProps {
  label: string
  /** What it sends; `Other…` shows the field of the outcome. */
  fields: object
  checked?: boolean
}

function Ending({ label, fields, checked = false }: EndingProps) {
  return (
    <label class="choice">
      <input
        type="radio"
        name="ending"
        data-list="fields"
        value={JSON.stringify(fields)}
        checked={checked}
      />
      {label}
    </label>
  )
}

/** In the banner, once the proof is there. */
export function ResolveForm({ data }: { data: CasePageData }) {
  const { id, json, etag } = data
  return (
    <form
      class="form needs-script"
      id="resolve"
      data-focus="#record-head h1"
      data-send="PUT"
      action={`/cases/${id}/state`}
      data-if-match={etag}
      data-conflict="The case"
    >
      <input type="hidden" name="state" value="RESOLVED" />
      <fieldset class="choices">
        <legend>How does it end?</legend>
        {usualEndings(json.type).map(({ label, state, outcome }) => (
          <Ending label={label} fields={{ state, outcome }} />
        ))}
        <Ending label="Other…" fields={{}} checked={json.outcome !== null} />
      </fieldset>
      <CaseFields
        form="resolve"
        fields={STATE_FIELDS}
        values={json}
        hints={{ reason: 'Optional: what was wrong, and what fixed it.', outcome: OUTCOME_HINT }}
      />
      <button type="submit" class="primary">
        Resolve
      </button>
    </form>
  )
}
